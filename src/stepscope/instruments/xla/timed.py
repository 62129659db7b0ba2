"""Measured times joined with the instructions of compiled programs.

Each instruction gets its number of executions, its time, iterations of loops, and flops and bytes per second.

A slice names its module, mostly the number of its program, and the instruction. Where executions have
numbers, as JAX gives them, module and number tell the program. TensorFlow writes 0 for all its programs and
-1 for all executions, so that only the module's name is left; where several programs have it, costs in which
they differ stay unknown.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from stepscope.instruments.xla.known_programs import HloInstruction, KnownProgram
from stepscope.instruments.xla.program_index import Group, ProgramIndex, agreed, statements

COLUMNS = (
    "module", "program_id", "instruction", "opcode", "place", "device", "slices", "executions", "runs",
    "per_run", "trips", "known_trips", "total_ps", "self_ps", "share", "flops", "transcendentals", "bytes",
    "total_flops", "total_bytes", "flops_per_s", "bytes_per_s", "flops_per_byte", "bound", "bound_ps",
    "bound_share", "op_name", "file", "line", "computation", "inside", "timed", "joined_by", "instructions",
    "host", "source_id",
)  # fmt: skip
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


def join(groups: Sequence[Sequence[Any]], programs: Sequence[KnownProgram]) -> TimedPrograms:
    """Joins rows of the statement instruction_slices with the programs."""
    met: dict[tuple[Any, ...], list[tuple[Group, HloInstruction]]] = defaultdict(list)
    lost: list[Lost] = []
    index = ProgramIndex(programs)
    every = [Group(*group) for group in groups]
    devices = {(group.source, group.module) for group in every if group.place == "device"}
    for row in every:
        reason = _not_an_instruction(row, devices)
        if reason == "launch":
            index.launched[row.source, row.module][row.op] += row.slices
        if reason is None:
            reason, candidates, by = index.candidates(row)
            if found := index.instructions(candidates, row):
                key = (row.source, tuple(id(program) for program, _ in found), by, row.place, row.device)
                met[(*key, found[0][1].name)].append((row, agreed([made for _, made in found])))
                index.used.setdefault(key[1], [program for program, _ in found])
                continue
            reason = reason or "no_instruction"
        lost.append(Lost(reason, row.module or "", row.op, row.slices, row.self_ps))
    rows = _rows(met, index)
    return TimedPrograms(
        rows,
        sorted(lost, key=lambda group: (-group.slices, group)),
        _untimed(index, met),
        sum(group.slices for group in every),
        index.modules_of_several(),
    )


def _not_an_instruction(group: Group, devices: Collection[tuple[int, str | None]]) -> str | None:
    """Why a group executes no instruction. devices: sources and modules that ran on a device."""
    reason = None
    if group.place == "none":
        reason = "repeats"
    elif group.place == "launch" or (group.place == "host" and (group.source, group.module) in devices):
        reason = "launch"

    return reason


Met = Mapping[tuple[Any, ...], Sequence[tuple[Group, HloInstruction]]]


def _rows(met: Met, index: ProgramIndex) -> list[dict[str, Any]]:
    """A row for each instruction and place, with measured trips, the longest self time first."""
    by_program, devices = _met_by_program(met, index)
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
            # Loops and calls count on the instructions inside, unless none of these is timed.
            if not (instruction.called and often.times_inside(instruction)):
                row.update(
                    flops=instruction.flops,
                    transcendentals=instruction.transcendentals,
                    bytes=instruction.bytes,
                )
            for cost in ("flops", "bytes"):
                row[f"total_{cost}"] = None if row[cost] is None else row[cost] * row["executions"]
            rows.append(row)
    return finished(rows)


def _met_by_program(
    met: Met, index: ProgramIndex
) -> tuple[
    dict[tuple[Any, ...], dict[str, list[tuple[Group, HloInstruction]]]], dict[tuple[int, str], set[str]]
]:
    """Joined instructions by program and place, and the devices of each module."""
    by_program: dict[tuple[Any, ...], dict[str, list[tuple[Group, HloInstruction]]]] = defaultdict(dict)
    devices: dict[tuple[int, str], set[str]] = defaultdict(set)
    for key, members in met.items():
        by_program[key[:-1]][key[-1]] = list(members)
        devices[key[0], index.used[key[1]][0].module].add(key[4])
    return by_program, devices


def _launches(members: Iterable[tuple[Group, HloInstruction]]) -> int:
    """Executions of an instruction: one may launch several kernels, and the rarest runs once each time."""
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
        # Most instructions of a computation run as often as it does; a cut recording misses some of them.
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
        """Iterations of a loop for each execution of it."""
        if instruction.opcode != "while" or not instruction.called or instruction.called[0] not in self._runs:
            return None
        return self._runs[instruction.called[0]] / self._timed[instruction.name]

    def times_inside(self, instruction: HloInstruction) -> bool:
        """Whether an instruction called by this one is timed itself."""
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


def _untimed(index: ProgramIndex, met: Met) -> list[tuple[str, str | None, str, str, int]]:
    """Instructions without a slice in the programs that ran, counted by reason and opcode."""
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
            why = _why_untimed(program, instruction, fused, reached)
            counts[program.module, program.id, why, instruction.opcode] += 1
    found = [(*kind, number) for kind, number in counts.items()]
    return sorted(found, key=lambda kind: (kind[0], kind[1] or "", *kind[2:]))


def _why_untimed(
    program: KnownProgram, instruction: HloInstruction, fused: Collection[int], reached: Collection[int]
) -> str:
    """Why an instruction has no slice. fused, reached: computations inside fusions, and those that run by
    themselves."""
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
    return why
