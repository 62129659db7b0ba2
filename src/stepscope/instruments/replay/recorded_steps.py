"""The steps of a source as the core replays them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Any, NamedTuple

from stepscope import _core
from stepscope._core import Replay
from stepscope.instruments.step_breakdown import driver, evidence, labels, stack_samples
from stepscope.instruments.step_breakdown.evidence import SteppedSource, StepSpan
from stepscope.instruments.step_breakdown.evidence_kinds import NOTHING, kinds_by_source
from stepscope.instruments.step_breakdown.labels import LABELS, NUMBER, Label
from stepscope.instruments.step_breakdown.sweep import merged
from stepscope.library.statements import Query, Stream, statement

WAITS: tuple[Label, ...] = ("input", "communication", "idle")
"""Labels under which the driving thread waits for other tracks."""
MISSES = 0.1
"""A replay that misses the recorded step by more than this part of it says nothing of other steps."""
_JOINS: tuple[Label, ...] = ("dispatch",)
"""Labels under which it may wait for what it handed over."""
_OPENS, _CLOSES = "::StartRegion", "::StopRegion"
"""How TensorFlow and XLA mark the begin and the end of work that a thread was handed."""


class SliceKind(NamedTuple):
    """How slices are called: a row of replay_kinds, without its number."""

    place: str
    name: str
    category: str | None
    op: str | None
    op_type: str | None
    op_class: str
    wait: str | None
    is_op: bool

    @property
    def called(self) -> tuple[str, ...]:
        """Its names: the type of the op, the op, and the slice."""
        return tuple(name for name in (self.op_type, self.op, self.name) if name)

    @property
    def waits(self) -> bool:
        """Whether such slices may wait for other tracks. A call of an iterator makes an element itself, or
        waits for the thread that does."""
        if self.place == "device":
            return self.op_class in ("wait", "input")
        if self.op_class in ("wait", "input") or self.wait is not None or self.name.startswith("Iterator::"):
            return True
        return labels.slice_meaning(self.name, self.category, self.is_op, False).label in WAITS

    @property
    def waits_opens_closes(self) -> tuple[bool, bool, bool]:
        """What the core asks of it."""
        return self.waits, self.name.endswith(_OPENS), self.name.endswith(_CLOSES)


@dataclass(frozen=True)
class RecordedSteps:
    """Some steps of a source, and what replays them."""

    source_id: int
    steps: Sequence[StepSpan]
    """Those that are asked for, in order of time."""
    kinds: Sequence[SliceKind]
    numbers: Mapping[int, int]
    """Which of the kinds each row of rollup_op is of: threads that call the same have a row each."""
    core: Replay

    @cached_property
    def recorded_ps(self) -> float:
        """A mean step, as it was recorded."""
        return fmean(step.end_ps - step.ts_ps for step in self.steps)

    @cached_property
    def replayed_ps(self) -> float:
        """The same as it is replayed, with nothing changed."""
        return fmean(self.durations(self.core.replay()))

    @property
    def is_missed(self) -> bool:
        """Whether the replay misses what was recorded."""
        return abs(self.replayed_ps - self.recorded_ps) > MISSES * self.recorded_ps

    def durations(self, moments: Sequence[int]) -> list[int]:
        """How long each step is. moments: of their begins and ends, as the core gives them."""
        return [end - begin for begin, end in zip(moments[::2], moments[1::2], strict=True)]


def read(query: Query, stream: Stream, source: SteppedSource, wanted: Sequence[int]) -> RecordedSteps | None:
    """Steps of a source, by their ids. None where no thread or stream drives them."""
    asked = set(wanted)
    chosen = [step for step in source.steps if step.id in asked]
    if not chosen:
        return None
    tracks: dict[int, bool] = dict(query(statement("replay_tracks", source_id=source.source_id)).rows())
    known: dict[tuple[Any, ...], int] = {}
    numbers = {
        row[0]: known.setdefault(row[1:], len(known))
        for row in query(statement("replay_kinds", source_id=source.source_id)).rows()
    }
    kinds = [SliceKind(*called) for called in known]
    driving = driver.tracks(query, [source.source_id]).get(source.source_id)
    if driving is None or driving not in tracks:
        return None
    begin_ps, end_ps = min(step.ts_ps for step in source.steps), max(step.end_ps for step in source.steps)
    within = {"source_id": source.source_id, "begin_ps": begin_ps, "end_ps": end_ps}
    handled = [kind.waits_opens_closes for kind in kinds]
    core = _core.Replay(
        stream(statement("replay_slices", **within)),
        stream(statement("replay_arrows", **within)),
        tracks,
        driving,
        _doing(query, stream, source),
        [moment for step in chosen for moment in (step.ts_ps, step.end_ps)],
        sum(1 << NUMBER[label] for label in WAITS),
        sum(1 << NUMBER[label] for label in _JOINS),
        {rollup_id: handled[number] for rollup_id, number in numbers.items()},
    )
    return RecordedSteps(source.source_id, chosen, kinds, numbers, core)


def _doing(query: Query, stream: Stream, source: SteppedSource) -> list[tuple[int, int, int]]:
    """What the driving thread does, as slices and samples of its stack tell: from, to, label."""
    kinds = kinds_by_source(query)
    shifts = stack_samples.shifts(query, [source.source_id])
    source_kinds = {source.source_id: kinds.get(source.source_id, NOTHING)}
    found: list[tuple[int, int, int]] = []
    for bit in evidence.evidence_of(query, stream, [source], source_kinds, shifts):
        found += merged(bit.window, bit.evidence.slices, bit.evidence.stacks)
    return found


def numbers(shares: Mapping[str, float]) -> list[float]:
    """What is left of each label, in their order."""
    return [shares.get(label, 1.0) for label in LABELS]
