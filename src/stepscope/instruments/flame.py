"""Samples of stacks as a tree of calls for each thread: what a flame graph draws.

Lines of the program stay apart; a function of a library is one box whatever line of it runs. Frames of
libraries that do nothing but call the next one become one box with it, and small ones are folded.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from stepscope.library.statements import Query, statement

SMALLEST = 0.003
"""Part of a thread's time below which a frame is folded into what calls it."""
MOST_BOXES = 1000
"""Of a thread; where there are more, larger ones are folded as well."""
MOST_DEPTH = 120
"""Boxes on top of each other; what lies deeper is folded."""
_ALL = 0.995
"""A frame whose one callee has this part of its time only passes the call on."""


class FlameFrame(NamedTuple):
    """A function, or a line of one that belongs to the program."""

    function: str
    file: str | None
    line: int | None
    code: str


class FlameBox(NamedTuple):
    """A frame, or several that pass a call on, within what called them."""

    depth: int
    frames: tuple[FlameFrame, ...]
    """The outermost first; none for frames that are folded."""
    time_ps: int
    own_ps: int
    """Time in which it is the innermost."""
    labels: Mapping[str, int]
    """Picoseconds by part of the steps; empty where no steps are known."""
    folded: int
    """How many frames are folded into it."""


class Flame(NamedTuple):
    """The calls of one thread; a box comes before those in it, larger ones first."""

    run_id: str
    host_id: str
    thread: str | None
    steps: int | None
    """Steps whose time this is; None for all of the recording."""
    steps_ps: int
    """Their durations, added up."""
    time_ps: int
    """What samples cover of it."""
    boxes: tuple[FlameBox, ...]
    folded: int
    """How many frames were folded."""
    least_ps: int
    """Frames with less time were folded."""


@dataclass(eq=False)
class _Node:
    frame: FlameFrame
    parent: _Node | None
    labels: Counter[str] = field(default_factory=Counter)
    own_ps: int = 0
    inside: dict[FlameFrame, _Node] = field(default_factory=dict)
    time_ps: int = 0
    frames: int = 1


_Open = list[tuple[int, "_Node | FlameBox"]]
"""Depths and what is to be drawn there, the next one last."""


def find(query: Query) -> list[Flame]:
    """The thread that runs the steps of each host, in its steps where it has some; then the other threads,
    by the processor time that they used."""
    known = _stacks(query(statement("stack_frames")).rows())
    drawn: list[Flame] = []
    in_steps: dict[tuple[str, str], list[tuple[int, str, int]]] = defaultdict(list)
    counts: dict[tuple[str, str], tuple[int, int]] = {}
    for run, host, stack, label, time_ps, steps, steps_ps in query(statement("stacks_in_steps")).rows():
        in_steps[run, host].append((stack, label, time_ps))
        counts[run, host] = steps, steps_ps
    threads: dict[tuple[str, str, str | None, bool], list[tuple[int, str, int]]] = defaultdict(list)
    ran: Counter[tuple[str, str, str | None, bool]] = Counter()
    for run, host, name, main, stack, time_ps, cpu_ps in query(statement("thread_stacks")).rows():
        threads[run, host, name, main].append((stack, "", time_ps))
        ran[run, host, name, main] += cpu_ps
    for key in sorted(threads, key=lambda key: (not key[3], -ran[key], key[0], key[1], key[2] or "")):
        run, host, name, main = key
        threads_in_steps = in_steps.get((run, host)) if main else None
        steps, steps_ps = counts[run, host] if threads_in_steps else (None, 0)
        flame = _flame(known, threads_in_steps or threads[key])
        if flame is not None:
            drawn.append(Flame(run, host, name, steps, steps_ps, *flame))
    return drawn


_Known = dict[int, tuple[int | None, FlameFrame]]


def _stacks(rows: Iterable[tuple[Any, ...]]) -> _Known:
    """The stack around each stack, and its innermost frame. A stack comes after the one around it: what does
    not is not believed."""
    known: _Known = {}
    for stack, parent, function, file, line, code in rows:
        frame = FlameFrame(function, file, line if code == "program" else None, code)
        known[stack] = (parent if parent in known else None, frame)
    return known


def _flame(
    known: _Known, weights: Iterable[tuple[int, str, int]]
) -> tuple[int, tuple[FlameBox, ...], int, int] | None:
    """Time, boxes, how many frames are folded, and below which time; None without any time."""
    roots: dict[FlameFrame, _Node] = {}
    nodes: dict[int, _Node] = {}
    order: list[_Node] = []

    def node(stack: int) -> _Node | None:
        path = []
        at: int | None = stack
        while at is not None and at not in nodes and at in known:
            path.append(at)
            at = known[at][0]
        found = nodes.get(at) if at is not None else None
        for stack_id in reversed(path):
            inside = roots if found is None else found.inside
            frame = known[stack_id][1]
            if frame not in inside:
                inside[frame] = _Node(frame, found)
                order.append(inside[frame])
            found = nodes[stack_id] = inside[frame]
        return found

    for stack, label, time_ps in weights:
        if time_ps > 0 and (leaf := node(stack)) is not None:
            leaf.own_ps += time_ps
            leaf.labels[label] += time_ps
    for inner in reversed(order):
        inner.time_ps += inner.own_ps
        if inner.parent is not None:
            inner.parent.time_ps += inner.time_ps
            inner.parent.frames += inner.frames
            inner.parent.labels.update(inner.labels)
    whole = sum(root.time_ps for root in roots.values())
    if not whole:
        return None
    least = whole * SMALLEST
    while True:
        boxes = list(_boxes(roots, least))
        shown = tuple(box for box in boxes if box.frames or box.time_ps >= least)
        if len(shown) <= MOST_BOXES:
            break
        least *= 1.5
    return whole, shown, sum(box.folded for box in boxes), round(least)


def _boxes(roots: Mapping[FlameFrame, _Node], least: float) -> Iterator[FlameBox]:
    """Boxes of at least some picoseconds; smaller ones are one box together, at the end of what called
    them."""
    open_: _Open = []
    _push(open_, 0, roots, least)
    while open_:
        depth, entry = open_.pop()
        if isinstance(entry, FlameBox):
            yield entry
            continue
        frames, last = [entry.frame], entry
        while (only := _passed_on(last)) is not None:
            frames.append(only.frame)
            last = only
        labels = {label: time_ps for label, time_ps in entry.labels.items() if label}
        inside = sum(inner.time_ps for inner in last.inside.values())
        yield FlameBox(depth, tuple(frames), entry.time_ps, entry.time_ps - inside, labels, 0)
        _push(open_, depth + 1, last.inside, least)


def _push(
    open_: list[tuple[int, _Node | FlameBox]], depth: int, inside: Mapping[FlameFrame, _Node], least: float
) -> None:
    """Puts what to draw next on the stack, the last first."""
    ordered = sorted(inside.values(), key=lambda node: (-node.time_ps, _text(node.frame)))
    kept = [node for node in ordered if node.time_ps >= least and depth < MOST_DEPTH]
    small = ordered[len(kept) :]
    if small:
        labels: Counter[str] = Counter()
        for node in small:
            labels.update(node.labels)
        del labels[""]
        sums = sum(node.time_ps for node in small), sum(node.frames for node in small)
        open_.append((depth, FlameBox(depth, (), sums[0], sums[0], labels, sums[1])))
    open_ += [(depth, node) for node in reversed(kept)]


def _passed_on(node: _Node) -> _Node | None:
    """The one frame that a library's frame calls, and gives all its time to."""
    if node.frame.code == "program" or len(node.inside) != 1:
        return None
    (only,) = node.inside.values()
    return only if only.frame.code != "program" and only.time_ps >= _ALL * node.time_ps else None


def _text(frame: FlameFrame) -> tuple[str, str, int]:
    return frame.function, frame.file or "", frame.line or 0
