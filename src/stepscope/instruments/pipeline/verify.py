"""Prediction against measurement: what was changed between two captures of a program, and what it gained."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from stepscope.instruments.pipeline.changes import HELPS, Change
from stepscope.instruments.pipeline.places import Place
from stepscope.instruments.pipeline.verdict import Diagnosis


@dataclass(frozen=True)
class Recorded:
    """A capture: its diagnosis, and the chain of datasets that the user wrote."""

    diagnosis: Diagnosis
    places: Sequence[Place]


@dataclass(frozen=True)
class Verification:
    """A change and what it gained. Times are of traced steps on both sides, which cost the same."""

    edits: tuple[str, ...]
    """What differs between the two pipelines, in sentences."""
    change: Change | None
    """The change that was predicted; None when none of those that were tried is what was made."""
    before_ps: int
    after_ps: int

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
    """Holds one against the other; None when one of them has no steps to measure."""
    if before.diagnosis.waits is None or after.diagnosis.waits is None:
        return None
    edits = list(_edits(before.places, after.places))
    names = [name for name, _ in edits] or list(_by_stages(before.diagnosis, after.diagnosis))
    made = next((one for name in names for one in before.diagnosis.changes if one.name == name), None)
    said = [sentence for _, sentence in edits]
    if not said:
        said = ["The chain of datasets is the same: what changed is inside of a function, or elsewhere."]
    return Verification(tuple(said), made, before.diagnosis.waits.step_ps, after.diagnosis.waits.step_ps)


_ADDED = {"cache": "cache_here", "prefetch": "prefetch"}
_PARALLEL = {
    "map": "parallelise_map",
    "batch": "parallelise_batch",
    "padded_batch": "parallelise_batch",
    "interleave": "parallelise_reading",
}


def _edits(before: Sequence[Place], after: Sequence[Place]) -> Iterator[tuple[str, str]]:
    """Names of the changes that were made, and what was done, from the two chains."""
    old, new = _chain(before), _chain(after)
    words, others = [one.transformation for one in old], [one.transformation for one in new]
    for kind, i, j in _aligned(words, others):
        if kind == "added":
            yield _ADDED.get(others[j], ""), f"{others[j]} was added{_at(new[j])}."
        elif kind == "removed":
            name = "list_files_once" if words[i] == "list_files" else ""
            yield name, f"{words[i]} was removed{_at(old[i])}."
        else:
            calls, now = (_arguments(one).get("num_parallel_calls") for one in (old[i], new[j]))
            if calls != now:
                name = _PARALLEL.get(words[i], "")
                if calls is not None and words[i] == "map":
                    name = "raise_parallelism"
                yield (
                    name,
                    f"num_parallel_calls of {words[i]} is {_told(now)}, was {_told(calls)}{_at(new[j])}.",
                )


def _told(calls: Any) -> str:
    return {None: "none", -1: "AUTOTUNE"}.get(calls, str(calls))


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


def _at(place: Place) -> str:
    return f" ({place.file}:{place.line})" if place.file and place.line else ""


def _by_stages(before: Diagnosis, after: Diagnosis) -> Iterator[str]:
    """Names of the changes that would explain how the stages differ, where the chains do not."""
    worst = before.bottleneck
    if worst is None:
        return
    if worst.python and not any(load.python for load in after.loads):
        yield "drop_python"
    same = next((load for load in after.loads if load.stage.name == worst.stage.name), None)
    # Half, give or take: what was predicted was that, and not any less work.
    if same is not None and 0.35 <= same.work_ps / max(worst.work_ps, 1) <= 0.65:
        yield "halve_work"
