"""Files of Python and of libraries that are known by name, because some recorders do not keep folders."""

import sys

_PROGRAMS = frozenset({"code", "profile", "test", "trace"})
"""Modules of Python whose names programs give to files of their own."""
_PYTHON = frozenset(f"{name}.py" for name in sys.stdlib_module_names - _PROGRAMS)
_JAX = frozenset(
    {
        "abstract_arrays.py", "ad.py", "ad_util.py", "array_constructors.py", "array_creation.py",
        "array_methods.py", "basearray.py", "batching.py", "compilation_cache.py", "control_flow.py",
        "custom_derivatives.py", "einsum.py", "indexing.py", "lax.py", "lax_numpy.py", "linear_util.py",
        "mlir.py", "named_sharding.py", "partial_eval.py", "pjit.py", "pxla.py", "reductions.py",
        "sharding_impls.py", "slicing.py", "source_info_util.py", "tensor_contractions.py",
        "traceback_util.py", "ufunc_api.py", "ufuncs.py", "xla_bridge.py",
    }
)  # fmt: skip
_NUMPY = frozenset(
    {
        "_asarray.py", "_function_base_impl.py", "_linalg.py", "_methods.py", "_shape_base_impl.py",
        "einsumfunc.py", "fromnumeric.py", "function_base.py", "multiarray.py", "numeric.py",
        "shape_base.py",
    }
)  # fmt: skip
_SHARED = frozenset(
    {
        "api.py", "profiler.py", "tree_util.py", "core.py", "array.py", "dispatch.py", "execute.py", "ops.py",
        "def_function.py", "polymorphic_function.py", "backprop.py", "gen_math_ops.py", "math_ops.py",
        "module.py", "_tensor.py", "autograd.py", "functional.py", "util.py", "api_util.py", "context.py",
        "tensor_shape.py", "dtypes.py", "session.py", "traceback_utils.py", "attrs.py",
    }
)  # fmt: skip
"""Files of frameworks of whose names a program may have some, too."""


def is_foreign(file: str) -> bool:
    """Whether a file without its folders is hardly one of the program's, so that no line of it is."""
    return file in _JAX or file in _NUMPY or file in _PYTHON


def has_framework_name(file: str) -> bool:
    """Whether frames of a file without its folders are counted as a framework's."""
    return file in _JAX or file in _SHARED
