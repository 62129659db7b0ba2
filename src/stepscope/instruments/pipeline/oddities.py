"""Oddities of a recording that make a diagnosis less certain."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Literal, NamedTuple

from stepscope.instruments.pipeline.calls import StageCall

Kind = Literal["lost", "waits", "shared_ids", "circle", "never_returned"]


class Oddity(NamedTuple):
    """lost: a part of the recording is missing. waits: steps wait, and no stage is known. shared_ids: several
    stages share ids. circle: iterators consume themselves, by their ids. never_returned: no call of an
    iterator ended."""

    kind: Kind
    number: int = 1
    """How many ids or iterators."""
    detail: str = ""
    """For lost: the text of the source's note; for waits: how much of the steps."""


def oddities(calls: Sequence[StageCall]) -> list[Oddity]:
    """Ids that collide, parents in a circle, and consumers that never returned."""
    names: defaultdict[str, set[str]] = defaultdict(set)
    parents: dict[str, str] = {}
    for call in calls:
        if call.kind == "next" and call.stage is not None:
            names[call.stage].add(call.name.partition("[")[0])
            if call.consumer is not None:
                parents.setdefault(call.stage, call.consumer)
    found = []
    if shared := sum(len(same) > 1 for same in names.values()):
        found.append(Oddity("shared_ids", shared))
    if circles := _circles(parents):
        found.append(Oddity("circle", circles))
    open_ended = {parent for parent in parents.values() if parent not in names}
    taken = any(call.kind == "fetch" or call.takes_batch for call in calls)
    if open_ended and not taken:
        found.append(Oddity("never_returned", len(open_ended)))
    return found


def _circles(parents: dict[str, str]) -> int:
    """Iterators whose way to the root leads back to their beginning."""
    sound: set[str] = set()
    inside: set[str] = set()
    for start in parents:
        way: list[str] = []
        at: str | None = start
        here: set[str] = set()
        while at is not None and at not in sound and at not in inside and at not in here:
            here.add(at)
            way.append(at)
            at = parents.get(at)
        if at is not None and at in here:
            inside.update(way[way.index(at) :])
        sound.update(here - inside)
    return len(inside)
