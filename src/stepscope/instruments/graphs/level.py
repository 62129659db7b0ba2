"""What is seen of a graph when some scopes are open: boxes, the edges between them, and where they lie."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from stepscope import _core
from stepscope.errors import LimitReached
from stepscope.instruments.graphs.hierarchy import DEEPEST, Hierarchy, Scope

MOST_BOXES = 5_000
ALIKE = 3
"""From so many siblings of one shape on, one is shown for all."""
HEIGHT = 34.0
APART = 46.0
"""Between two layers."""
_LETTER = 7.0
_LEAST_WIDTH, _MOST_WIDTH = 64.0, 260.0


@dataclass(frozen=True)
class Box:
    """A node, a closed scope, or siblings that are alike (copies: their number, this one included)."""

    path: str
    name: str
    op_type: str | None
    device: str
    nodes: int
    time_ps: int
    output_bytes: int
    cluster: str
    """XLA cluster of all nodes in it that have one; several where they differ."""
    copies: int
    can_open: bool
    x: float
    y: float
    width: float


@dataclass(frozen=True)
class Edge:
    """Edges between two boxes, by their places among the boxes."""

    producer: int
    consumer: int
    count: int


@dataclass(frozen=True)
class Level:
    """Boxes and edges of a level."""

    boxes: list[Box]
    edges: list[Edge]
    inside: int
    """Edges that begin and end in one box."""


def level(graph: Hierarchy, opened: Collection[str], *, fold: bool = True) -> Level:
    """The boxes when the scopes of these paths are open. fold: show siblings that are alike once, unless one
    of them is open. LimitReached for more than MOST_BOXES."""
    shown = [(one, copies) for one, copies in _shown(graph.root, frozenset(opened), fold)]
    if len(shown) > MOST_BOXES:
        raise LimitReached(
            "There are too many boxes to draw.",
            seen=f"{len(shown):,} boxes; {MOST_BOXES:,} are drawn at most",
            todo="close a scope, or search for the node",
        )
    place: dict[str, int] = {}
    for number, (one, copies) in enumerate(shown):
        for alike in (one, *copies):
            place[alike.path] = number
    home = {name: _home(name, place) for name in graph.nodes}
    between: Counter[tuple[int, int]] = Counter()
    inside = 0
    for producer, consumer in graph.edges:
        pair = home[producer], home[consumer]
        if pair[0] == pair[1]:
            inside += 1
        else:
            between[pair] += 1
    widths = [_width(one, copies) for one, copies in shown]
    layers, lefts = _core.layered_layout(widths, list(between))
    opens = frozenset(opened)
    boxes = [
        _box(one, copies, opens, left, layer * (HEIGHT + APART), width)
        for (one, copies), layer, left, width in zip(shown, layers, lefts, widths, strict=True)
    ]
    return Level(boxes, [Edge(a, b, count) for (a, b), count in between.items()], inside)


def _shown(root: Scope, opened: frozenset[str], fold: bool) -> Iterator[tuple[Scope, list[Scope]]]:
    """Scopes to show, each with those that it stands for. An open scope that is a node as well is shown
    beside what is in it."""
    left = [root]
    while left:
        here = left.pop()
        kinds: dict[bytes, list[Scope]] = {}
        for child in here.children.values():
            kinds.setdefault(child.shape, []).append(child)
        for alike in kinds.values():
            # Single ops differ in what they take; blocks are alike when they hold the same.
            foldable = fold and len(alike) >= ALIKE and bool(alike[0].children)
            if foldable and not any(one.path in opened for one in alike):
                yield alike[0], alike[1:]
                continue
            for one in alike:
                if one.children and one.path in opened:
                    left.append(one)
                    if one.op_type is not None:
                        yield (
                            replace(
                                one, children={}, nodes=1, time_ps=one.own_ps, output_bytes=one.own_bytes
                            ),
                            [],
                        )
                else:
                    yield one, []


def _home(name: str, place: dict[str, int]) -> int:
    """The box that a node is in: that of its nearest scope."""
    if name in place:
        return place[name]
    parts = name.split("/", DEEPEST)
    for many in range(len(parts) - 1, 0, -1):
        found = place.get("/".join(parts[:many]))
        if found is not None:
            return found
    raise KeyError(name)


def _width(one: Scope, copies: list[Scope]) -> float:
    text = one.name + (f"  x{len(copies) + 1}" if copies else "")
    return min(max(len(text) * _LETTER + 20, _LEAST_WIDTH), _MOST_WIDTH)


def _box(one: Scope, copies: list[Scope], opened: frozenset[str], x: float, y: float, width: float) -> Box:
    everyone = (one, *copies)
    return Box(
        path=one.path,
        name=one.name,
        op_type=one.op_type,
        device=one.device or _device(one),
        nodes=sum(each.nodes for each in everyone),
        time_ps=sum(each.time_ps for each in everyone),
        output_bytes=sum(each.output_bytes for each in everyone),
        cluster=_one_of({cluster for each in everyone for cluster in _clusters(each)}),
        copies=len(everyone),
        can_open=bool(one.children) and one.path not in opened,
        x=x,
        y=y,
        width=width,
    )


def _clusters(one: Scope) -> Iterator[str]:
    left = [one]
    while left:
        here = left.pop()
        if here.cluster:
            yield here.cluster
        left += here.children.values()


def _one_of(names: set[str]) -> str:
    return "several" if len(names) > 1 else next(iter(names), "")


def _device(one: Scope) -> str:
    """The device that most of the nodes directly in a scope have."""
    devices = Counter(child.device for child in one.children.values() if child.device)
    return devices.most_common(1)[0][0] if devices else ""
