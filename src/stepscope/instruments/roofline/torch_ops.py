"""What PyTorch's ops compute and move, by what Kineto records of their inputs (`record_shapes=True`).

Operations are those of products of matrices, convolutions and attention, a multiplication and an addition
being two: the rest of a model is bound by its bytes. Bytes are the least that an op can move: each input read
once, each output written once.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from stepscope.instruments.roofline import torch_elementwise, torch_shapes
from stepscope.instruments.roofline.torch_shapes import Tensors

_HALF = 2


class Cost(NamedTuple):
    """What one execution computes and moves. dtype: type of the numbers that it multiplies, one of
    devices.TYPES; empty where it multiplies none."""

    flops: float
    bytes: float
    dtype: str = ""


def cost(name: str, args: Mapping[str, Any]) -> Cost | None:
    """What an op costs. args: its `Input Dims`, `Input type`, `Input Strides` and `Concrete Inputs`. None
    where they do not tell, and for ops that are not known."""
    called = name.removeprefix("aten::")
    given = torch_shapes.read(args)
    if called == name or given is None:
        return None
    try:
        if (formula := _FORMULAS.get(called)) is not None:
            return formula(given)
        moved = torch_elementwise.moved_bytes(called, given)
    except (IndexError, ValueError):  # fewer inputs than this version of PyTorch gives the op, or none told
        return None
    return None if moved is None else Cost(0.0, moved)


def _product(given: Tensors, a: int, b: int, *more: int) -> Cost:
    """A product of matrices, or of batches of them: a is [..., m, k], b [..., k, n]; more: what is added."""
    left, right = given.shape(a), given.shape(b)
    if len(left) == 1:
        left = (1, *left)
    if len(right) == 1:
        right = (*right, 1)
    if left[-1] != right[-2]:
        raise ValueError("inner sizes differ")
    batch = torch_shapes.broadcast([left[:-2], right[:-2]])
    made = math.prod(batch) * left[-2] * right[-1]
    size = given.size(a)
    moved = (
        given.bytes(a) + given.bytes(b) + made * size + sum(given.bytes(at) for at in more if given.has(at))
    )
    return Cost(2.0 * made * left[-1], moved, given.dtype(a))


def _linear(given: Tensors) -> Cost:
    """input [..., k], weight [n, k], and a bias."""
    rows, weight = given.shape(0), given.shape(1)
    if not rows or len(weight) != _HALF or rows[-1] != weight[-1]:
        raise ValueError("no linear layer")
    made = math.prod(rows[:-1]) * weight[0]
    moved = given.bytes(0) + given.bytes(1) + made * given.size(0) + (given.bytes(2) if given.has(2) else 0)
    return Cost(2.0 * made * rows[-1], moved, given.dtype(0))


def _convolution(stride: int, padding: int, dilation: int, swapped: int | None = None) -> Callable[..., Cost]:
    """Of input [n, c, ...] and weight [out, c / groups, kernel...], transposed [c, out / groups, kernel...].
    The numbers are places of arguments; swapped: of the flag that says transposed."""

    def counted(given: Tensors) -> Cost:
        data, weight = given.shape(0), given.shape(1)
        if len(data) != len(weight) or len(data) < 3:
            raise ValueError("no convolution")
        per_output = math.prod(weight[1:])
        if swapped is not None and given.flag(swapped):
            # Each number of the input meets all of its row of the weight. What is made has no known size.
            return Cost(2.0 * math.prod(data) * per_output, given.bytes(0) + given.bytes(1), given.dtype(0))
        steps, around = given.numbers(stride), given.numbers(padding)
        far = given.numbers(dilation) if dilation >= 0 else (1,)
        sides = len(data) - 2
        out = [
            (data[2 + at] + 2 * nth(around, at) - nth(far, at) * (weight[2 + at] - 1) - 1) // nth(steps, at)
            + 1
            for at in range(sides)
        ]
        made = data[0] * weight[0] * math.prod(out)
        if min(out) < 1:
            raise ValueError("no convolution")
        return Cost(
            2.0 * made * per_output, given.bytes(0) + given.bytes(1) + made * given.size(0), given.dtype(0)
        )

    return counted


def nth(numbers: Sequence[int], at: int) -> int:
    """One number is that of all dimensions."""
    return numbers[at] if len(numbers) > 1 else numbers[0]


def _convolution_backward(given: Tensors) -> Cost:
    """Of grad_output, input and weight: as much as the forward pass for each gradient that is asked for, but
    that of the bias."""
    grad, data, weight = given.shape(0), given.shape(1), given.shape(2)
    swapped = given.flag(7)
    wanted = given.flags(10)
    times = sum(wanted[:2])
    around = data if swapped else grad
    flops = 2.0 * math.prod(around) * math.prod(weight[1:]) * times
    moved = given.bytes(0) + sum(given.bytes(at) for at in (1, 2) if times)
    moved += (given.bytes(1) if wanted[0] else 0) + (given.bytes(2) if wanted[1] else 0)
    return Cost(flops, moved, given.dtype(0))


def _attention(
    heads_first: bool, causal: int, *lengths: int, first: int = 0, passes: float = 1
) -> Callable[..., Cost]:
    """Of query, key and value, which begin at input `first`: [batch, heads, length, size], or with length
    before heads. causal: place of what says that no query sees what follows it, which halves the work.
    lengths: inputs that give sequences of different lengths, whose number is not told. passes: products of
    matrices, in pairs: a backward pass has five, one of which is done again."""

    def counted(given: Tensors) -> Cost:
        if any(given.has(at) for at in lengths):
            raise ValueError("lengths of sequences are not told")
        query, key, value = (given.shape(first + at) for at in range(3))
        if {len(query), len(key), len(value)} != {4}:
            raise ValueError("no attention")
        if not heads_first:
            query, key, value = ((sizes[0], sizes[2], sizes[1], sizes[3]) for sizes in (query, key, value))
        batch, heads, rows, size = query
        columns = key[2]
        seen: float = rows * columns
        if given.flag(causal):
            seen = rows * (rows + 1) / 2 if rows <= columns else columns * (columns + 1) / 2
        flops = 2.0 * batch * heads * seen * (size + value[3]) * passes
        inputs = sum(given.bytes(at) for at in range(first + 3))
        made = float(batch * heads * rows * value[3] * given.size(first))
        if first:  # gradients of all three
            made = sum(given.bytes(first + at) for at in range(3))
        return Cost(flops, inputs + made, given.dtype(first))

    return counted


def _scaled(given: Tensors) -> Cost:
    """A product of 8-bit floats, whose result has a type of its own: at least two bytes for each number."""
    found = _product(given, 0, 1)
    made = given.shape(0)[0] * given.shape(1)[1]
    return found._replace(bytes=found.bytes + made * (_HALF - given.size(0)))


def _embedding(given: Tensors) -> Cost:
    """A row of the weight is read and written for each index."""
    rows = math.prod(given.shape(1)) * given.shape(0)[-1] * given.size(0)
    return Cost(0.0, given.bytes(1) + 2 * rows)


def _embedding_backward(given: Tensors) -> Cost:
    """grad_output and indices are read, the whole weight is written."""
    weight = given.numbers(2)[0] * given.shape(0)[-1] * given.size(0)
    return Cost(0.0, given.bytes(0) + given.bytes(1) + weight)


_MATRICES: Mapping[str, Callable[[Tensors], Cost]] = {
    **dict.fromkeys(
        ("mm", "bmm", "mv", "dot", "vdot", "matmul", "_int_mm"), lambda given: _product(given, 0, 1)
    ),
    **dict.fromkeys(
        ("addmm", "baddbmm", "addmv", "_addmm_activation", "addmm_", "baddbmm_"),
        lambda given: _product(given, 1, 2, 0),
    ),
    "_scaled_mm": _scaled,
    **dict.fromkeys(("linear", "mkldnn_linear", "_mkl_linear"), _linear),
}
_CONVOLUTIONS: Mapping[str, Callable[[Tensors], Cost]] = {
    "convolution": _convolution(3, 4, 5, 6),
    "_convolution": _convolution(3, 4, 5, 6),
    "convolution_overrideable": _convolution(3, 4, 5, 6),
    "cudnn_convolution": _convolution(3, 2, 4),
    "cudnn_convolution_relu": _convolution(3, 4, 5),
    "miopen_convolution": _convolution(4, 3, 5),
    "mkldnn_convolution": _convolution(4, 3, 5),
    "_conv_depthwise2d": _convolution(4, 5, 6),
    "conv_depthwise3d": _convolution(4, 5, 6),
    "_slow_conv2d_forward": _convolution(4, 5, -1),
    "thnn_conv2d": _convolution(4, 5, -1),
    "slow_conv3d_forward": _convolution(4, 5, -1),
    "convolution_backward": _convolution_backward,
}
_BACKWARD = 2.5
_ATTENTIONS: Mapping[str, Callable[[Tensors], Cost]] = {
    "_scaled_dot_product_flash_attention": _attention(True, 4),
    "_scaled_dot_product_efficient_attention": _attention(True, 6),
    "_scaled_dot_product_cudnn_attention": _attention(True, 6),
    "_scaled_dot_product_flash_attention_for_cpu": _attention(True, 4),
    "_flash_attention_forward": _attention(False, 8, 3, 4),
    "_efficient_attention_forward": _attention(False, 9, 4, 5),
    "_scaled_dot_product_flash_attention_backward": _attention(True, 11, 6, 7, first=1, passes=_BACKWARD),
    "_scaled_dot_product_efficient_attention_backward": _attention(True, 11, first=1, passes=_BACKWARD),
    "_flash_attention_backward": _attention(False, 11, 6, 7, first=1, passes=_BACKWARD),
    "_efficient_attention_backward": _attention(False, 14, 6, 7, first=1, passes=_BACKWARD),
}
_FORMULAS: Mapping[str, Callable[[Tensors], Cost]] = {
    **_MATRICES,
    **_CONVOLUTIONS,
    **_ATTENTIONS,
    "embedding": _embedding,
    "embedding_dense_backward": _embedding_backward,
}
