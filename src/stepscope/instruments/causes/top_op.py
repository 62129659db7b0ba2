"""What computes longest: the type of op and the layer with most of the time of all ops.

They are asked one by one: only where ops limit the steps does it matter which layer they are of.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from stepscope.instruments.causes.layers import forward_of, is_gradient, layer_of_scope
from stepscope.instruments.causes.query_cache import AskHost
from stepscope.instruments.step_breakdown.labels import slice_meaning


class TopOp(NamedTuple):
    """The type of op that computes longest; None where that is not known."""

    op: str | None = None
    """The longest op of the type."""
    op_type: str | None = None
    share: float | None = None
    """The type's share of the time of all ops that compute."""
    launched: float = 0.0
    """The part of all that is launched on devices that is of the type."""
    on_device: bool = False
    """Whether it ran on devices."""

    is_product: bool = False
    """Whether the type is a product of matrices or a convolution."""
    own_ps: int = 0
    all_own_ps: int = 0
    """Own time of the type, and of all that compute."""


class TopLayer(NamedTuple):
    """The layer that computes longest, where several do."""

    layer: str | None = None
    """A scope, or a line of the program."""
    share: float | None = None
    """Its share of the time of all ops that compute."""


class TopLine(NamedTuple):
    """The line of the program whose ops, and gradients of these, take longest."""

    line: str
    """File and number."""
    share: float
    """Their share of the time of all ops that compute."""
    gradients_too: bool
    """Whether any of it is gradients."""


class TopKind(NamedTuple):
    """A row of the statement top_kinds_of_ops without its host."""

    place: str
    kind: str
    called: str
    own_ps: int
    all_own_ps: int
    runs: int
    all_runs: int
    is_product: bool


def top_op_of(ask: AskHost) -> TopOp:
    """The type of op that computes longest, on devices if there are any. Ops of the input pipeline are left
    out. ask: asks about the host."""
    top = _top_kind(ask)
    if top is None:
        return TopOp()
    on_device = top.place == "device"
    return TopOp(
        top.called,
        top.kind,
        top.own_ps / top.all_own_ps,
        top.runs / top.all_runs if on_device else 0.0,
        on_device,
        bool(top.is_product),
        top.own_ps,
        top.all_own_ps,
    )


def top_op_or_copies(top: TopOp, copying: Sequence[tuple[str, str, int]], computed_ps: int) -> TopOp:
    """The type of op that takes longest of the time in which ops compute, where these run one at a time: what
    copies within an op that computes is part of that time, as of a tensor that is made contiguous.

    copying: type, an op and own time of those that copy, the longest first. computed_ps: that time.
    """
    hidden_ps = computed_ps - top.all_own_ps
    if top.op is None or hidden_ps <= 0:
        return top
    if copying and min(copying[0][2], hidden_ps) > top.own_ps:
        op_type, op, own_ps = copying[0]
        return TopOp(op, op_type, min(own_ps, hidden_ps) / computed_ps)
    return top._replace(share=top.own_ps / computed_ps)


def computing_calls(calls: Iterable[Sequence[Any]]) -> list[tuple[int, str, bool]]:
    """How long ops compute that a program calls one by one on a processor, their type, and whether that is a
    product. calls: rows of the statement eager_ops without their host."""
    return [
        (all_ps, op_type, bool(is_product))
        for name, op_type, is_product, number, all_ps in calls
        if slice_meaning(name, None, False, False, all_ps // number, computes=True).label == "compute"
    ]


def top_op_or_eager(top: TopOp, calls: Iterable[Sequence[Any]]) -> TopOp:
    """The type of op that computes longest where a program calls ops one by one on a processor: most of these
    have no slice but that of their call. calls: as for computing_calls."""
    found = computing_calls(calls)
    whole_ps = top.all_own_ps + sum(own_ps for own_ps, *_ in found)
    if not found or not whole_ps:
        return top
    own_ps, op_type, is_product = max(found)
    if own_ps <= top.own_ps:
        return top._replace(share=top.own_ps / whole_ps, all_own_ps=whole_ps)
    return TopOp(
        op_type, op_type, own_ps / whole_ps, is_product=is_product, own_ps=own_ps, all_own_ps=whole_ps
    )


def top_layer_of(
    ask: AskHost, called_as_layers: Callable[[], set[str]], line_of: Mapping[str, str]
) -> TopLayer:
    """The layer that computes longest where the type of op does that computes longest.

    ask: asks about the host. called_as_layers: gives the names of ops that are called as a layer is. line_of:
    lines of the program by the ops that they made.
    """
    top = _top_kind(ask)
    layers = Counter[str]() if top is None else _layers(ask, top.place, called_as_layers, line_of)
    if top is None or len(layers) <= 1:
        return TopLayer()
    longest = max(layers, key=lambda name: (layers[name], name))
    return TopLayer(longest, layers[longest] / top.all_own_ps)


def top_line_of(ask: AskHost, line_of: Mapping[str, str]) -> TopLine | None:
    """The line with most of the time of all ops, where several lines made ops. ask, line_of: as for
    top_layer_of."""
    top = _top_kind(ask)
    parts = Counter[tuple[str, bool]]() if top is None else _parts_of_lines(ask, top.place, line_of)
    lines = _times_of_lines(parts)
    if top is None or len(lines) <= 1:
        return None
    longest = max(lines, key=lambda name: (lines[name], name))
    return TopLine(longest, lines[longest] / top.all_own_ps, (longest, True) in parts)


def lines_of_top_op(ask: AskHost, line_of: Mapping[str, str]) -> Mapping[str, float]:
    """The parts of the type that computes longest, by the line that made its ops. ask, line_of: as for
    top_layer_of."""
    top = _top_kind(ask)
    if top is None:
        return {}
    parts = _times_of_lines(_parts_of_lines(ask, top.place, line_of, top.kind))
    return {line: own_ps / top.own_ps for line, own_ps in parts.items()}


def _top_kind(ask: AskHost) -> TopKind | None:
    """The type of op that computes longest, on devices where there are any."""
    places = {row[0]: TopKind(*row) for row in ask("top_kinds_of_ops")}
    return next((places[at] for at in ("device", "host") if at in places and places[at].all_own_ps), None)


def _layers(
    ask: AskHost, place: str, called_as_layers: Callable[[], set[str]], line_of: Mapping[str, str]
) -> Counter[str]:
    """What layers have of the time. A layer is a scope in the names of ops; where they have none, a line of
    the program, to which gradients of what it made belong."""
    layers: Counter[str] = Counter()
    for at, scope, own_ps in ask("scopes_of_ops"):
        if at == place and own_ps and (layer := layer_of_scope(scope)):
            layers[layer] += own_ps
    # Gradients of an op seem to be in a scope that is called as the op; it has a scope itself, or none.
    ops = called_as_layers() | line_of.keys() if layers else set()
    for name in sorted(layers.keys() & ops):
        layers[name.rpartition("/")[0]] += layers.pop(name)
    del layers[""]
    if not layers and line_of:
        return _times_of_lines(_parts_of_lines(ask, place, line_of))
    return layers


def _times_of_lines(parts: Counter[tuple[str, bool]]) -> Counter[str]:
    """What lines of the program have of the time, gradients included."""
    lines: Counter[str] = Counter()
    for (line, _), own_ps in parts.items():
        lines[line] += own_ps
    return lines


def _parts_of_lines(
    ask: AskHost, place: str, line_of: Mapping[str, str], of_kind: str | None = None
) -> Counter[tuple[str, bool]]:
    """What lines of the program have of the time, apart by whether it is that of gradients. of_kind: only ops
    of this type."""
    parts: Counter[tuple[str, bool]] = Counter()
    for at, op_type, op, name, _, own_ps, _ in ask("computing_ops"):
        if at != place or not own_ps or of_kind not in (None, op_type or op or name):
            continue
        called = op or name
        # The line of a gradient is that of the call which asks for all of them.
        backward = is_gradient(called)
        made = line_of.get(forward_of(called) or "" if backward else called)
        if made:
            parts[made, backward] += own_ps
    return parts
