"""Computations without what a compiler made of them: fusions as calls, bitcasts as the transposes that they
are, no layouts, no configuration of a backend."""

from stepscope.errors import StepscopeError
from stepscope.escapes import printable
from stepscope.xla_tools.replay import shapes, wire
from stepscope.xla_tools.replay.parts import (
    Computation,
    ReplayInstruction,
    instructions_of,
    needed_of,
    new_instruction,
    read_instruction,
)
from stepscope.xla_tools.replay.wire import WireField


def lower(computation: Computation, fresh: int, opcodes: set[str], custom: set[str]) -> tuple[bytes, int]:
    """A computation whose fusions are calls, whose bitcasts are what they do, and which says nothing of how
    it was compiled; its opcodes and custom calls are added to the sets."""
    fields: list[WireField] = []
    every = {instruction.id: instruction for instruction in instructions_of(computation)}
    for field in computation.fields:
        if field.number == 7:  # is_fusion_computation
            continue
        if field.number != 2:
            fields.append(field)
            continue
        replay_instruction = read_instruction(wire.read(field.body))
        opcodes.add(replay_instruction.opcode)
        if replay_instruction.opcode == "custom-call":
            custom.add(wire.name(replay_instruction.fields, 28))
            fields.append(field)
        elif replay_instruction.opcode == "bitcast":
            made, fresh = _transposes(every, replay_instruction, fresh)
            fields += made
        else:
            fields.append(_plain(replay_instruction))
    return wire.write(fields), fresh


def _plain(instruction: ReplayInstruction) -> WireField:
    """An instruction without backend_config, sharding and control dependencies; a fusion as a call."""
    kept = [field for field in instruction.fields if field.number not in (37, 40, 43)]
    if instruction.opcode == "fusion":
        kept = [wire.text(2, "call") if field.number == 2 else field for field in kept if field.number != 11]
    return wire.text(2, wire.write(kept))


def _transposes(
    every: dict[int, ReplayInstruction], instruction: ReplayInstruction, fresh: int
) -> tuple[list[WireField], int]:
    """A bitcast as what it does to the elements: into the order of the bytes, other dimensions, and back."""
    operand = needed_of(every, instruction.operands[0] if instruction.operands else -1)
    a, b = shapes.array(operand.shape), shapes.array(instruction.shape)
    if (
        a.has_tiles
        or b.has_tiles
        or (a.type != b.type and shapes.BITS.get(a.type) != shapes.BITS.get(b.type))
    ):
        raise cannot(f"{printable(instruction.name)} reads bytes in a way that no other instruction does")
    steps: list[tuple[str, bytes, tuple[WireField, ...]]] = []
    if not a.is_plain:
        moved = shapes.plain_shape(a.type, [a.dimensions[at] for at in a.physical])
        steps.append(("transpose", moved, (wire.packed(14, a.physical),)))
    between = [b.dimensions[at] for at in b.physical]
    if a.type != b.type:
        cast = shapes.plain_shape(b.type, [a.dimensions[at] for at in a.physical])
        steps.append(("bitcast-convert", cast, ()))
    steps.append(("reshape", shapes.plain_shape(b.type, between), ()))
    if not b.is_plain:
        back = sorted(range(len(between)), key=lambda at: b.physical[at])
        steps.append(("transpose", instruction.shape, (wire.packed(14, back),)))
    fields, source = [], operand.id
    for opcode, shape, more in steps[:-1]:
        fields.append(new_instruction(fresh, opcode, shape, [source], *more))
        source, fresh = fresh, fresh + 1
    opcode, shape, more = steps[-1]
    named = [wire.text(1, instruction.name), wire.text(2, opcode), wire.text(3, instruction.shape), *more]
    kept = [field for field in instruction.fields if field.number == 7]
    last = [*named, *kept, wire.number(35, instruction.id), wire.packed(36, [source])]
    return [*fields, wire.text(2, wire.write(last))], fresh


def cannot(seen: str) -> StepscopeError:
    """The error of what cannot run alone."""
    return StepscopeError(
        "This part cannot run alone",
        seen=seen,
        todo="choose an instruction or a computation without it: --instruction NAME",
        slug="replay",
    )
