"""Shapes of HLO as replaying needs them: leaves of tuples, types that numpy knows, and layouts."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from stepscope.errors import UnreadableSource
from stepscope.xla_tools.replay import wire
from stepscope.xla_tools.replay.wire import WireField

TUPLE = 13
_MOST_DEPTH = 60
DTYPES = {
    1: "bool", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 6: "uint8", 7: "uint16", 8: "uint32",
    9: "uint64", 10: "float16", 11: "float32", 12: "float64", 15: "complex64", 16: "bfloat16",
    18: "complex128", 19: "float8_e5m2", 20: "float8_e4m3fn", 21: "int4", 22: "uint4",
    23: "float8_e4m3b11fnuz", 24: "float8_e5m2fnuz", 25: "float8_e4m3fnuz",
}  # fmt: skip
"""Element types by their number in xla_data.proto, as numpy and ml_dtypes call them."""
BITS = {number: 8 if name == "bool" else int(re.findall(r"\d+", name)[0]) for number, name in DTYPES.items()}


class ArrayShape(NamedTuple):
    """An array. order: dimensions from the one that changes fastest, as a layout has them."""

    type: int
    dimensions: tuple[int, ...]
    order: tuple[int, ...]
    has_tiles: bool = False

    @property
    def physical(self) -> tuple[int, ...]:
        """Dimensions from the one that changes slowest."""
        return tuple(reversed(self.order))

    @property
    def is_plain(self) -> bool:
        """Whether the last dimension changes fastest, and so on."""
        return self.physical == tuple(range(len(self.dimensions)))


def array(shape: bytes) -> ArrayShape:
    """The array that a ShapeProto describes."""
    message = wire.read(shape)
    dimensions = tuple(wire.numbers(message, 3))
    layout = wire.read(wire.first(message, 5))
    order = tuple(wire.numbers(layout, 1))
    if sorted(order) != list(range(len(dimensions))):
        order = tuple(reversed(range(len(dimensions))))
    kind = wire.numbers(message, 2)
    return ArrayShape(kind[-1] if kind else 0, dimensions, order, any(field.number == 6 for field in layout))


def parts(shape: bytes, depth: int = 0) -> list[bytes] | None:
    """The shapes in a tuple; None for an array. UnreadableSource when it lies too deep."""
    message = wire.read(shape)
    if TUPLE not in wire.numbers(message, 2)[-1:]:
        return None
    if depth > _MOST_DEPTH:
        raise UnreadableSource(
            "A tuple is too deep", seen=f"more than {_MOST_DEPTH} in each other", todo="dump the module again"
        )
    return [field.body for field in message if field.number == 4]


def plain_shape(kind: int, dimensions: Sequence[int]) -> bytes:
    """A ShapeProto with the plain layout."""
    layout = wire.write([wire.packed(1, reversed(range(len(dimensions))))] if dimensions else [])
    fields: list[WireField] = [wire.number(2, kind)]
    if dimensions:
        fields += [wire.packed(3, dimensions)]
    return wire.write([*fields, wire.text(5, layout)])


def tuple_of(shapes: Sequence[bytes]) -> bytes:
    """The ShapeProto of a tuple."""
    return wire.write([wire.number(2, TUPLE), *(wire.text(4, shape) for shape in shapes)])


def program(parameters: Sequence[bytes], result: bytes) -> bytes:
    """A ProgramShapeProto."""
    names = [wire.text(3, f"p{number}") for number in range(len(parameters))]
    return wire.write([*(wire.text(1, parameter) for parameter in parameters), wire.text(2, result), *names])
