"""Files of Python and of libraries that are known by name: some recorders do not keep folders, and a line of
such a file is not in the program."""

from __future__ import annotations

import sys

_PROGRAMS = frozenset({"code", "profile", "test", "trace"})
"""Modules of Python whose names programs give to files of their own."""
_PYTHON = frozenset(f"{name}.py" for name in sys.stdlib_module_names - _PROGRAMS)
_LIBRARIES = frozenset(
    {
        # JAX
        "abstract_arrays.py", "ad.py", "ad_util.py", "array_constructors.py", "array_creation.py",
        "array_methods.py", "basearray.py", "batching.py", "compilation_cache.py", "control_flow.py",
        "custom_derivatives.py", "einsum.py", "indexing.py", "lax.py", "lax_numpy.py", "linear_util.py",
        "mlir.py", "named_sharding.py", "partial_eval.py", "pjit.py", "pxla.py", "reductions.py",
        "sharding_impls.py", "slicing.py", "source_info_util.py", "tensor_contractions.py",
        "traceback_util.py", "ufunc_api.py", "ufuncs.py", "xla_bridge.py",
        # NumPy
        "_asarray.py", "_function_base_impl.py", "_linalg.py", "_methods.py", "_shape_base_impl.py",
        "einsumfunc.py", "fromnumeric.py", "function_base.py", "multiarray.py", "numeric.py",
        "shape_base.py",
    }
)  # fmt: skip


def is_foreign(file: str) -> bool:
    """Whether a file without its folders is hardly one of the program's."""
    return file in _LIBRARIES or file in _PYTHON
