"""Measured time of compiled instructions: what a trace and dump folders say of them, and the lines below the
table: how much found its instruction, and what did not, with the reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from stepscope import units
from stepscope.errors import NothingFound
from stepscope.formats.xla import dump_files, known_modules
from stepscope.instruments.xla import compile_time, executions, known_programs, timed, timed_rows
from stepscope.instruments.xla.known_programs import KnownProgram
from stepscope.instruments.xla.timed import COLUMNS, TimedPrograms
from stepscope.instruments.xla.timed_rows import BY as BY
from stepscope.library.statements import statement
from stepscope.report.listing import Listing
from stepscope.report.xla_ops_listing import listing
from stepscope.sources.source import Source
from stepscope.xla_tools.peaks import Peaks

if TYPE_CHECKING:
    from stepscope.session.trace import OpenTrace


_NOTHING = "No slice of an instruction of XLA is in there"
_TODO = (
    "record a program that XLA compiled: stepscope record -- python train.py (JAX, or TensorFlow with"
    " jit_compile=True)"
)

_NO_TIMES = "A dump folder alone has no times"
_TODO_TIMES = (
    "stepscope xla ops TRACE DUMP, with a recording of the same run; stepscope xla cost DUMP needs none"
)
_NO_COMPILE = "No compile of XLA is in there"
_TODO_COMPILE = (
    "start the profiler before the first call of the program; a step that compiled before shows none"
)
_MOST = 5

LOST = {
    "no_program": "the program is not known; give the dump folder of the same run as another PATH",
    "no_instruction": "the program does not have it; is the dump of another compile?",
    "ambiguous": "several programs have an instruction of that name, and the slices name no module",
    "repeats": "the row repeats what other rows hold",
    "launch": "a launch by the host of what ran on a device",
}
_UNTIMED = {
    "no_work": "parameters, constants, tuples and the like",
    "inside_fusion": "inside fusions, not timed there",
    "function": "in functions of reductions and sorts",
    "untold": "of a program that the lake keeps by name only",
    "not_run": "without a slice: not run, or run by the instruction around it",
}


_UNTIMED_COLUMNS = ("module", "program_id", "why", "opcode", "number")
_UNMATCHED_COLUMNS = ("module", "instruction", "slices", "self_ps", "reason", "why")


class TimedOps(NamedTuple):
    """What a recording says of compiled programs, the programs, and how many could not be read."""

    timed: TimedPrograms
    programs: list[KnownProgram]
    damaged: int

    def only_module(self, name: str | None, paths: Sequence[str]) -> TimedOps:
        """Only what is of modules whose name contains `name`, or all. NothingFound without a slice; paths:
        what was looked at."""
        found = self.timed
        if name is not None:
            found = found._replace(
                rows=[row for row in found.rows if name in (row["module"] or "")],
                untimed=[row for row in found.untimed if name in row[0]],
                lost=[lost for lost in found.lost if name in lost.module],
            )
        if not found.seen:
            raise NothingFound(_NOTHING, seen=f"no hlo_op in {' '.join(paths)}", todo=_TODO)
        return self._replace(timed=found)

    def listed(
        self,
        by: str,
        most: int | None,
        peak: tuple[float, float] | None,
        *,
        fusion: str | None,
        open_fusions: bool,
    ) -> Listing:
        """A row for each of what `by` says, one of BY. peak: flops and bytes a second of the machine. fusion:
        only this one and what is in it; NothingFound when no slice is of it. open_fusions: below each fusion
        what is in it."""
        rows = self.timed.rows
        if fusion is not None:
            rows = [row for row in rows if row["instruction"] == fusion]
            if not rows:
                raise NothingFound(
                    f"No slice is of an instruction called {fusion}",
                    seen=", ".join(str(row["instruction"]) for row in self.timed.rows[:8]) or "none",
                    todo="stepscope xla ops PATH --all lists them",
                )
        if open_fusions or fusion is not None:
            rows = timed_rows.opened(rows, self.programs)
        rows = rows if by == "instruction" else timed_rows.grouped(rows, by)
        if peak is not None:
            timed_rows.bounded(rows, peak)
        return listing(COLUMNS, rows, self.sentences(), most, by)

    def untimed(self, most: int | None) -> Listing:
        """Instructions that no slice names."""
        rows = [
            dict(zip(_UNTIMED_COLUMNS, (module, number, _UNTIMED[why], opcode, count), strict=True))
            for module, number, why, opcode, count in self.timed.untimed
        ]
        return listing(_UNTIMED_COLUMNS, rows, self.sentences(), most)

    def unmatched(self, most: int | None) -> Listing:
        """Slices without an instruction."""
        rows = [
            dict(zip(_UNMATCHED_COLUMNS, (module or None, *figures, why, LOST[why]), strict=True))
            for why, module, *figures in self.timed.lost
        ]
        return listing(_UNMATCHED_COLUMNS, rows, self.sentences(), most)

    def sentences(self) -> list[str]:
        """The lines below the table."""
        rows, untimed = self.timed.rows, Counter[str]()
        slices = sum(row["slices"] for row in rows if row["timed"])
        modules = units.count(len({row["module"] for row in rows}), "module")
        seen = units.count(self.timed.seen, "slice")
        lines = [f"{slices:,} of {seen} found an instruction ({modules})", *self._lost_lines()]
        for _, _, why, _, number in self.timed.untimed:
            untimed[why] += number
        if untimed:
            parts = [f"{number:,} {_UNTIMED[why]}" for why, number in sorted(untimed.items())]
            whole = units.count(sum(untimed.values()), "instruction")
            lines.append(f"{whole} without time: {'; '.join(parts)} (--untimed lists them)")
        unknown = sum(
            row["self_ps"] or 0 for row in rows if row["flops"] is None and row["opcode"] != "while"
        )
        if unknown:
            lines.append(f"instructions of unknown cost took {units.show(unknown, 'ps')}")
        lines += [
            f"several programs are called {module}, and the recording does not tell them apart:"
            " costs in which they differ are unknown"
            for module in self.timed.ambiguous
        ]
        if self.damaged:
            lines.append(f"{units.count(self.damaged, 'program')} could not be read")
        return lines

    def _lost_lines(self) -> list[str]:
        counts: Counter[str] = Counter()
        for lost in self.timed.lost:
            counts[lost.reason] += lost.slices
        return [f"{units.count(number, 'slice')}: {LOST[reason]}" for reason, number in counts.most_common()]


def timed_ops(trace: OpenTrace, folders: Sequence[str]) -> TimedOps:
    """The timed instructions of a trace. folders: paths that may be dump folders of the same run."""
    groups: list[Sequence[Any]] = [*trace.query(statement("instruction_slices", computing=0)).rows()]
    programs, damaged = _programs(trace, folders, groups)
    if modules := executions.unclear(groups, programs):
        slices = trace.query(statement("slices_of_modules", modules=sorted(modules))).rows()
        groups = executions.apart(groups, slices, programs)
    found = timed.join(groups, programs)
    hosts = {_number(at, source): source.host_id for at, source in enumerate(trace.sources)}
    for row in found.rows:
        row["host"] = hosts.get(row["source_id"])
    for run in {source.run_id for source in trace.sources}:
        lines = trace.query(statement("lines_of_ops", run_id=run)).rows()
        timed_rows.place(found.rows, [(op, file, line) for op, file, line, _ in lines])
    return TimedOps(found, programs, damaged)


def no_times(paths: Sequence[str]) -> NothingFound | None:
    """The error for dump folders without a recording; None for anything else."""
    try:
        number = len(dump_files.finished(paths))
    except OSError:
        return None
    if not number:
        return None
    seen = f"programs: {number:,}; recordings: 0"
    return NothingFound(_NO_TIMES, seen=seen, todo=_TODO_TIMES, path=paths[0])


def _programs(
    trace: OpenTrace, folders: Sequence[str], groups: Sequence[Sequence[Any]]
) -> tuple[list[KnownProgram], int]:
    """The programs that slices may be of, and how many could not be read."""
    modules, ids = _named(groups)
    programs: list[KnownProgram] = []
    damaged = 0
    for source, number, module, file in known_modules.find(trace.sources, folders, modules, ids):
        if module is None:
            damaged += 1
        else:
            programs.append(known_programs.decoded(module, source, number, file))
    if not all(isinstance(source, Source) for source in trace.sources):
        # Dump folders beside a lake go first.
        runs = {_number(at, source): source.run_id for at, source in enumerate(trace.sources)}
        stored = known_programs.stored(trace.query(statement("instructions_of_programs")).rows(), runs)
        known = {program.module for program in programs}
        programs += [program for program in stored if program.module not in known]
    return programs, damaged


def _named(groups: Sequence[Sequence[Any]]) -> tuple[set[str] | None, set[str]]:
    """The modules that slices name, None where one names no program and may be of any, and the ids."""
    modules = {group[3] for group in groups if group[3] is not None}
    ids = {group[4] for group in groups if group[4] is not None}
    anything = any(group[3] is None and group[4] is None for group in groups)
    return None if anything else modules, ids


def _number(at: int, source: Any) -> int:
    """The source_id of a source: its place, or in a lake what it says."""
    number: int = getattr(source, "source_id", at)
    return number


def compiled(trace: OpenTrace, module: str | None, most: int | None) -> Listing:
    """How long compiles took. NothingFound when there is no compile of a module whose name contains
    `module`."""
    slices = trace.query(statement("compile_slices")).rows()
    rows, modules = compile_time.rows(slices)
    if module is not None:
        rows = [row for row in rows if module in row["module"]]
        modules = [built for built in modules if module in built.module]
    if not rows:
        raise NothingFound(_NO_COMPILE, seen=f"{len(slices):,} slices of compiles", todo=_TODO_COMPILE)
    lines = []
    for built in modules[:_MOST]:
        passes, backend = (units.show(time, "ps") for time in (built.passes_ps, built.backend_ps))
        line = f"{built.module}: {units.count(built.compiles, 'compile')}, passes {passes}, backend {backend}"
        if built.kernel_ps:
            line += f"; kernels {units.show(built.kernel_ps, 'ps')} on threads of their own"
        lines.append(line)
    if len(modules) > _MOST:
        lines.append(f"{units.count(len(modules) - _MOST, 'more module')}")
    return listing(compile_time.COLUMNS, rows, lines, most)


def peaks(found: Peaks) -> str:
    """What was measured of this machine."""
    gflops, gbytes = (units.show(number / 1e9, "float") for number in (found.flops, found.bytes))
    return (
        f"measured on this machine ({found.device}, {found.library}, 32-bit floats): {gflops} Gflop/s,"
        f" {gbytes} GB/s"
    )
