"""The programs of a recording, found by the names in slices; and the instruction that a slice executed."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from stepscope.instruments.xla.known_programs import HloInstruction, KnownProgram

_FIRST_NAME = re.compile(r"^%?([^\s=(]+) =")


class Group(NamedTuple):
    """A row of the statement instruction_slices. by: basis of the choice of program, if not the slices
    themselves."""

    source: int
    place: str
    device: str
    module: str | None
    program: str | None
    numbered: bool
    op: str
    name: str
    slices: int
    total_ps: int
    self_ps: int
    by: str = ""


class ProgramIndex:
    """Programs by the names in slices."""

    def __init__(self, programs: Sequence[KnownProgram]) -> None:
        self.by_module: dict[str, list[KnownProgram]] = defaultdict(list)
        self.by_id: dict[str, list[KnownProgram]] = defaultdict(list)
        self.used: dict[tuple[int, ...], list[KnownProgram]] = {}
        self.launched: dict[tuple[int, str | None], Counter[str]] = defaultdict(Counter)
        self._names: dict[int, dict[str, HloInstruction]] = {}
        self._by_name: dict[str, list[KnownProgram]] = defaultdict(list)
        for program in programs:
            self.by_module[program.module].append(program)
            if program.id is not None:
                self.by_id[program.id].append(program)
            names: dict[str, HloInstruction] = {}
            for instruction in program.instructions:
                names.setdefault(instruction.name, instruction)
            self._names[id(program)] = names
            for name in names:
                self._by_name[name].append(program)

    def candidates(self, group: Group) -> tuple[str | None, list[KnownProgram], str]:
        """Programs that a slice may belong to, and the basis of that; a reason where there is none."""
        if group.module is not None:
            return self._named_candidates(group, self.by_module.get(group.module, []))
        if group.program is not None and group.program in self.by_id:
            return None, _own(self.by_id[group.program], group.source)[:1], "id"
        named = [program for name in _names_of(group) for program in self._by_name.get(name, [])]
        named = _own(list({id(program): program for program in named}.values()), group.source)
        if len(named) == 1:
            return None, named, "name"
        return ("ambiguous" if named else "no_program"), [], ""

    def _named_candidates(
        self, group: Group, known: Sequence[KnownProgram]
    ) -> tuple[str | None, list[KnownProgram], str]:
        """Programs for a slice that names its module. known: programs of that name."""
        sure = group.numbered or group.place == "device"
        if not known:
            if group.program in self.by_id and sure:
                return None, _own(self.by_id[group.program], group.source)[:1], "id"
            return "no_program", [], ""
        exact = [program for program in known if program.id == group.program]
        if exact and sure:
            return None, _own(exact, group.source)[:1], group.by or "module and id"
        found = _own(known, group.source)
        return None, found, "module and id" if len(found) == 1 and found == exact else "module"

    def modules_of_several(self) -> tuple[str, ...]:
        """Names of modules of which several programs fit."""
        return tuple(sorted({members[0].module for members in self.used.values() if len(members) > 1}))

    def instructions(
        self, programs: Iterable[KnownProgram], group: Group
    ) -> list[tuple[KnownProgram, HloInstruction]]:
        """The instruction that a group executed in each program that has it."""
        found = ((program, self.instruction(program, group)) for program in programs)
        return [(program, made) for program, made in found if made is not None]

    def instruction(self, program: KnownProgram, group: Group) -> HloInstruction | None:
        """The instruction in a slice's name; on a TPU, the name may be its whole text."""
        names = self._names[id(program)]
        return next((names[name] for name in _names_of(group) if name in names), None)


def _names_of(group: Group) -> list[str]:
    text = _FIRST_NAME.match(group.name)
    return [group.op, *([text[1]] if text else []), group.name]


def _own(programs: Sequence[KnownProgram], source: int) -> list[KnownProgram]:
    """Programs that the recording has itself, if any; of equal ones from a dump, one."""
    of_source = [program for program in programs if program.source == source]
    if of_source:
        return of_source
    others = [program for program in programs if program.source is None] or list(programs)
    distinct: dict[Any, KnownProgram] = {}
    for program in others:
        distinct.setdefault((program.module, program.id, program.instructions), program)
    return list(distinct.values())


def agreed(found: Sequence[HloInstruction]) -> HloInstruction:
    """The facts that several programs share about an instruction."""
    first = found[0]
    if len(found) == 1:
        return first
    same: dict[str, Any] = {
        key: getattr(first, key)
        if all(getattr(instruction, key) == getattr(first, key) for instruction in found)
        else ("" if key in ("name", "opcode") else None)
        for key in ("opcode", "flops", "transcendentals", "bytes", "trips", "op_name", "file", "line")
    }
    return first._replace(**same)


def statements(program: KnownProgram) -> set[int]:
    """Computations that run as statements: the entry, and what loops, calls and branches of such run."""
    if program.entry is None:
        return set()
    called: dict[int, list[int]] = defaultdict(list)
    for instruction in program.instructions:
        called[instruction.computation] += instruction.called
    found, open_ = {program.entry}, [program.entry]
    while open_:
        for other in called[open_.pop()]:
            if other not in found:
                found.add(other)
                open_.append(other)
    return found
