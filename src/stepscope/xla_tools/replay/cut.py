"""A program of its own made of a module, one of its computations, or one of its instructions.

Its parameters are arrays, and so are its results. Operands of an instruction that are constants, or made of
nothing else, come along, so that a loop still counts to its end; the others become parameters. Fusions become
calls of what is in them, and a bitcast that reads an array in another layout becomes the transpose that it
is: the program is compiled anew, and a compiler that chooses layouts keeps none of these.
"""

import difflib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from stepscope.errors import NothingFound, UnreadableSource
from stepscope.escapes import printable
from stepscope.formats.xla.program_cases import is_collective
from stepscope.xla_tools.replay import shapes, wire
from stepscope.xla_tools.replay.lowering import cannot, lower
from stepscope.xla_tools.replay.parts import (
    Computation,
    ReplayInstruction,
    instructions_of,
    needed_of,
    new_instruction,
    parameter,
    read_computation,
    read_instruction,
)
from stepscope.xla_tools.replay.wire import WireField

_ALONG = ("constant", "iota", "after-all")
_ALONG_WITH = (
    "tuple", "get-tuple-element", "broadcast", "bitcast", "copy", "reshape", "convert", "transpose",
)  # fmt: skip
_WAITS = ("send", "recv", "infeed", "outfeed")
_CALLS_OUT = ("callback", "py_func", "pyfunc", "eagerpyfunc")
"""Parts of the names of custom calls into a process that has ended."""
_KEPT_OF_MODULE = (1, 5, 17)
"""name, id, stack frames. Schedules, aliases, donors and layouts are of the module as it was compiled."""
_MOST_OPERANDS_ALONG = 10_000
_LOCAL = (1 << 32) - 1
"""The part of an id that counts within a computation; newer ones have that of the computation above."""


class ReplayProgram(NamedTuple):
    """A program to run. proto: HloModuleProto. parameters: in order. part: the instruction or computation
    that it was made of, or None for the whole module. calls_unknown: custom calls, which only run where
    somebody registers them. is_random: whether it draws numbers of its own."""

    proto: bytes
    parameters: list[shapes.ArrayShape]
    part: str | None
    custom_calls: tuple[str, ...]
    is_random: bool


def module_of(data: bytes) -> tuple[bytes, bytes | None]:
    """The HloModuleProto in an HloProto, an HloSnapshot, or itself; and the snapshot if it was in one.
    UnreadableSource when the bytes are damaged."""
    held = wire.first(wire.read(data), 1)
    inner = _message(held)
    if inner is not None and _is_module(inner):
        return held, None
    module = wire.first(inner, 1) if inner is not None else b""
    deeper = _message(module)
    if deeper is not None and _is_module(deeper):
        return module, data
    return data, None


def _message(data: bytes) -> list[WireField] | None:
    try:
        return wire.read(data)
    except UnreadableSource:
        return None


def _is_module(message: Sequence[WireField]) -> bool:
    computation = _message(wire.first(message, 3))
    return bool(computation) and any(field.number == 2 and field.wire == 2 for field in computation or ())


class Module:
    """A module that parts are cut out of. UnreadableSource when it is damaged."""

    def __init__(self, proto: bytes) -> None:
        self._fields = wire.read(proto)
        if not _is_module(self._fields):
            raise UnreadableSource(
                "The file holds no program",
                seen="no HLO module in it",
                todo="give a .hlo.pb of a dump folder",
            )
        self.name = printable(wire.name(self._fields))
        self.computations: dict[int, Computation] = {}
        for field in self._fields:
            if field.number == 3 and field.wire == 2:
                computation = read_computation(wire.read(field.body))
                self.computations[computation.id] = computation
        self._read: dict[int, list[ReplayInstruction]] = {}
        entry = wire.numbers(self._fields, 6)
        named = wire.name(self._fields, 2)
        self.entry = next(
            (
                computation.id
                for computation in self.computations.values()
                if computation.id in entry[-1:] or computation.name == named
            ),
            None,
        )

    def instructions(self, computation: int) -> list[ReplayInstruction]:
        """The instructions of a computation, operands first."""
        if computation not in self._read:
            fields = self.computations[computation].fields
            self._read[computation] = [
                read_instruction(wire.read(field.body)) for field in fields if field.number == 2
            ]
        return self._read[computation]

    def whole(self) -> ReplayProgram:
        """The module from its entry on."""
        if self.entry is None:
            raise UnreadableSource("The module has no entry", seen=self.name, todo="dump it again")
        return self._computation_module(self.entry, None)

    def part(self, name: str) -> ReplayProgram:
        """The instruction or the computation of this name. NothingFound where there is none, or where it
        does nothing."""
        wanted = name.removeprefix("%")
        for number in self.computations:
            for instruction in self.instructions(number):
                if instruction.name == wanted:
                    return self._instruction_module(number, instruction)
        for computation in self.computations.values():
            if computation.name == wanted:
                return self._computation_module(computation.id, computation.name)
        known = [
            instruction.name
            for computation in self.computations
            for instruction in self.instructions(computation)
        ]
        known += [computation.name for computation in self.computations.values()]
        near = difflib.get_close_matches(wanted, known[:50_000], 3)
        raise NothingFound(
            f"{self.name} has no instruction and no computation {printable(name)}",
            seen=f"like it: {', '.join(map(printable, near))}" if near else f"{len(known):,} other names",
            todo="`stepscope xla cost FILE --format csv` lists the instructions",
        )

    def _computation_module(self, number: int, part: str | None) -> ReplayProgram:
        called = self.computations[number]
        return self._wrapped(called, [], part)

    def _instruction_module(self, computation: int, instruction: ReplayInstruction) -> ReplayProgram:
        """A computation with the instruction, what comes along, and parameters for the rest."""
        if instruction.opcode in ("parameter", "constant", "tuple", "get-tuple-element", "after-all"):
            raise NothingFound(
                f"{printable(instruction.name)} does nothing that could be run",
                seen=f"a {instruction.opcode}",
                todo="choose an instruction that computes something",
            )
        every = {each.id: each for each in self.instructions(computation)}
        along = _made_of_constants(every, instruction)
        fresh = 1 + max(each.id & _LOCAL for each in every.values())
        parameters: dict[int, WireField] = {}
        taken: list[bytes] = []
        for needed in (*along.values(), instruction):
            for operand in needed.operands:
                if operand in along or operand in parameters:
                    continue
                shape = needed_of(every, operand).shape
                parameters[operand] = parameter(fresh, len(taken), shape)
                taken.append(shape)
                fresh += 1
        ids = {operand: wire.numbers(wire.read(field.body), 35)[0] for operand, field in parameters.items()}
        kept = [
            *parameters.values(),
            *(_instruction(_replace_operands(each, ids)) for each in (*along.values(), instruction)),
        ]
        number = max(self.computations) + 1
        body = Computation(
            [
                wire.text(1, "replayed-part"),
                *kept,
                wire.text(4, shapes.program(taken, instruction.shape)),
                wire.number(5, number),
                wire.number(6, instruction.id),
            ],
            number,
            "replayed-part",
            instruction.id,
            taken,
            instruction.shape,
        )
        return self._wrapped(body, [body], instruction.name)

    def _wrapped(self, called: Computation, added: list[Computation], part: str | None) -> ReplayProgram:
        """A module whose entry takes arrays, calls a computation, and gives arrays."""
        reached = self._reached(called, {instruction.id: instruction for instruction in added})
        opcodes: set[str] = set()
        custom: set[str] = set()
        computations = []
        fresh = 1 + max(
            (
                instruction.id & _LOCAL
                for computation in reached
                for instruction in instructions_of(computation)
            ),
            default=0,
        )
        for computation in reached:
            lowered, fresh = lower(computation, fresh, opcodes, custom)
            computations.append(lowered)
        _refuse(opcodes, custom)
        entry = max(*(computation.id for computation in reached), *self.computations) + 1
        fields, leaves, result = _entry(called, fresh)
        head = [field for field in self._fields if field.number in _KEPT_OF_MODULE]
        wrapper = wire.write(
            [
                wire.text(1, "replayed"),
                *fields,
                wire.text(4, shapes.program(leaves, result)),
                wire.number(5, entry),
                wire.number(6, wire.numbers(wire.read(fields[-1].body), 35)[0]),
            ]
        )
        proto = [
            *head,
            wire.text(2, "replayed"),
            *(wire.text(3, computation) for computation in computations),
            wire.text(3, wrapper),
            wire.text(4, shapes.program(leaves, result)),
            wire.number(6, entry),
        ]
        return ReplayProgram(
            wire.write(proto),
            [shapes.array(leaf) for leaf in leaves],
            part,
            tuple(sorted(map(printable, custom))),
            bool(opcodes & {"rng", "rng-get-and-update-state"}),
        )

    def _reached(self, start: Computation, added: dict[int, Computation]) -> list[Computation]:
        """A computation and all that it calls, those that are called first."""
        done: dict[int, Computation] = {}
        open_: set[int] = set()
        left = [(start, False)]
        while left:
            computation, is_done = left.pop()
            if is_done:
                done[computation.id] = computation
                continue
            if computation.id in done:
                continue
            if computation.id in open_:
                raise UnreadableSource(
                    "A computation calls itself",
                    seen=printable(computation.name),
                    todo="dump the module again",
                )
            open_.add(computation.id)
            left.append((computation, True))
            for instruction in instructions_of(computation):
                for number in instruction.called:
                    called = added.get(number) or self.computations.get(number)
                    if called is None:
                        raise UnreadableSource(
                            "A computation is missing",
                            seen=f"what {printable(instruction.name)} calls",
                            todo="dump the module again",
                        )
                    if called.id not in done:
                        left.append((called, False))
        return list(done.values())


def _made_of_constants(
    every: dict[int, ReplayInstruction], start: ReplayInstruction
) -> dict[int, ReplayInstruction]:
    """What an instruction takes and constants alone make, operands first."""
    near: set[int] = set()
    left = list(start.operands)
    while left and len(near) < _MOST_OPERANDS_ALONG:
        instruction = needed_of(every, left.pop())
        if instruction.id not in near and instruction.opcode in (*_ALONG, *_ALONG_WITH):
            near.add(instruction.id)
            left += instruction.operands
    in_order = [number for number in every if number in near]  # a file has operands before what takes them
    fixed: dict[int, bool] = {}
    for number in in_order:
        instruction = every[number]
        fixed[number] = instruction.opcode in _ALONG or all(
            fixed.get(operand, False) for operand in instruction.operands
        )
    # A tuple comes along even if only some of its elements are fixed: the counter of a loop is one of many.
    wanted = set(start.operands)
    found: dict[int, ReplayInstruction] = {}
    for number in reversed(in_order):
        instruction = every[number]
        if number in wanted and (fixed[number] or instruction.opcode == "tuple"):
            found[number] = instruction
            wanted.update(instruction.operands)
    return dict(reversed(found.items()))


def _replace_operands(instruction: ReplayInstruction, ids: dict[int, int]) -> ReplayInstruction:
    """An instruction with other operands, and no order that was only for its old place."""
    kept = [field for field in instruction.fields if field.number not in (36, 37)]
    operands = [ids.get(number, number) for number in instruction.operands]
    return instruction._replace(fields=[*kept, wire.packed(36, operands)], operands=operands)


def _instruction(instruction: ReplayInstruction) -> WireField:
    return wire.text(2, wire.write(instruction.fields))


def _entry(called: Computation, fresh: int) -> tuple[list[WireField], list[bytes], bytes]:
    """The instructions of an entry that calls a computation, the root last; the shapes of its parameters,
    and of its result."""
    fields: list[WireField] = []
    leaves: list[bytes] = []
    numbers = iter(range(fresh, 1 << 62))

    def taken(shape: bytes, depth: int = 0) -> int:
        inner = shapes.parts(shape, depth)
        if inner is None:
            number = next(numbers)
            fields.append(parameter(number, len(leaves), shape))
            leaves.append(shape)
            return number
        operands = [taken(part, depth + 1) for part in inner]
        number = next(numbers)
        fields.append(new_instruction(number, "tuple", shape, operands))
        return number

    operands = [taken(shape) for shape in called.parameters]
    call = next(numbers)
    fields.append(new_instruction(call, "call", called.result, operands, wire.packed(38, [called.id])))
    results: list[tuple[int, bytes]] = []

    def given(number: int, shape: bytes, depth: int = 0) -> None:
        inner = shapes.parts(shape, depth)
        if inner is None:
            results.append((number, shape))
            return
        for index, part in enumerate(inner):
            element = next(numbers)
            fields.append(
                new_instruction(element, "get-tuple-element", part, [number], wire.number(13, index))
            )
            given(element, part, depth + 1)

    given(call, called.result)
    result = shapes.tuple_of([shape for _, shape in results])
    fields.append(new_instruction(next(numbers), "tuple", result, [number for number, _ in results]))
    return fields, leaves, result


def _refuse(opcodes: Iterable[str], custom: Iterable[str]) -> None:
    for opcode in sorted(opcodes):
        whole = opcode.removesuffix("-start").removesuffix("-done")
        if whole in _WAITS or is_collective(whole):
            raise cannot(f"{opcode}, which waits for other devices")
    for target in sorted(custom):
        if any(word in target.lower() for word in _CALLS_OUT):
            raise cannot(f"a call of {printable(target)}, into Python of a process that has ended")
