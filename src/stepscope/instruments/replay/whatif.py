"""What steps would take if something in them took less time, by replaying them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import get_args

from stepscope.instruments.causes.timed_steps import TimedStep, judged_steps, steps_by_host
from stepscope.instruments.replay import recorded_steps
from stepscope.instruments.replay.recorded_steps import MISSES, WAITS, RecordedSteps, SliceKind
from stepscope.instruments.step_breakdown import part_tables
from stepscope.instruments.step_breakdown.labels import LABELS, NUMBER, Label
from stepscope.library.statements import Query, Stream

FEW_STEPS = 5
"""Fewer of them have no range."""
_WITH_OPS: frozenset[Label] = frozenset({"compute", "communication", "copy", "compile", "python"})
"""Labels that are classes of ops, too: such ops go with the label, wherever they run."""


@dataclass(frozen=True)
class DurationChange:
    """What would take another time."""

    without: Label | None = None
    """All of this goes."""
    ops: Mapping[str, float] = field(default_factory=dict)
    """Parts that are left of the time of ops, by their type or name."""

    def left(self, kind: SliceKind) -> float:
        """What is left of the time of slices that are called so."""
        if not kind.is_op:
            return 1.0
        if self.without in _WITH_OPS and kind.op_class == self.without:
            return 0.0
        return next((self.ops[name] for name in kind.called if name in self.ops), 1.0)

    def lefts(self, read: RecordedSteps) -> dict[int, float]:
        """The same by rollup_id, where something changes."""
        lefts = list(map(self.left, read.kinds))
        return {of: lefts[number] for of, number in read.numbers.items() if lefts[number] != 1.0}


@dataclass(frozen=True)
class ReplayedSteps:
    """Steps of a source, as they were and as they would be."""

    source_id: int
    steps: int
    recorded_ps: int
    """A mean step, as it was recorded."""
    replayed_ps: int
    """The same as it is replayed, with nothing changed."""
    then_ps: int | None = None
    """The same after the change; None where the replay misses what was recorded."""
    low_ps: int | None = None
    high_ps: int | None = None
    """A tenth of the steps is shorter after the change, and a tenth is longer."""
    held_ps: int = 0
    """Waits of the driving thread in a mean step for something unrecorded: they stay as they were."""
    gaps_ps: int = 0
    """What a mean step would spend, after the change, in gaps of other threads and devices that nothing
    explains."""
    then: Mapping[str, int] = field(default_factory=dict)
    """What would have to take less time then before a step does: picoseconds of a mean step, by op, label or
    `handing over`, the longest first."""
    unknown: Sequence[str] = ()
    """Ops that were asked for and are not there."""

    @property
    def misses(self) -> float:
        """The error of the replay, as part of the recorded step."""
        return abs(self.replayed_ps - self.recorded_ps) / self.recorded_ps if self.recorded_ps else 0.0


def ask(
    query: Query, stream: Stream, change: DurationChange, hosts: Iterable[Sequence[TimedStep]] | None = None
) -> list[ReplayedSteps]:
    """What the steps of each source would take, those with most time in steps first. Sources whose steps
    nothing drives that was recorded are left out. hosts: the steps of each host; None asks all."""
    wanted: dict[int, list[int]] = {}
    for steps in steps_by_host(query).values() if hosts is None else hosts:
        for step in judged_steps(steps):
            if step.recovered_from != "whole_capture":
                wanted.setdefault(step.source_id, []).append(step.id)
    found = []
    for source in part_tables.sources_with_steps(query):
        if source.source_id in wanted:
            read = recorded_steps.read(query, stream, source, wanted[source.source_id])
            if read is not None:
                found.append(replayed(read, change))
    return sorted(
        found,
        key=lambda replayed_steps: (
            -replayed_steps.steps * replayed_steps.recorded_ps,
            replayed_steps.source_id,
        ),
    )


def replayed(read: RecordedSteps, change: DurationChange) -> ReplayedSteps:
    """What the steps would take."""
    known = {name for kind in read.kinds if kind.is_op for name in kind.called}
    outcome = ReplayedSteps(
        read.source_id,
        len(read.steps),
        round(read.recorded_ps),
        round(read.replayed_ps),
        held_ps=round(read.core.counts()["held_ps"] / len(read.steps)),
        unknown=tuple(name for name in change.ops if name not in known),
    )
    if read.is_missed:
        return outcome
    kinds = change.lefts(read)
    labels = recorded_steps.numbers({} if change.without is None else {change.without: 0.0})
    unbound = 1 << NUMBER[change.without] if change.without in WAITS else 0
    then = sorted(read.durations(read.core.replay(kinds, labels, unbound=unbound)))
    way = read.core.longest_way(kinds, labels, unbound=unbound)
    outcome = replace(outcome, gaps_ps=round(sum(ps for *of, ps in way if of == _GAP) / len(read.steps)))
    if outcome.gaps_ps > MISSES * outcome.recorded_ps:
        return outcome
    few = len(then) < FEW_STEPS
    return replace(
        outcome,
        then_ps=round(fmean(then)),
        low_ps=None if few else then[len(then) // 10],
        high_ps=None if few else then[-1 - len(then) // 10],
        then=_named(read, way),
    )


def _named(read: RecordedSteps, way: Sequence[tuple[int | None, int | None, int]]) -> dict[str, int]:
    """The critical path of a mean step: time by name."""
    found: dict[str, int] = {}
    for rollup_id, label, took_ps in way:
        number = None if rollup_id is None else read.numbers.get(rollup_id)
        kind = None if number is None else read.kinds[number]
        if kind is not None and kind.is_op:
            name = kind.called[0]
        elif label is not None:
            name = LABELS[label]
        elif [rollup_id, label] == _GAP:
            name = GAPS
        else:
            name = HANDING_OVER if rollup_id is None else OTHER
        found[name] = found.get(name, 0) + took_ps
    least_ps = LEAST_TOLD * sum(found.values())
    means = {name: round(ps / len(read.steps)) for name, ps in found.items() if ps > least_ps}
    return dict(sorted(means.items(), key=lambda mean: (-mean[1], mean[0])))


_GAP = [-1, None]
"""Time of the longest way in which no slice is open, on a track that does not drive the steps."""
HANDING_OVER, OTHER = "handing over between threads", "what other threads do besides ops"
GAPS = "gaps that nothing explains"
LEAST_TOLD = 0.002
"""Smaller parts of the critical path are not listed."""
CAUSES: tuple[Label, ...] = tuple(label for label in get_args(Label) if label not in ("unknown",))
"""What a step can be replayed without."""
