"""A graph with some scopes open: boxes, the edges between them, and their layout."""

import math
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from stepscope import _core
from stepscope.background import go_on
from stepscope.errors import LimitReached
from stepscope.instruments.graphs.hierarchy import SEVERAL, GraphScope, Hierarchy

MOST_BOXES = 200_000
ALIKE = 3
"""From this many siblings of one shape on, one box stands for all."""
HEIGHT = 34.0
APART = 46.0
"""Space between two layers."""
_BESIDE = 16.0
_BETWEEN_ROWS = 10.0
"""Space between the rows of one layer."""
_LEAST_ROOM = 4_000.0
_FLATNESS = 3.0
"""Widest drawing, in multiples of its height, before a layer is split into rows."""
LETTER = 7.0
SMALL_LETTER = 6.0
"""Width of a letter in the line below the name: the op type, or the number of nodes."""
_LEAST_WIDTH, _MOST_WIDTH = 64.0, 260.0


@dataclass(frozen=True)
class GraphBox:
    """A node, a closed scope, or identical siblings (copies: their number, this one included)."""

    path: str
    name: str
    op_type: str | None
    device: str
    nodes: int
    time_ps: int
    output_bytes: int
    cluster: str
    """XLA cluster of its nodes, where they have one; several where they differ."""
    copies: int
    can_open: bool
    x: float
    y: float
    width: float
    height: float = HEIGHT


@dataclass(frozen=True)
class BoxEdge:
    """Edges between two boxes, by index."""

    producer: int
    consumer: int
    count: int


@dataclass(frozen=True)
class Level:
    """Boxes and edges of a level."""

    boxes: list[GraphBox]
    edges: list[BoxEdge]
    inside: int
    """Edges that begin and end in one box."""
    outside: int
    """Edges with an end outside the drawing."""
    left_out: int = 0
    """Nodes that are arguments or constants, and not drawn."""


def level(
    graph: Hierarchy,
    opened: Collection[str],
    *,
    fold: bool = True,
    flat: bool = False,
    given: bool = True,
    within: GraphScope | None = None,
) -> Level:
    """The boxes when these scopes are open. fold: draw identical siblings once, unless one of them is open.
    flat: draw all nodes and no scope. given: False leaves out boxes that hold only arguments and constants,
    unless there are no others. within: draw this scope only. LimitReached for more than MOST_BOXES."""
    top = within or graph.root
    opens = frozenset(opened)
    shown, left_out = _drawn(top, opens, fold=fold, flat=flat, given=given)
    if len(shown) > MOST_BOXES:
        raise LimitReached(
            "There are too many boxes to draw.",
            seen=f"{len(shown):,} boxes; {MOST_BOXES:,} are drawn at most",
            todo="close a scope, or search for the node",
        )
    go_on()
    at = _box_of_nodes(graph, shown).__getitem__
    between = Counter(zip(map(at, graph.producers), map(at, graph.consumers), strict=True))
    inside = sum(between.pop((box, box), 0) for box in range(len(shown)))
    outside = sum(between.pop(pair) for pair in [pair for pair in between if -1 in pair])
    go_on()
    widths = [_width(scope, copies) for scope, copies in shown]
    places = _places(widths, list(between))
    go_on()
    boxes = [
        _box(scope, copies, opens, x, y, width)
        for (scope, copies), (x, y), width in zip(shown, places, widths, strict=True)
    ]
    return Level(
        boxes, [BoxEdge(a, b, count) for (a, b), count in between.items()], inside, outside, left_out
    )


def _box_of_nodes(graph: Hierarchy, shown: Sequence[tuple[GraphScope, list[GraphScope]]]) -> list[int]:
    """The index of the box of each node, -1 for none."""
    home = [-1] * (graph.root.last + 1)
    for number, (scope, copies) in enumerate(shown):
        for alike in (scope, *copies):
            home[alike.first : alike.last] = [number] * (alike.last - alike.first)
    return home


def _drawn(
    top: GraphScope, opens: frozenset[str], *, fold: bool, flat: bool, given: bool
) -> tuple[list[tuple[GraphScope, list[GraphScope]]], int]:
    """The boxes to draw, each with the identical ones that it stands for, and the number of nodes left
    out."""
    shown = list(_shown(top, opens, fold)) if not flat else [(scope, []) for scope in _alone(top)]
    if top.op_type is not None and not flat:
        shown.append((_only(top), []))
    left_out = 0
    if not given:
        kept = [(scope, copies) for scope, copies in shown if not _is_given(scope, opens)]
        if kept:
            left_out = sum(scope.nodes for scope, _ in shown) - sum(scope.nodes for scope, _ in kept)
            shown = kept
    return shown, left_out


_GIVEN = frozenset(
    {
        "Const", "HostConst", "Placeholder", "PlaceholderWithDefault", "PlaceholderV2", "_Arg", "_DeviceArg",
        "VarHandleOp", "VariableV2", "Variable", "ReadVariableOp", "NoOp", "constant", "parameter", "iota",
        "partition-id", "replica-id",
    }
)  # fmt: skip
"""Op types that compute nothing: arguments, variables and constants of a graph or an XLA program."""


def _is_given(scope: GraphScope, opened: frozenset[str]) -> bool:
    """Whether a scope computes nothing. A scope that the user opened is kept."""
    if any(path == scope.path or path.startswith(f"{scope.path}/") for path in opened):
        return False
    left = [scope]
    while left:
        here = left.pop()
        if here.op_type is not None and here.op_type not in _GIVEN:
            return False
        left += here.children.values()
    return True


def alike(scope: GraphScope, *, fold: bool = True) -> list[list[GraphScope]]:
    """The children of a scope: identical blocks grouped when there are enough, the rest one by one. fold:
    False lists all of them one by one."""
    if not fold:
        return [[child] for child in scope.children.values()]
    kinds: dict[bytes, list[GraphScope]] = {}
    for child in scope.children.values():
        kinds.setdefault(child.shape, []).append(child)
    found: list[list[GraphScope]] = []
    for group in kinds.values():
        # Single ops have different inputs; blocks are identical when they hold the same ops.
        together = len(group) >= ALIKE and bool(group[0].children)
        found += [group] if together else [[graph_scope] for graph_scope in group]
    return found


def scopes_open(top: GraphScope, depth: int, *, fold: bool = True) -> list[str]:
    """Paths of the scopes to open to show `depth` levels. fold: identical blocks stay closed."""
    found: list[str] = []
    left = [(top, 1)]
    while left:
        here, around = left.pop()
        if around < depth:
            inner = [group[0] for group in alike(here, fold=fold) if len(group) == 1 and group[0].children]
            found += [scope.path for scope in inner]
            left += [(scope, around + 1) for scope in inner]
    return found


def _places(widths: Sequence[float], edges: Sequence[tuple[int, int]]) -> list[tuple[float, float]]:
    """Left and upper edges. A layer much wider than the drawing is high is split into rows."""
    layers, lefts = _core.layered_layout(widths, edges)
    members: dict[int, list[int]] = {}
    for number, layer in enumerate(layers):
        members.setdefault(layer, []).append(number)
    widest = max(_LEAST_ROOM, math.sqrt(sum(widths) * (HEIGHT + APART) * _FLATNESS))
    spans = {}
    for layer, boxes in members.items():
        boxes.sort(key=lefts.__getitem__)
        spans[layer] = lefts[boxes[0]], lefts[boxes[-1]] + widths[boxes[-1]]
    wraps = any(end - begin > widest for begin, end in spans.values())
    places = [(0.0, 0.0)] * len(widths)
    y = 0.0
    for layer, layer_of in sorted(members.items()):
        begin, end = spans[layer]
        if end - begin <= widest:
            # Within rows, the position below an input matters little: the middle is nearer to all of them.
            shift = (widest - begin - end) / 2 if wraps else 0.0
            for number in layer_of:
                places[number] = lefts[number] + shift, y
        else:
            x = 0.0
            for number in layer_of:
                if x + widths[number] > widest:
                    x, y = 0.0, y + HEIGHT + _BETWEEN_ROWS
                places[number] = x, y
                x += widths[number] + _BESIDE
        y += HEIGHT + APART
    least = min((x for x, _ in places), default=0.0)
    return [(x - least, y) for x, y in places]


def _alone(top: GraphScope) -> Iterator[GraphScope]:
    """All nodes in a scope, without scopes of the same name."""
    left = [top]
    while left:
        here = left.pop()
        if here.op_type is not None:
            yield _only(here)
        left += here.children.values()


def _only(scope: GraphScope) -> GraphScope:
    """The node whose name is also a scope."""
    if not scope.children:
        return scope
    return replace(
        scope,
        children={},
        nodes=1,
        time_ps=scope.own_ps,
        output_bytes=scope.own_bytes,
        clusters=scope.cluster,
        last=scope.first + 1,
    )


def _shown(
    root: GraphScope, opened: frozenset[str], fold: bool
) -> Iterator[tuple[GraphScope, list[GraphScope]]]:
    """Scopes to draw, each with those that it stands for. An open scope that is also a node is drawn beside
    its children."""
    left = [root]
    while left:
        here = left.pop()
        for group in alike(here, fold=fold):
            if len(group) > 1 and not any(scope.path in opened for scope in group):
                yield group[0], group[1:]
                continue
            for scope in group:
                if scope.children and scope.path in opened:
                    left.append(scope)
                    if scope.op_type is not None:
                        yield _only(scope), []
                else:
                    yield scope, []


def _width(scope: GraphScope, copies: list[GraphScope]) -> float:
    name = len(scope.name) + (len(f"  x{len(copies) + 1}") if copies else 0)
    below = len(scope.op_type or f"{scope.nodes:,} nodes")
    return min(max(name * LETTER + 20, below * SMALL_LETTER + 18, _LEAST_WIDTH), _MOST_WIDTH)


def _box(
    scope: GraphScope, copies: list[GraphScope], opened: frozenset[str], x: float, y: float, width: float
) -> GraphBox:
    if not copies:  # nearly all of them, in large graphs
        return GraphBox(
            scope.path,
            scope.name,
            scope.op_type,
            scope.device or _device(scope),
            scope.nodes,
            scope.time_ps,
            scope.output_bytes,
            scope.clusters,
            1,
            bool(scope.children) and scope.path not in opened,
            x,
            y,
            width,
        )
    everyone = (scope, *copies)
    return GraphBox(
        path=scope.path,
        name=scope.name,
        op_type=scope.op_type,
        device=scope.device or _device(scope),
        nodes=sum(each.nodes for each in everyone),
        time_ps=sum(each.time_ps for each in everyone),
        output_bytes=sum(each.output_bytes for each in everyone),
        cluster=_one_of({each.clusters for each in everyone if each.clusters}),
        copies=len(everyone),
        can_open=bool(scope.children) and scope.path not in opened,
        x=x,
        y=y,
        width=width,
    )


def _one_of(names: set[str]) -> str:
    return SEVERAL if len(names) > 1 else next(iter(names), "")


def _device(scope: GraphScope) -> str:
    """The device of most nodes directly in a scope."""
    devices = Counter(child.device for child in scope.children.values() if child.device)
    return devices.most_common(1)[0][0] if devices else ""
