"""The inputs of a PyTorch op as Kineto records them."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

Shape = tuple[int, ...]

_SIZES = {
    "double": (8, "f64"), "float": (4, "f32"), "c10::Half": (2, "f16"), "c10::BFloat16": (2, "bf16"),
    "c10::Float8_e4m3fn": (1, "f8"), "c10::Float8_e5m2": (1, "f8"), "c10::Float8_e4m3fnuz": (1, "f8"),
    "c10::Float8_e5m2fnuz": (1, "f8"), "long": (8, ""), "long int": (8, ""), "int": (4, ""), "short": (2, ""),
    "short int": (2, ""), "signed char": (1, "i8"), "unsigned char": (1, "i8"), "bool": (1, ""),
    "c10::complex<float>": (8, ""), "c10::complex<double>": (16, ""),
}  # fmt: skip
"""Bytes of a number by the name of its type, and which peak of a device holds for products of such."""


class Input(NamedTuple):
    """A tensor, or the tensors of a list. kept: numbers that lie in memory; a dimension that is broadcast
    lies there once."""

    shapes: tuple[Shape, ...]
    kept: float
    size: int
    dtype: str


class Tensors(NamedTuple):
    """The inputs of an op, None for those that are no tensors, and the others as text, where recorded."""

    inputs: tuple[Input | None, ...]
    concrete: tuple[Any, ...]

    def has(self, at: int) -> bool:
        """Whether an input is a tensor."""
        return at < len(self.inputs) and self.inputs[at] is not None

    def tensor(self, at: int) -> Input:
        """An input. ValueError where it is no tensor, IndexError where there is none."""
        found = self.inputs[at]
        if found is None:
            raise ValueError(f"input {at} is no tensor")
        return found

    def shape(self, at: int) -> Shape:
        """Sizes of the dimensions of a tensor."""
        return self.tensor(at).shapes[0]

    def bytes(self, at: int) -> float:
        """What a tensor, or a list of them, takes in memory."""
        return self.tensor(at).kept * self.tensor(at).size

    def size(self, at: int) -> int:
        """Bytes of one number."""
        return self.tensor(at).size

    def dtype(self, at: int) -> str:
        """Which peak holds."""
        return self.tensor(at).dtype

    def numbers(self, at: int) -> tuple[int, ...]:
        """An argument that is a number, or a list of them. ValueError where it is not told."""
        text = str(self.concrete[at]).strip()
        found = tuple(int(part) for part in text.strip("[]").split(",") if part.strip())
        if not found:
            raise ValueError(f"argument {at} is not told")
        return found

    def flags(self, at: int) -> tuple[bool, ...]:
        """An argument that is a list of true and false."""
        words = [part.strip() for part in str(self.concrete[at]).strip("[] ").split(",")]
        if not set(words) <= {"True", "False", "0", "1", "true", "false"}:
            raise ValueError(f"argument {at} is not told")
        return tuple(word in ("True", "1", "true") for word in words)

    def flag(self, at: int) -> bool:
        """An argument that is true or false, or a number that means so."""
        word = str(self.concrete[at])
        if word not in ("True", "False") and not word.isdigit():
            raise ValueError(f"argument {at} is not told")
        return word not in ("False", "0")


def read(args: Mapping[str, Any]) -> Tensors | None:
    """The inputs of an op by its arguments as recorded; None where its shapes are not."""
    dims, types = args.get("Input Dims"), args.get("Input type")
    if not isinstance(dims, list) or not isinstance(types, list) or len(types) != len(dims):
        return None
    strides, concrete = args.get("Input Strides"), args.get("Concrete Inputs")
    steps = strides if isinstance(strides, list) and len(strides) == len(dims) else [None] * len(dims)
    try:
        found = [_input(*told_input) for told_input in zip(dims, types, steps, strict=True)]
    except ValueError:
        return None
    return Tensors(tuple(found), tuple(concrete) if isinstance(concrete, list) else ())


def _input(dims: Any, kind: Any, steps: Any) -> Input | None:
    """An input; None where it is no tensor. ValueError for what no profiler writes."""
    if not isinstance(dims, list) or not isinstance(kind, str):
        raise ValueError("no shape")
    is_list = bool(dims) and all(isinstance(dim, list) for dim in dims)
    size, dtype = _SIZES.get(kind, (0, ""))
    if kind == "TensorList" or (is_list and not size):
        return None  # Kineto tells no type of their numbers
    if not size:
        return None
    shapes = dims if is_list else [dims]
    each = steps if is_list and isinstance(steps, list) and len(steps) == len(dims) else [steps] * len(shapes)
    _check_sizes(shapes)
    kept = sum(_kept(shape, by) for shape, by in zip(shapes, each, strict=True))
    return Input(tuple(tuple(shape) for shape in shapes), kept, size, dtype)


def _check_sizes(shapes: Sequence[Sequence[Any]]) -> None:
    if not all(type(number) is int and number >= 0 for shape in shapes for number in shape):
        raise ValueError("no sizes")


def _kept(dims: Sequence[int], steps: Any) -> float:
    if not isinstance(steps, list) or len(steps) != len(dims):
        return float(math.prod(dims))
    return float(
        math.prod(number for number, step in zip(dims, steps, strict=True) if step != 0 or not number)
    )


def broadcast(shapes: Sequence[Shape]) -> Shape:
    """What shapes make together. ValueError where they do not fit."""
    made: list[int] = []
    for at in range(1, max(map(len, shapes), default=0) + 1):
        sizes = {shape[-at] for shape in shapes if len(shape) >= at} - {1}
        if len(sizes) > 1:
            raise ValueError("shapes do not fit")
        made.append(sizes.pop() if sizes else 1)
    return tuple(reversed(made))
