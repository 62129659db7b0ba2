"""Measured time met with the instruction of the compiled program: how often and how long each ran, how often
its loop went round, and the flops and bytes a second that it reached.

A slice names its module, mostly the number of its program, and the instruction. Where executions have
numbers, as JAX gives them, module and number tell the program. TensorFlow writes 0 for all its programs and
-1 for all executions, so that only the module's name is left; where several programs have it, costs in which
they differ stay unknown.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from stepscope.instruments.xla.known_programs import HloInstruction, KnownProgram

COLUMNS = (
    *("module", "program_id", "instruction", "opcode", "place", "device", "slices", "executions", "runs"),
    *("per_run", "trips", "known_trips", "total_ps", "self_ps", "share"),
    *("flops", "transcendentals", "bytes", "total_flops", "total_bytes", "flops_per_s", "bytes_per_s"),
    *("flops_per_byte", "bound", "bound_ps", "bound_share"),
    *("op_name", "file", "line", "computation", "inside", "timed", "joined_by", "instructions"),
    *("host", "source_id"),
)
"""A row is an instruction that slices name, or all with one op, scope, line, opcode or module.

executions: how often it ran; runs: how often its program did; per_run: executions for each run. trips: of a
loop, how often its body was seen to run for each time that the loop did; known_trips: the same as the
compiler knows it. flops, transcendentals, bytes: of one execution, None if unknown; total_flops,
total_bytes: of all. flops_per_s, bytes_per_s: these in the self time. bound_ps: the least time that the
executions can take at the machine's peaks; bound_share: that in the self time. inside: the fusion that an
instruction is in, which is where its time is; timed: whether slices show it. joined_by: module and id,
module, name and so on. instructions: how many a group has."""

NEVER = ("parameter", "constant", "tuple", "get-tuple-element", "bitcast")
"""Opcodes without work, so that XLA times none."""
_PS = 10**12
_FIRST_NAME = re.compile(r"^%?([^\s=(]+) =")


class Lost(NamedTuple):
    """Slices without an instruction. reason: no_program (of that module), no_instruction (of that name in the
    program), ambiguous (several programs fit, and differ), repeats (the row repeats others) or launch."""

    reason: str
    module: str
    instruction: str
    slices: int
    self_ps: int


class TimedPrograms(NamedTuple):
    """What a recording says of compiled programs. rows: with COLUMNS, one for each instruction and place, the
    longest self time first. untimed: instructions that no slice names, as (module, program id, why, opcode,
    number); why: no_work, inside_fusion, not_run, function, or untold. seen: slices of instructions."""

    rows: list[dict[str, Any]]
    lost: list[Lost]
    untimed: list[tuple[str, str | None, str, str, int]]
    seen: int
    ambiguous: tuple[str, ...]


class Group(NamedTuple):
    """A row of the statement instruction_slices. by: what the choice of the program rests on, if not on what
    the slices say."""

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


def join(groups: Sequence[Sequence[Any]], programs: Sequence[KnownProgram]) -> TimedPrograms:
    """Joins rows of the statement instruction_slices with the programs."""
    met: dict[tuple[Any, ...], list[tuple[Group, HloInstruction]]] = defaultdict(list)
    lost: list[Lost] = []
    index = _ProgramIndex(programs)
    devices = {
        (group.source, group.module) for group in (Group(*one) for one in groups) if group.place == "device"
    }
    seen = 0
    for one in (Group(*group) for group in groups):
        seen += one.slices
        reason = None
        if one.place == "none":
            reason = "repeats"
        elif one.place == "launch" or (one.place == "host" and (one.source, one.module) in devices):
            reason = "launch"
            index.launched[one.source, one.module][one.op] += one.slices
        if reason is None:
            reason, candidates, by = index.candidates(one)
            found = [
                (program, made)
                for program in candidates
                if (made := index.instruction(program, one)) is not None
            ]
            if found:
                key = (one.source, tuple(id(program) for program, _ in found), by, one.place, one.device)
                met[(*key, found[0][1].name)].append((one, _agreed([made for _, made in found])))
                index.used.setdefault(key[1], [program for program, _ in found])
                continue
            reason = reason or "no_instruction"
        lost.append(Lost(reason, one.module or "", one.op, one.slices, one.self_ps))
    rows = _rows(met, index)
    return TimedPrograms(
        rows,
        sorted(lost, key=lambda one: (-one.slices, one)),
        _untimed(index, met),
        seen,
        tuple(sorted({members[0].module for members in index.used.values() if len(members) > 1})),
    )


class _ProgramIndex:
    """Programs by what slices say of them."""

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
        """Programs that a slice may be of, and what that rests on; a reason where there is none."""
        if group.module is not None:
            return self._of_module(group, self.by_module.get(group.module, []))
        if group.program is not None and group.program in self.by_id:
            return None, _own(self.by_id[group.program], group.source)[:1], "id"
        named = [program for name in _names_of(group) for program in self._by_name.get(name, [])]
        named = _own(list({id(program): program for program in named}.values()), group.source)
        if len(named) == 1:
            return None, named, "name"
        return ("ambiguous" if named else "no_program"), [], ""

    def _of_module(
        self, group: Group, known: Sequence[KnownProgram]
    ) -> tuple[str | None, list[KnownProgram], str]:
        """The same of a slice that names its module. known: programs of that name."""
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

    def instruction(self, program: KnownProgram, group: Group) -> HloInstruction | None:
        """The instruction that a slice names; on a TPU the slice's name may be its whole text."""
        names = self._names[id(program)]
        return next((names[name] for name in _names_of(group) if name in names), None)


def _names_of(group: Group) -> list[str]:
    text = _FIRST_NAME.match(group.name)
    return [group.op, *([text[1]] if text else []), group.name]


def _own(programs: Sequence[KnownProgram], source: int) -> list[KnownProgram]:
    """Those that the recording keeps itself, where it keeps some; of equal ones from a dump, one."""
    of_source = [program for program in programs if program.source == source]
    if of_source:
        return of_source
    others = [program for program in programs if program.source is None] or list(programs)
    distinct: dict[Any, KnownProgram] = {}
    for program in others:
        distinct.setdefault((program.module, program.id, program.instructions), program)
    return list(distinct.values())


def _agreed(found: Sequence[HloInstruction]) -> HloInstruction:
    """What several programs say of an instruction in common."""
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


Met = Mapping[tuple[Any, ...], Sequence[tuple[Group, HloInstruction]]]


def _rows(met: Met, index: _ProgramIndex) -> list[dict[str, Any]]:
    """A row for each instruction and place, with measured trips, the longest self time first."""
    by_program: dict[tuple[Any, ...], dict[str, list[tuple[Group, HloInstruction]]]] = defaultdict(dict)
    devices: dict[tuple[int, str], set[str]] = defaultdict(set)
    for key, members in met.items():
        by_program[key[:-1]][key[-1]] = list(members)
        devices[key[0], index.used[key[1]][0].module].add(key[4])
    rows: list[dict[str, Any]] = []
    for (source, used, by, place, device), timed in by_program.items():
        program = index.used[used][0]
        at = source, program.module
        launched = {name: count / len(devices[at]) for name, count in index.launched[at].items()}
        often = _Often(
            program, {name: _launches(members) for name, members in timed.items()}, place, launched
        )
        for name, members in timed.items():
            instruction = members[0][1]
            row: dict[str, Any] = dict.fromkeys(COLUMNS)
            row.update(
                module=program.module,
                program_id=program.id if len(index.used[used]) == 1 else None,
                instruction=name,
                opcode=instruction.opcode,
                place=place,
                device=device,
                slices=sum(group.slices for group, _ in members),
                executions=often.executions(instruction),
                runs=often.runs,
                trips=often.trips(instruction),
                known_trips=instruction.trips,
                total_ps=sum(group.total_ps for group, _ in members),
                self_ps=sum(group.self_ps for group, _ in members),
                op_name=instruction.op_name,
                file=instruction.file,
                line=instruction.line,
                computation=program.computations[instruction.computation] or None,
                timed=True,
                joined_by=by,
                instructions=1,
                source_id=source,
            )
            row["per_run"] = row["executions"] / often.runs if often.runs else None
            # What lies in a loop or a call is counted there, unless nothing there is timed.
            if not (instruction.called and often.inside(instruction)):
                row.update(
                    flops=instruction.flops,
                    transcendentals=instruction.transcendentals,
                    bytes=instruction.bytes,
                )
            for cost in ("flops", "bytes"):
                row[f"total_{cost}"] = None if row[cost] is None else row[cost] * row["executions"]
            rows.append(row)
    return finished(rows)


def _launches(members: Iterable[tuple[Group, HloInstruction]]) -> int:
    """How often an instruction ran: one execution may launch several kernels, the rarest of them once."""
    kernels: Counter[str] = Counter()
    for group, _ in members:
        kernels[group.name] += group.slices
    return min(kernels.values())


class _Often:
    """How often the computations of a program ran, as its timed instructions show it. launched: how often the
    host launched each on a device, which alone shows how often a loop ran there."""

    def __init__(
        self, program: KnownProgram, timed: Mapping[str, int], place: str, launched: Mapping[str, float]
    ) -> None:
        self._timed, self._place = timed, place
        counts: dict[int, Counter[int]] = defaultdict(Counter)
        self._where: dict[str, int] = {}
        for instruction in program.instructions:
            if instruction.name in timed and instruction.name not in self._where:
                self._where[instruction.name] = instruction.computation
                counts[instruction.computation][timed[instruction.name]] += 1
        # Most instructions of a computation run as often as it; a recording that is cut has some less often.
        self._runs = {
            computation: max(numbers, key=lambda number: (numbers[number], number))
            for computation, numbers in counts.items()
        }
        entry = program.entry
        begun = [
            int(launched[instruction.name])
            for instruction in program.instructions
            if instruction.computation == entry and instruction.name in launched
        ]
        if entry is not None and entry not in self._runs and begun and min(begun) > 0:
            self._runs[entry] = max(set(begun), key=lambda number: (begun.count(number), number))
        self.runs = self._runs.get(entry) if entry is not None else None

    def executions(self, instruction: HloInstruction) -> int:
        """How often an instruction ran."""
        seen, runs = self._timed[instruction.name], self._runs.get(self._where[instruction.name])
        # On a device, one execution may launch a kernel several times.
        return runs if self._place == "device" and runs and seen % runs == 0 else seen

    def trips(self, instruction: HloInstruction) -> float | None:
        """How often the body of a loop ran for each execution of the loop."""
        if instruction.opcode != "while" or not instruction.called or instruction.called[0] not in self._runs:
            return None
        return self._runs[instruction.called[0]] / self._timed[instruction.name]

    def inside(self, instruction: HloInstruction) -> bool:
        """Whether something that an instruction calls is timed itself."""
        return any(called in self._runs for called in instruction.called)


def finished(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Shares and rates, and the order."""
    whole = sum(row["self_ps"] for row in rows)
    for row in rows:
        self_ps = row["self_ps"]
        row["share"] = self_ps / whole if whole else 0.0
        flops, moved = row["total_flops"], row["total_bytes"]
        row["flops_per_s"] = flops * _PS / self_ps if self_ps and flops is not None else None
        row["bytes_per_s"] = moved * _PS / self_ps if self_ps and moved is not None else None
        row["flops_per_byte"] = flops / moved if moved and flops is not None else None
    return sorted(rows, key=lambda row: (-row["self_ps"], row["module"] or "", row["instruction"] or ""))


def _untimed(index: _ProgramIndex, met: Met) -> list[tuple[str, str | None, str, str, int]]:
    """Instructions of the programs that ran which no slice names, counted by why and opcode."""
    timed: dict[int, set[str]] = defaultdict(set)
    for key in met:
        for program in index.used[key[1]]:
            timed[id(program)].add(key[-1])
    counts: Counter[tuple[str, str | None, str, str]] = Counter()
    for program in {id(member): member for members in index.used.values() for member in members}.values():
        reached = statements(program)
        fused = {instruction.fused for instruction in program.instructions if instruction.fused is not None}
        for instruction in program.instructions:
            if instruction.name in timed[id(program)]:
                continue
            if program.entry is None:
                why = "untold"
            elif instruction.computation in fused:
                why = "inside_fusion"
            elif instruction.computation not in reached:
                why = "function"
            elif instruction.opcode in NEVER:
                why = "no_work"
            else:
                why = "not_run"
            counts[program.module, program.id, why, instruction.opcode] += 1
    found = [(*kind, number) for kind, number in counts.items()]
    return sorted(found, key=lambda one: (one[0], one[1] or "", *one[2:]))


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
