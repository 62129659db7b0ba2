"""One recording of a program as the figures that a gate compares.

Of each op one figure: the 10th percentile of its time per step. What else runs on a machine only ever adds
time, so a low percentile is what the op itself takes. Counts, bytes and compilations have no noise.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import NamedTuple

from stepscope.instruments.causes.timed_steps import TimedStep, judged_steps, timed_steps
from stepscope.instruments.compare import ops as ops_
from stepscope.instruments.compare.figures import peaks
from stepscope.instruments.compare.matching import NamedItem
from stepscope.instruments.compare.sides import Side, runs
from stepscope.instruments.compare.statistics import quantile
from stepscope.library.statements import Query, statement

LOW = 0.1
"""The percentile that stands for a recording."""
LEAST_STEPS = 10
"""Steps without which a 10th percentile says nothing."""
PARTS = ("input", "communication", "copy", "dispatch", "python", "wait", "idle")
"""Parts of a step that ops do not show."""

EXACT = {
    "ops_per_step": "float",
    "kernels_per_step": "float",
    "copies_per_step": "float",
    "copied_bytes_per_step": "bytes",
    "recompilations": "float",
    "memory_peak_bytes": "bytes",
    "float_ops_per_step": "float",
    "graph_nodes": "float",
}
"""Figures without noise, with their units; a recording has those that it knows."""

Key = tuple[str, str, str]
"""Place, name and kind of an op."""


class Series(NamedTuple):
    """An op over the steps of a recording."""

    item: NamedItem
    by_step: Mapping[int, int]
    """Time in each step in which it runs, in picoseconds."""
    runs: int


@dataclass(frozen=True)
class RecordedRun:
    """A run, recorded once."""

    name: str
    path: str
    """As given."""
    step_ps: tuple[int, ...] = ()
    """Durations of the steps that are judged."""
    ops: Mapping[Key, Series] = field(default_factory=dict)
    parts: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Time of each step that counts to a label."""
    exact: Mapping[str, float] = field(default_factory=dict)
    origin_unix_ns: int | None = None

    @property
    def steps(self) -> int:
        """Steps that are judged."""
        return len(self.step_ps)

    def step_figure(self, share: float) -> float | None:
        """A quantile of the steps' durations; None with too few steps."""
        return quantile(self.step_ps, share) if self.steps >= LEAST_STEPS else None


class UnreadableRecording(NamedTuple):
    """A file that could not be read."""

    path: str
    why: str


def read(query: Query, path: str) -> tuple[list[RecordedRun], list[UnreadableRecording]]:
    """The recordings of a trace, one for each run, in the order in which they were made, and the files of it
    that could not be read."""
    begun: dict[str, int | None] = {}
    failed = []
    for run_id, _, failures, failed_path, why, origin_ns in query(statement("captures_of_run")).rows():
        begun[run_id] = origin_ns
        if failures:
            failed.append(UnreadableRecording(failed_path, why))
    found = [_recording(side, path, begun.get(side.run_id)) for side in runs(query)]
    return sort_by_time(sorted(found, key=lambda run: run.name)), failed


def sort_by_time(found: Iterable[RecordedRun]) -> list[RecordedRun]:
    """Recordings in the order in which they were made, those last of which that is not known."""
    return sorted(found, key=lambda run: (run.origin_unix_ns is None, run.origin_unix_ns or 0))


def _recording(side: Side, path: str, origin_unix_ns: int | None) -> RecordedRun:
    mine = [
        step
        for step in timed_steps(side.query)
        if step.run_id == side.run_id and step.host_id in side.host_ids
    ]
    judged = judged_steps(mine)
    whole = int(len(judged) == len(mine))
    parts = {label: tuple(step.sums.get(label, 0) for step in judged) for label in PARTS}
    return RecordedRun(
        name=side.name,
        path=path,
        step_ps=tuple(step.dur_ps for step in judged),
        ops=_series(side, whole),
        parts={label: times for label, times in parts.items() if any(times)},
        exact=_exact(side, whole, len(judged), mine),
        origin_unix_ns=origin_unix_ns,
    )


def _series(side: Side, whole: int) -> dict[Key, Series]:
    known = ops_.facts_of(side)
    items = {}
    for op in ops_.ops_in_steps(side, known, bool(whole)):
        items[op.item.place, op.item.name, op.item.kind] = op
    times: dict[Key, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    called: dict[Key, dict[int, int]] = {}
    asked = statement("op_time_by_step", run_id=side.run_id, host_ids=side.host_ids, whole=whole)
    for step_id, place, op, op_type, _, own_ps in side.query(asked).rows():
        if (by_step := called.get((place, op, op_type))) is None:
            item = known.item(place, op, op_type, 0)
            by_step = called[place, op, op_type] = times[place, item.name, item.kind]
        by_step[step_id] += own_ps
    return {key: Series(op.item, dict(times.get(key, {})), op.runs) for key, op in items.items()}


def _exact(side: Side, whole: int, steps: int, mine: Sequence[TimedStep]) -> dict[str, float]:
    found: dict[str, float] = {}
    if steps:
        asked = statement("work_by_step", run_id=side.run_id, host_ids=side.host_ids, whole=whole)
        rows = side.query(asked).rows()
        if rows:
            rest = [0] * max(0, steps - len(rows))
            for name, column in (("ops_per_step", 1), ("kernels_per_step", 2), ("copies_per_step", 3)):
                found[name] = median([*(row[column] for row in rows), *rest])
            if any(row[4] is not None for row in rows):
                found["copied_bytes_per_step"] = median([*(row[4] or 0 for row in rows), *rest])
        found["recompilations"] = _recompilations(side, mine)
    if held := peaks(side):
        found["memory_peak_bytes"] = sum(held.values())
    if number := sum(ops_.float_operations(side).values()):
        found["float_ops_per_step"] = number
    asked = statement("nodes_of_run", run_id=side.run_id, most=10**7)
    if nodes := len(side.query(asked).rows()):
        found["graph_nodes"] = nodes
    return found


def _recompilations(side: Side, mine: Sequence[TimedStep]) -> int:
    """Functions compiled within steps, though not for the first time; without the recorder's word, steps that
    compile beyond the first."""
    asked = statement("compilations_of_run", run_id=side.run_id, host_ids=side.host_ids)
    rows = side.query(asked).rows()
    if rows:
        return sum(again for _, _, again, _ in rows)
    return max(0, sum(step.kind == "compile" for step in mine) - 1)


def low_figure(series: Sequence[Series], steps: int) -> float | None:
    """The 10th percentile of the time that some ops take together in the steps in which they run; None with
    too few of those, or when it is too short for the clock."""
    times: dict[int, int] = defaultdict(int)
    for op in series:
        for step_id, ps in op.by_step.items():
            times[step_id] += ps
    if len(times) < LEAST_STEPS or steps < LEAST_STEPS:
        return None
    figure = quantile(list(times.values()), LOW)
    return figure if figure > 0 else None
