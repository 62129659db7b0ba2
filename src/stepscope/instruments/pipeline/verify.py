"""Prediction and measurement: what changed between two captures of a program, and what it gained."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any, Literal, NamedTuple

from stepscope import strict_json
from stepscope.instruments.pipeline.changes import PredictedChange
from stepscope.instruments.pipeline.diagnosis import Diagnosis
from stepscope.instruments.pipeline.host import OTHERS
from stepscope.instruments.pipeline.load import Load
from stepscope.instruments.pipeline.places import UserStage
from stepscope.instruments.pipeline.stages import words
from stepscope.instruments.pipeline.trials import HELPS


@dataclass(frozen=True)
class Recorded:
    """A capture: its diagnosis, and the user's chain of datasets."""

    diagnosis: Diagnosis
    places: Sequence[UserStage]


class Neighbours(NamedTuple):
    """Cores that other programs kept busy during the steps of two captures, and the number of cores."""

    before: float
    after: float
    cores: int

    @property
    def changed(self) -> bool:
        """Whether their use changed enough to change the step by itself."""
        return abs(self.after - self.before) >= OTHERS * self.cores


class ChainEdit(NamedTuple):
    """A difference between two chains of datasets. before, after: num_parallel_calls; -1 is AUTOTUNE."""

    kind: Literal["added", "removed", "parallelism"]
    place: UserStage
    """The transformation, in the chain that has it; for parallelism, in the new one."""
    before: int | None = None
    after: int | None = None


@dataclass(frozen=True)
class Verification:
    """A change and its gain. Times are of untraced steps where both captures have them, else of traced
    steps."""

    edits: tuple[ChainEdit, ...]
    """What differs between the two pipelines; empty when the change is elsewhere."""
    change: PredictedChange | None
    """The predicted change that was made; None when the change was not predicted."""
    before_ps: int
    after_ps: int
    untraced: bool = False
    """Times are of untraced steps."""
    neighbours: Neighbours | None = None
    """Load from other programs; None where a capture does not record it."""
    turns: int = 1
    """Number of recordings of each program, in turns."""

    @property
    def disturbed(self) -> bool:
        """Other programs changed their load, so the comparison says nothing."""
        return self.neighbours is not None and self.neighbours.changed

    @property
    def ratio(self) -> float:
        """The step after the change as part of the step before."""
        return self.after_ps / max(self.before_ps, 1)

    @property
    def helped(self) -> bool:
        """The step became shorter by at least a twentieth."""
        return self.ratio <= 1 - HELPS

    @property
    def as_predicted(self) -> bool | None:
        """Whether the measured step lies in the predicted interval; None without a prediction, or when other
        programs changed their load."""
        if self.change is None or self.change.unknown or self.disturbed:
            return None
        return self.change.prediction.low_ps <= self.after_ps <= self.change.prediction.high_ps


def verify(before: Recorded, after: Recorded) -> Verification | None:
    """Compares two captures; None when one of them has no steps to measure."""
    return compare([before], [after])


def compare(before: Sequence[Recorded], after: Sequence[Recorded]) -> Verification | None:
    """Compares captures made in turns: before, after, before, after. The first two show what changed. None
    when one of them has no steps to measure."""
    everything = [*before, *after]
    if not before or not after or any(recorded.diagnosis.waits is None for recorded in everything):
        return None
    untraced = all(recorded.diagnosis.pace is not None for recorded in everything)
    before_ps, after_ps = (
        round(median(_step(recorded, untraced) for recorded in side)) for side in (before, after)
    )
    predicted, measured = before[0].diagnosis, after[0].diagnosis
    edits = list(_edits(before[0].places, after[0].places))
    made = _change_made(edits, predicted, measured)
    if made is not None and predicted.step_ps:
        made = replace(made, prediction=made.prediction.times(before_ps / predicted.step_ps))
    return Verification(
        tuple(edit for _, edit, _ in edits),
        made,
        before_ps,
        after_ps,
        untraced,
        _neighbours(before, after),
        min(len(before), len(after)),
    )


def _change_made(
    edits: Sequence[tuple[str | None, ChainEdit, UserStage | None]], predicted: Diagnosis, measured: Diagnosis
) -> PredictedChange | None:
    """The predicted change that the edits, or else the stages, show was made."""
    names = [name for name, edit, at in edits if name and _is_meant(at, edit, predicted)]
    seen = list(_changes_of_stages(predicted, measured))
    # If Python is gone, that was the change, whatever chain replaces it.
    names = [*(name for name in seen if name == "drop_python"), *names] if edits else seen
    alike = [alias for name in names for alias in (name, *_ALIKE.get(name, ()))]
    return next((change for name in alike for change in predicted.changes if change.name == name), None)


def _step(recorded: Recorded, untraced: bool) -> int:
    waits = recorded.diagnosis.waits
    traced = 0 if waits is None else waits.step_ps
    return (recorded.diagnosis.step_ps or traced) if untraced else traced


def _neighbours(before: Sequence[Recorded], after: Sequence[Recorded]) -> Neighbours | None:
    machines = [[recorded.diagnosis.machine for recorded in side] for side in (before, after)]
    known = [[machine for machine in side if machine is not None] for side in machines]
    if not all(known) or any(machine.process_cores is None for side in known for machine in side):
        return None
    was, now = (median(machine.others for machine in side) for side in known)
    return Neighbours(was, now, known[0][0].cores)


def _is_meant(at: UserStage | None, edit: ChainEdit, diagnosis: Diagnosis) -> bool:
    """Whether an edit changes the stage of the predictions. at: the edited transformation, or the one before
    an added one. A stage may stand for several: TensorFlow fuses map and batch."""
    if edit.place.transformation == "prefetch" or not diagnosis.changes:
        return True
    stage = next(
        (place for place in diagnosis.places if place.branch_name == diagnosis.changes[0].stage), None
    )
    if stage is None or at is None:
        return True
    return (at.position, at.transformation) in {
        (place.position, place.transformation) for place in diagnosis.places[stage]
    }


_ALIKE = {"parallelise_map": ("raise_parallelism",), "raise_parallelism": ("parallelise_map",)}
"""A map that the program wrote without num_parallel_calls may run on some threads already, when fused."""
_ADDED = {"cache": "cache_here", "prefetch": "prefetch"}
_PARALLEL = {
    "map": "parallelise_map",
    "batch": "parallelise_batch",
    "padded_batch": "parallelise_batch",
    "interleave": "parallelise_reading",
}


def _edits(
    before: Sequence[UserStage], after: Sequence[UserStage]
) -> Iterator[tuple[str, ChainEdit, UserStage | None]]:
    """Changes between two chains: name, edit, and transformation of the old chain."""
    old, new = _chain(before), _chain(after)
    words, others = [stage.transformation for stage in old], [stage.transformation for stage in new]
    for kind, i, j in _aligned(words, others):
        if kind == "added":
            yield _ADDED.get(others[j], ""), ChainEdit("added", new[j]), old[i - 1] if i else None
        elif kind == "removed":
            name = "list_files_once" if words[i] == "list_files" else ""
            yield name, ChainEdit("removed", old[i]), old[i]
        else:
            calls, now = (_arguments(stage).get("num_parallel_calls") for stage in (old[i], new[j]))
            if calls != now:
                name = _PARALLEL.get(words[i], "")
                if calls is not None and words[i] == "map":
                    name = "raise_parallelism"
                yield name, ChainEdit("parallelism", new[j], calls, now), old[i]


def _aligned(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """Transformations that were added, removed and kept, from the end of the chains to the source."""
    from difflib import SequenceMatcher

    for what, i, end, j, last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what == "equal":
            yield from (("kept", i + k, j + k) for k in range(end - i))
            continue
        yield from (("removed", k, j) for k in range(i, end))
        yield from (("added", i, k) for k in range(j, last))


def _chain(places: Sequence[UserStage]) -> list[UserStage]:
    """The chain of the first iterator, sources first."""
    first = min((place.iterator for place in places), default=0)
    return sorted((place for place in places if place.iterator == first), key=lambda stage: stage.position)


def _arguments(place: UserStage) -> dict[str, Any]:
    return strict_json.members(place.arguments)


def _changes_of_stages(before: Diagnosis, after: Diagnosis) -> Iterator[str]:
    """Names of the changes that would explain a difference of the stages, where the chains are equal."""
    name = before.changes[0].stage if before.changes else None
    worst = before.bottleneck or _named(before.loads, name)
    if worst is None:
        return
    if worst.python and not any(load.python for load in after.loads):
        yield "drop_python"
    same = _named(after.loads, worst.stage.branch_name)
    if same is None:
        same = _fused(worst, after.loads)
        if same is not None and same.width > worst.width and worst.stage.short == "Map":
            yield "parallelise_map"
    # About half: that was predicted, and not less work in general.
    if same is not None and 0.35 <= same.work_ps / max(worst.work_ps, 1) <= 0.65:
        yield "halve_work"


def _named(loads: Sequence[Load], name: str | None) -> Load | None:
    return next((load for load in loads if load.stage.branch_name == name), None)


def _fused(load: Load, others: Sequence[Load]) -> Load | None:
    """The stage that does another one's work. TensorFlow may fuse stages, or stop doing so: Map and BatchV2,
    or MapAndBatch."""
    written = set(words(load.stage.user_stage))
    alike = [other for other in others if written & set(words(other.stage.user_stage))]
    placed_alike = [other for other in alike if other.stage.position == load.stage.position]
    return next(iter(placed_alike or alike), None)
