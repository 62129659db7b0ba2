"""CPU profiles of V8 (`.cpuprofile`): samples over a tree of calls, as Node.js and Chrome's DevTools write.

Format: <https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#type-Profile>.
"""

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from stepscope._core import Store
from stepscope.formats import Damaged, Pieces
from stepscope.formats._profile_events import MOST_BYTES, MOST_DEPTH, Events, exact, listed, member, parse
from stepscope.sources.source import Traits

NAME = "cpuprofile"
TRAITS = Traits(kind="profile", endings=(".cpuprofile", ".json"))
_NODES = re.compile(rb'"nodes"\s*:\s*\[\s*\{')
_US = 10**6
_NOT_CALLED = ("(root)", "(idle)")


def sniff(head: bytes, name: str) -> bool:
    """An object whose nodes are calls of functions."""
    if head.lstrip()[:1] != b"{" or b'"traceEvents"' in head:
        return False
    return _NODES.search(head) is not None and b'"callFrame"' in head


def build(pieces: Pieces) -> Store:
    """What successive samples share as slices of one row. A sample stands for the time until the next one."""
    data = pieces.read(MOST_BYTES)
    whole = parse(data)
    nodes = {node["id"]: node for node in listed(member(whole, "nodes")) if _is_id(member(node, "id"))}
    stacks = dict(_stacks(nodes))
    samples, deltas = listed(member(whole, "samples")), listed(member(whole, "timeDeltas"))
    start, end = exact(member(whole, "startTime")), exact(member(whole, "endTime"))
    if not samples or len(deltas) < len(samples) or start is None:
        raise Damaged("it has no samples with their times")
    lengths = [length if type(length) is int else exact(length) for length in deltas[: len(samples)]]
    times: list[int] = []
    since: int | Fraction = 0
    for length in lengths:
        # V8 has been seen to write deltas below zero: a sample that was taken late.
        since = max(since + (length or 0), 0)
        times.append(int(since * _US))
    order = sorted(range(len(samples)), key=times.__getitem__)
    ends = [times[i] for i in order[1:]]
    ends.append(max(times[order[-1]], int((since if end is None else end - start) * _US)))
    found = [stacks.get(sample) if type(sample) is int else None for sample in samples]
    events = Events(origin_ps=0)
    events.miss(found.count(None))
    events.miss(lengths.count(None))
    events.thread(1, 1, "JavaScript", "main")
    events.stacks(zip([found[i] or [] for i in order], [times[i] for i in order], ends, strict=True), 1, 1)
    return events.store(pieces, data, "unknown")


def _is_id(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _stacks(nodes: dict[int, Any]) -> Iterator[tuple[int, list[str]]]:
    """The stack of each node from the outermost call, by its id."""
    above: dict[int, int] = {}
    for number_, node in nodes.items():
        for child in listed(member(node, "children")):
            if _is_id(child) and child in nodes:
                above.setdefault(child, number_)
    for number_ in nodes:
        stack: list[str] = []
        at: int | None = number_
        met: set[int] = set()
        while at is not None and at not in met and len(stack) < MOST_DEPTH:
            met.add(at)
            name = _name(member(nodes[at], "callFrame"))
            if name not in _NOT_CALLED:
                stack.append(name)
            at = above.get(at)
        yield number_, stack[::-1]


def _name(frame: Any) -> str:
    """A call as `function (file:line)`; lines count from 0 in the file."""
    name, url, line = (member(frame, key) for key in ("functionName", "url", "lineNumber"))
    place = f" ({url}:{line + 1})" if url and _is_id(line) else ""
    return f"{name or '(anonymous)'}{place}"
