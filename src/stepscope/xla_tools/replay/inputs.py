"""The arguments that a snapshot of an execution keeps: HloSnapshot, and HloUnoptimizedSnapshot in its two
forms (one message; or a message with sizes, and the arrays behind it)."""

import struct
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from stepscope.errors import UnreadableSource
from stepscope.protobuf import varint
from stepscope.xla_tools.replay import cut, shapes, wire
from stepscope.xla_tools.replay.wire import WireField

_IN_BYTES = {2: 15, 6: 3, 10: 11, 16: 13, 7: 16, 3: 17, 19: 19, 20: 20, 23: 23, 24: 24, 25: 25}
"""Fields of a LiteralProto that hold an element type as its bytes."""
_AS_VARINTS = {1: (2, "B"), 4: (4, "i"), 5: (5, "q"), 8: (6, "I"), 9: (7, "Q")}
_AS_FLOATS = {11: 8, 12: 9, 15: 12, 18: 18}


class Argument(NamedTuple):
    """An array. data: its bytes, in the order of the layout of `array`."""

    array: shapes.ArrayShape
    data: bytes


class ReplaySnapshot(NamedTuple):
    """A module, and the arguments of its execution; none where the file keeps none."""

    module: bytes
    arguments: list[Argument]


def read(data: bytes) -> ReplaySnapshot:
    """The module of a file and the arguments, if it is a snapshot. UnreadableSource when it is damaged."""
    size, at = varint(memoryview(data), 0)
    if size is not None and 0 < size <= len(data) - at and data[at : at + 1] == b"\n" and data[:1] != b"\n":
        message = wire.read(data[at : at + size])
        return ReplaySnapshot(wire.first(message, 1), _behind(data, at + size, _sizes(message)))
    module, snapshot = cut.module_of(data)
    if snapshot is not None:
        return ReplaySnapshot(module, _arguments(wire.read(snapshot), 2))
    partitions = [field.body for field in wire.read(data) if field.number == 2] if module is not data else []
    literals = [leaf for partition in partitions[:1] for leaf in _arguments(wire.read(partition), 1)]
    return ReplaySnapshot(module, literals)


def given_inputs(module: str, named: str | None) -> str | list[Argument] | None:
    """What to run a module with: the arguments of a snapshot, the path of a .npz, or None for generated ones.
    module: the file of the module, which may be such a snapshot. named: another that has the arguments."""
    if named is None and not (Path(module).is_file() and "snapshot" in Path(module).name):
        return None
    path = Path(module if named is None else named)
    if path.suffix == ".npz":
        return str(path.absolute())
    try:
        arguments = read(path.read_bytes()).arguments
    except OSError as error:
        raise UnreadableSource(
            "The inputs cannot be read", seen=str(error), todo="give a snapshot or .npz", path=str(path)
        ) from error
    if not arguments:
        raise UnreadableSource(
            "No arguments are in it",
            seen="no snapshot of an execution",
            todo="dump with --xla_dump_hlo_unoptimized_snapshots, or leave --inputs out",
            path=str(path),
        )
    return arguments


def _sizes(message: Iterable[WireField]) -> list[int]:
    """How many bytes each argument has behind a snapshot of several partitions."""
    partitions = [field.body for field in message if field.number == 2]
    inputs = [field.body for body in partitions for field in wire.read(body) if field.number == 2]
    return [(wire.numbers(wire.read(body), 2) or [0])[-1] for body in inputs]


def _arguments(message: Iterable[WireField], number: int) -> list[Argument]:
    """The arrays of the literals in a field."""
    literals = [field.body for field in message if field.number == number]
    return [leaf for literal in literals for leaf in _leaves(wire.read(literal))]


def _behind(data: bytes, at: int, sizes: list[int]) -> list[Argument]:
    """Arrays behind a message: eight bytes with the length of the shape, the shape, the elements."""
    found = []
    for size in sizes:
        part = data[at : at + size]
        if size < 8 or len(part) < size:
            raise _damaged("an argument is cut")
        (length,) = struct.unpack_from("<Q", part)
        if length > size - 8:
            raise _damaged("the shape of an argument is cut")
        found.append(_argument(shapes.array(part[8 : 8 + length]), part[8 + length :]))
        at += size
    return found


def _argument(array: shapes.ArrayShape, data: bytes) -> Argument:
    count = 1
    for dimension in array.dimensions:
        count *= dimension
    bits = shapes.BITS.get(array.type)
    # numpy has no type below a byte: such elements lie in one byte each.
    if bits is None or len(data) != count * max(bits // 8, 1):
        raise _damaged(f"an argument of {len(data):,} bytes for {count:,} elements")
    return Argument(array, data)


def _leaves(literal: list[WireField]) -> list[Argument]:
    """The arrays of a LiteralProto."""
    found: list[Argument] = []
    left = [(literal, 0)]
    while left:
        part, depth = left.pop()
        shape = wire.first(part, 1)
        if shapes.parts(shape, depth) is None:
            found.append(_argument(shapes.array(shape), _elements(part, shapes.array(shape).type)))
        else:
            left += reversed([(wire.read(field.body), depth + 1) for field in part if field.number == 10])
    return found


def _elements(literal: list[WireField], kind: int) -> bytes:
    if kind in _IN_BYTES:
        return wire.first(literal, _IN_BYTES[kind])
    if kind in _AS_VARINTS:
        field, letter = _AS_VARINTS[kind]
        bits = struct.calcsize(letter) * 8
        values = [value & (1 << bits) - 1 for value in wire.numbers(literal, field)]
        return struct.pack(f"<{len(values)}{letter.upper()}", *values)
    if kind in _AS_FLOATS:
        return b"".join(wire_field.body for wire_field in literal if wire_field.number == _AS_FLOATS[kind])
    raise _damaged(f"element type {kind}")


def _damaged(seen: str) -> UnreadableSource:
    return UnreadableSource(
        "The snapshot cannot be read", seen=seen, todo="leave --inputs out: inputs are then generated"
    )
