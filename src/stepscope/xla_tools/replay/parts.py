"""Instructions and computations of an HloModuleProto as replaying needs them: read, and made anew."""

from collections.abc import Sequence
from typing import NamedTuple

from stepscope.errors import UnreadableSource
from stepscope.xla_tools.replay import wire
from stepscope.xla_tools.replay.wire import WireField


class ReplayInstruction(NamedTuple):
    """An instruction."""

    fields: list[WireField]
    id: int
    name: str
    opcode: str
    shape: bytes
    operands: list[int]
    called: list[int]


class Computation(NamedTuple):
    """A computation. root: id of its root. parameters, result: shapes."""

    fields: list[WireField]
    id: int
    name: str
    root: int
    parameters: list[bytes]
    result: bytes


def instructions_of(computation: Computation) -> list[ReplayInstruction]:
    """The instructions of a computation, operands first."""
    return [read_instruction(wire.read(field.body)) for field in computation.fields if field.number == 2]


def read_computation(fields: list[WireField]) -> Computation:
    """A computation of its fields."""
    program = wire.read(wire.first(fields, 4))
    return Computation(
        fields,
        (wire.numbers(fields, 5) or [0])[-1],
        wire.name(fields),
        (wire.numbers(fields, 6) or [0])[-1],
        [field.body for field in program if field.number == 1],
        wire.first(program, 2),
    )


def read_instruction(fields: list[WireField]) -> ReplayInstruction:
    """An instruction of its fields."""
    return ReplayInstruction(
        fields,
        (wire.numbers(fields, 35) or [0])[-1],
        wire.name(fields),
        wire.name(fields, 2),
        wire.first(fields, 3),
        wire.numbers(fields, 36),
        wire.numbers(fields, 38),
    )


def needed_of(every: dict[int, ReplayInstruction], number: int) -> ReplayInstruction:
    """An instruction by its id; UnreadableSource where it is missing."""
    if number not in every:
        raise UnreadableSource("An operand is missing", seen=f"number {number}", todo="dump the module again")
    return every[number]


def parameter(number: int, place: int, shape: bytes) -> WireField:
    """A parameter, as a field of its computation."""
    fields = [wire.text(1, f"replayed-p{place}.{number}"), wire.text(2, "parameter"), wire.text(3, shape)]
    return wire.text(2, wire.write([*fields, wire.number(9, place), wire.number(35, number)]))


def new_instruction(
    number: int, opcode: str, shape: bytes, operands: Sequence[int], *more: WireField
) -> WireField:
    """An instruction, as a field of its computation."""
    fields = [wire.text(1, f"replayed-{opcode}.{number}"), wire.text(2, opcode), wire.text(3, shape), *more]
    return wire.text(2, wire.write([*fields, wire.number(35, number), wire.packed(36, operands)]))
