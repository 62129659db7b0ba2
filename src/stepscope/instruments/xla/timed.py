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

from stepscope.instruments.xla.known_programs import Instruction, Program

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


class Timed(NamedTuple):
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


def join(groups: Sequence[Sequence[Any]], programs: Sequence[Program]) -> Timed:
    """Joins rows of the statement instruction_slices with the programs."""
    met: dict[tuple[Any, ...], list[tuple[Group, Instruction]]] = defaultdict(list)
    lost: list[Lost] = []
    index = _Index(programs)
    devices = {(one.source, one.module) for one in (Group(*one) for one in groups) if one.place == "device"}
    seen = 0
    for one in (Group(*one) for one in groups):
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
    return Timed(
        rows,
        sorted(lost, key=lambda one: (-one.slices, one)),
        _untimed(index, met),
        seen,
        tuple(sorted({members[0].module for members in index.used.values() if len(members) > 1})),
    )


class _Index:
    """Programs by what slices say of them."""

    def __init__(self, programs: Sequence[Program]) -> None:
        self.by_module: dict[str, list[Program]] = defaultdict(list)
        self.by_id: dict[str, list[Program]] = defaultdict(list)
        self.used: dict[tuple[int, ...], list[Program]] = {}
        self.launched: dict[tuple[int, str | None], Counter[str]] = defaultdict(Counter)
        self._names: dict[int, dict[str, Instruction]] = {}
        self._by_name: dict[str, list[Program]] = defaultdict(list)
        for program in programs:
            self.by_module[program.module].append(program)
            if program.id is not None:
                self.by_id[program.id].append(program)
            names: dict[str, Instruction] = {}
            for one in program.instructions:
                names.setdefault(one.name, one)
            self._names[id(program)] = names
            for name in names:
                self._by_name[name].append(program)

    def candidates(self, one: Group) -> tuple[str | None, list[Program], str]:
        """Programs that a slice may be of, and what that rests on; a reason where there is none."""
        if one.module is not None:
            return self._of_module(one, self.by_module.get(one.module, []))
        if one.program is not None and one.program in self.by_id:
            return None, _own(self.by_id[one.program], one.source)[:1], "id"
        named = [program for name in _names_of(one) for program in self._by_name.get(name, [])]
        named = _own(list({id(program): program for program in named}.values()), one.source)
        if len(named) == 1:
            return None, named, "name"
        return ("ambiguous" if named else "no_program"), [], ""

    def _of_module(self, one: Group, known: Sequence[Program]) -> tuple[str | None, list[Program], str]:
        """The same of a slice that names its module. known: programs of that name."""
        sure = one.numbered or one.place == "device"
        if not known:
            if one.program in self.by_id and sure:
                return None, _own(self.by_id[one.program], one.source)[:1], "id"
            return "no_program", [], ""
        exact = [program for program in known if program.id == one.program]
        if exact and sure:
            return None, _own(exact, one.source)[:1], one.by or "module and id"
        found = _own(known, one.source)
        return None, found, "module and id" if len(found) == 1 and found == exact else "module"

    def instruction(self, program: Program, one: Group) -> Instruction | None:
        """The instruction that a slice names; on a TPU the slice's name may be its whole text."""
        names = self._names[id(program)]
        return next((names[name] for name in _names_of(one) if name in names), None)


def _names_of(one: Group) -> list[str]:
    text = _FIRST_NAME.match(one.name)
    return [one.op, *([text[1]] if text else []), one.name]


def _own(programs: Sequence[Program], source: int) -> list[Program]:
    """Those that the recording keeps itself, where it keeps some; of equal ones from a dump, one."""
    own = [program for program in programs if program.source == source]
    if own:
        return own
    others = [program for program in programs if program.source is None] or list(programs)
    distinct: dict[Any, Program] = {}
    for program in others:
        distinct.setdefault((program.module, program.id, program.instructions), program)
    return list(distinct.values())


def _agreed(found: Sequence[Instruction]) -> Instruction:
    """What several programs say of an instruction in common."""
    first = found[0]
    if len(found) == 1:
        return first
    same: dict[str, Any] = {
        key: getattr(first, key)
        if all(getattr(one, key) == getattr(first, key) for one in found)
        else ("" if key in ("name", "opcode") else None)
        for key in ("opcode", "flops", "transcendentals", "bytes", "trips", "op_name", "file", "line")
    }
    return first._replace(**same)


Met = Mapping[tuple[Any, ...], Sequence[tuple[Group, Instruction]]]


def _rows(met: Met, index: _Index) -> list[dict[str, Any]]:
    """A row for each instruction and place, with measured trips, the longest self time first."""
    by_program: dict[tuple[Any, ...], dict[str, list[tuple[Group, Instruction]]]] = defaultdict(dict)
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
            one = members[0][1]
            row: dict[str, Any] = dict.fromkeys(COLUMNS)
            row.update(
                module=program.module,
                program_id=program.id if len(index.used[used]) == 1 else None,
                instruction=name,
                opcode=one.opcode,
                place=place,
                device=device,
                slices=sum(group.slices for group, _ in members),
                executions=often.executions(one),
                runs=often.runs,
                trips=often.trips(one),
                known_trips=one.trips,
                total_ps=sum(group.total_ps for group, _ in members),
                self_ps=sum(group.self_ps for group, _ in members),
                op_name=one.op_name,
                file=one.file,
                line=one.line,
                computation=program.computations[one.computation] or None,
                timed=True,
                joined_by=by,
                instructions=1,
                source_id=source,
            )
            row["per_run"] = row["executions"] / often.runs if often.runs else None
            # What lies in a loop or a call is counted there, unless nothing there is timed.
            if not (one.called and often.inside(one)):
                row.update(flops=one.flops, transcendentals=one.transcendentals, bytes=one.bytes)
            for cost in ("flops", "bytes"):
                row[f"total_{cost}"] = None if row[cost] is None else row[cost] * row["executions"]
            rows.append(row)
    return finished(rows)


def _launches(members: Iterable[tuple[Group, Instruction]]) -> int:
    """How often an instruction ran: one execution may launch several kernels, the rarest of them once."""
    kernels: Counter[str] = Counter()
    for group, _ in members:
        kernels[group.name] += group.slices
    return min(kernels.values())


class _Often:
    """How often the computations of a program ran, as its timed instructions show it. launched: how often the
    host launched each on a device, which alone shows how often a loop ran there."""

    def __init__(
        self, program: Program, timed: Mapping[str, int], place: str, launched: Mapping[str, float]
    ) -> None:
        self._timed, self._place = timed, place
        counts: dict[int, Counter[int]] = defaultdict(Counter)
        self._where: dict[str, int] = {}
        for one in program.instructions:
            if one.name in timed and one.name not in self._where:
                self._where[one.name] = one.computation
                counts[one.computation][timed[one.name]] += 1
        # Most instructions of a computation run as often as it; a recording that is cut has some less often.
        self._runs = {
            computation: max(numbers, key=lambda number: (numbers[number], number))
            for computation, numbers in counts.items()
        }
        entry = program.entry
        begun = [
            int(launched[one.name])
            for one in program.instructions
            if one.computation == entry and one.name in launched
        ]
        if entry is not None and entry not in self._runs and begun and min(begun) > 0:
            self._runs[entry] = max(set(begun), key=lambda number: (begun.count(number), number))
        self.runs = self._runs.get(entry) if entry is not None else None

    def executions(self, one: Instruction) -> int:
        """How often an instruction ran."""
        seen, runs = self._timed[one.name], self._runs.get(self._where[one.name])
        # On a device, one execution may launch a kernel several times.
        return runs if self._place == "device" and runs and seen % runs == 0 else seen

    def trips(self, one: Instruction) -> float | None:
        """How often the body of a loop ran for each execution of the loop."""
        if one.opcode != "while" or not one.called or one.called[0] not in self._runs:
            return None
        return self._runs[one.called[0]] / self._timed[one.name]

    def inside(self, one: Instruction) -> bool:
        """Whether something that an instruction calls is timed itself."""
        return any(called in self._runs for called in one.called)


def finished(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Shares and rates, and the order."""
    whole = sum(row["self_ps"] for row in rows)
    for row in rows:
        own = row["self_ps"]
        row["share"] = own / whole if whole else 0.0
        flops, moved = row["total_flops"], row["total_bytes"]
        row["flops_per_s"] = flops * _PS / own if own and flops is not None else None
        row["bytes_per_s"] = moved * _PS / own if own and moved is not None else None
        row["flops_per_byte"] = flops / moved if moved and flops is not None else None
    return sorted(rows, key=lambda row: (-row["self_ps"], row["module"] or "", row["instruction"] or ""))


def _untimed(index: _Index, met: Met) -> list[tuple[str, str | None, str, str, int]]:
    """Instructions of the programs that ran which no slice names, counted by why and opcode."""
    timed: dict[int, set[str]] = defaultdict(set)
    for key in met:
        for program in index.used[key[1]]:
            timed[id(program)].add(key[-1])
    counts: Counter[tuple[str, str | None, str, str]] = Counter()
    for program in {id(one): one for members in index.used.values() for one in members}.values():
        reached = statements(program)
        fused = {one.fused for one in program.instructions if one.fused is not None}
        for one in program.instructions:
            if one.name in timed[id(program)]:
                continue
            if program.entry is None:
                why = "untold"
            elif one.computation in fused:
                why = "inside_fusion"
            elif one.computation not in reached:
                why = "function"
            elif one.opcode in NEVER:
                why = "no_work"
            else:
                why = "not_run"
            counts[program.module, program.id, why, one.opcode] += 1
    found = [(*kind, number) for kind, number in counts.items()]
    return sorted(found, key=lambda one: (one[0], one[1] or "", *one[2:]))


def statements(program: Program) -> set[int]:
    """Computations that run as statements: the entry, and what loops, calls and branches of such run."""
    if program.entry is None:
        return set()
    called: dict[int, list[int]] = defaultdict(list)
    for one in program.instructions:
        called[one.computation] += one.called
    found, open_ = {program.entry}, [program.entry]
    while open_:
        for other in called[open_.pop()]:
            if other not in found:
                found.add(other)
                open_.append(other)
    return found
