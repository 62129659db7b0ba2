"""Bytes of PyTorch's ops that do little to each number: they take as long as their numbers need to come and
go."""

import math
from collections.abc import Sequence

from stepscope.instruments.roofline.torch_shapes import Tensors, broadcast

_MAPS = frozenset((
    "abs", "acos", "add", "addcdiv", "addcmul", "asin", "atan", "atan2", "bitwise_and", "bitwise_not",
    "bitwise_or", "bitwise_xor", "ceil", "clamp", "clamp_max", "clamp_min", "cos", "cosh", "div", "elu",
    "erf", "erfc", "exp", "exp2", "expm1", "floor", "floor_divide", "fmod", "gelu", "gelu_backward",
    "hardsigmoid", "hardsigmoid_backward", "hardswish", "hardswish_backward", "hardtanh",
    "hardtanh_backward", "leaky_relu", "leaky_relu_backward", "lerp", "log", "log10", "log1p", "log2",
    "masked_fill", "maximum", "minimum", "mish", "mul", "nan_to_num", "neg", "pow", "reciprocal",
    "relu", "relu6", "remainder", "round", "rsqrt", "rsub", "sigmoid", "sigmoid_backward", "sign",
    "silu", "silu_backward", "sin", "sinh", "softplus", "softplus_backward", "sqrt", "square", "sub",
    "tan", "tanh", "tanh_backward", "threshold", "threshold_backward", "tril", "triu", "trunc", "where",
    "_softmax", "_log_softmax",
))  # fmt: skip
"""A number of the result for each of the inputs together, which broadcast; with _ at the end, in place."""
_COMPARES = frozenset((
    "eq", "ne", "lt", "le", "gt", "ge", "isnan", "isinf", "logical_and", "logical_or", "logical_not",
    "logical_xor", "signbit",
))  # fmt: skip
"""The same with truth values as a result."""
_READS = frozenset((
    "sum", "mean", "amax", "amin", "max", "min", "prod", "norm", "linalg_vector_norm", "any", "all",
    "argmax", "argmin", "var", "std",
))  # fmt: skip
"""Inputs are read; the result is small beside them."""
_BACKWARD = frozenset(("_softmax_backward_data", "_log_softmax_backward_data"))
_NORMS = frozenset((
    "native_layer_norm", "native_layer_norm_backward", "native_group_norm", "native_group_norm_backward",
    "native_batch_norm", "native_batch_norm_backward", "cudnn_batch_norm", "cudnn_batch_norm_backward",
    "miopen_batch_norm", "miopen_batch_norm_backward", "_fused_rms_norm",
))  # fmt: skip
"""They read their inputs and make as much as the first has; the weight, which they read as well, is small."""


def moved_bytes(called: str, given: Tensors) -> float | None:
    """The least bytes that an op moves; None for one that is not known. ValueError and IndexError where its
    inputs do not tell."""
    tensors = [at for at in range(len(given.inputs)) if given.has(at)]
    if not tensors:
        return None
    read = sum(given.bytes(at) for at in tensors)
    if called in ("fill_", "zero_"):
        return given.bytes(0)
    if called == "copy_":
        return given.bytes(0) + given.bytes(1)
    if called in _MAPS or called in _COMPARES or _is_in_place(called):
        return read + _made_bytes(called, given, tensors)
    if called in _READS:
        return read
    if called == "cat":
        return 2 * read
    if called in _BACKWARD:
        return given.bytes(0) + given.bytes(1) + given.bytes(0)
    if called == "native_dropout":
        return 2 * read + math.prod(given.shape(0))
    return read + given.bytes(0) if called in _NORMS else None


def _made_bytes(called: str, given: Tensors, tensors: Sequence[int]) -> float:
    """Bytes of what an op makes of each element."""
    if _is_in_place(called):
        return given.bytes(0)
    made = math.prod(broadcast([given.shape(at) for at in tensors]))
    size = max(given.size(at) for at in tensors if given.shape(at) or len(tensors) == 1)
    return made * (1 if called in _COMPARES else size)


def _is_in_place(called: str) -> bool:
    """Whether the op maps its first input and writes into it, as add_ does."""
    return called.endswith("_") and not called.startswith("_") and called.removesuffix("_") in _MAPS
