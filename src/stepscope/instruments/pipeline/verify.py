"""Prediction against measurement: what was changed between two captures of a program, and what it gained."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from stepscope.instruments.pipeline.changes import Change
from stepscope.instruments.pipeline.places import Place
from stepscope.instruments.pipeline.trials import HELPS
from stepscope.instruments.pipeline.verdict import Diagnosis


@dataclass(frozen=True)
class Recorded:
    """A capture: its diagnosis, and the chain of datasets that the user wrote."""

    diagnosis: Diagnosis
    places: Sequence[Place]


class Edit(NamedTuple):
    """What differs between two chains of datasets. before, after: num_parallel_calls; -1 is AUTOTUNE."""

    kind: Literal["added", "removed", "parallelism"]
    place: Place
    """The transformation, in the chain that has it; of parallelism in the new one."""
    before: int | None = None
    after: int | None = None


@dataclass(frozen=True)
class Verification:
    """A change and what it gained. Times are of steps that were not traced where both captures tell them,
    else of traced steps on both sides."""

    edits: tuple[Edit, ...]
    """What differs between the two pipelines; nothing when what changed is elsewhere."""
    change: Change | None
    """The change that was predicted; None when none of those that were tried is what was made."""
    before_ps: int
    after_ps: int
    untraced: bool = False
    """Times are of steps that were not traced."""

    @property
    def ratio(self) -> float:
        """The step after the change as part of the step before."""
        return self.after_ps / max(self.before_ps, 1)

    @property
    def helped(self) -> bool:
        """The step became at least a twentieth shorter."""
        return self.ratio <= 1 - HELPS

    @property
    def as_predicted(self) -> bool | None:
        """Whether the measured step lies in the interval that was predicted; None without a prediction."""
        if self.change is None or self.change.unknown:
            return None
        return self.change.prediction.low_ps <= self.after_ps <= self.change.prediction.high_ps


def verify(before: Recorded, after: Recorded) -> Verification | None:
    """Compares one with the other; None when one of them has no steps to measure."""
    told, measured = before.diagnosis, after.diagnosis
    if told.waits is None or measured.waits is None:
        return None
    before_ps, after_ps = told.waits.step_ps, measured.waits.step_ps
    untraced = told.pace is not None and measured.pace is not None
    if untraced:
        before_ps, after_ps = told.step_ps or before_ps, measured.step_ps or after_ps
    edits = list(_edits(before.places, after.places))
    names = [name for name, _ in edits] or list(_by_stages(told, measured))
    made = next((one for name in names for one in told.changes if one.name == name), None)
    if made is not None and told.step_ps:
        made = replace(made, prediction=made.prediction.times(before_ps / told.step_ps))
    return Verification(tuple(edit for _, edit in edits), made, before_ps, after_ps, untraced)


_ADDED = {"cache": "cache_here", "prefetch": "prefetch"}
_PARALLEL = {
    "map": "parallelise_map",
    "batch": "parallelise_batch",
    "padded_batch": "parallelise_batch",
    "interleave": "parallelise_reading",
}


def _edits(before: Sequence[Place], after: Sequence[Place]) -> Iterator[tuple[str, Edit]]:
    """Names of the changes that were made, and what was done, from the two chains."""
    old, new = _chain(before), _chain(after)
    words, others = [one.transformation for one in old], [one.transformation for one in new]
    for kind, i, j in _aligned(words, others):
        if kind == "added":
            yield _ADDED.get(others[j], ""), Edit("added", new[j])
        elif kind == "removed":
            name = "list_files_once" if words[i] == "list_files" else ""
            yield name, Edit("removed", old[i])
        else:
            calls, now = (_arguments(one).get("num_parallel_calls") for one in (old[i], new[j]))
            if calls != now:
                name = _PARALLEL.get(words[i], "")
                if calls is not None and words[i] == "map":
                    name = "raise_parallelism"
                yield name, Edit("parallelism", new[j], calls, now)


def _aligned(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """What was added, removed and kept, from the end of the chains that is the source on."""
    from difflib import SequenceMatcher

    for what, i, end, j, last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what == "equal":
            yield from (("kept", i + k, j + k) for k in range(end - i))
            continue
        yield from (("removed", k, j) for k in range(i, end))
        yield from (("added", i, k) for k in range(j, last))


def _chain(places: Sequence[Place]) -> list[Place]:
    """The chain of the first iterator, sources first."""
    first = min((one.iterator for one in places), default=0)
    return sorted((one for one in places if one.iterator == first), key=lambda one: one.position)


def _arguments(place: Place) -> dict[str, Any]:
    found = json.loads(place.arguments)
    return found if isinstance(found, dict) else {}


def _by_stages(before: Diagnosis, after: Diagnosis) -> Iterator[str]:
    """Names of the changes that would explain how the stages differ, where the chains do not."""
    name = before.changes[0].stage if before.changes else None
    worst = before.bottleneck or next((load for load in before.loads if load.stage.name == name), None)
    if worst is None:
        return
    if worst.python and not any(load.python for load in after.loads):
        yield "drop_python"
    same = next((load for load in after.loads if load.stage.name == worst.stage.name), None)
    # Half, give or take: what was predicted was that, and not any less work.
    if same is not None and 0.35 <= same.work_ps / max(worst.work_ps, 1) <= 0.65:
        yield "halve_work"
