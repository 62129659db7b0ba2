"""What is odd about a recording's iterators, so that a diagnosis is less sure: told, and never in the way."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from stepscope import units
from stepscope.instruments.pipeline.calls import Call
from stepscope.instruments.pipeline.stages import is_taken


def oddities(calls: Sequence[Call]) -> list[str]:
    """Sentences on ids that collide, parents in a circle, and consumers that never returned."""
    names: defaultdict[str, set[str]] = defaultdict(set)
    parents: dict[str, str] = {}
    for call in calls:
        if call.kind == "next" and call.stage is not None:
            names[call.stage].add(call.name.partition("[")[0])
            if call.consumer is not None:
                parents.setdefault(call.stage, call.consumer)
    said = []
    shared = sum(len(same) > 1 for same in names.values())
    if shared:
        said.append(
            f"{units.count(shared, 'iterator id')} {units.agree(shared, 'belongs', 'belong')} to several "
            "stages, so stages may hold each other's times. Record again."
        )
    circles = _circles(parents)
    if circles:
        said.append(
            f"By their ids, {units.count(circles, 'iterator')} {units.agree(circles, 'consumes', 'consume')} "
            f"{units.agree(circles, 'itself', 'themselves')}, which cannot be right: the tree of stages is "
            "cut there."
        )
    open_ended = {parent for parent in parents.values() if parent not in names}
    taken = any(call.kind == "fetch" or is_taken(call) for call in calls)
    if open_ended and not taken:
        said.append(
            f"{units.count(len(open_ended), 'iterator')} never returned during the recording: calls "
            "are recorded when they end. Record for longer than the slowest batch takes."
        )
    return said


def _circles(parents: dict[str, str]) -> int:
    """Iterators from which the way to the root comes back to where it began."""
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
