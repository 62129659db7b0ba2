"""What computes longest: the type of op and the layer with most of the time of all ops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from stepscope.instruments.causes.layers import forward_of, is_gradient, layer_of
from stepscope.instruments.causes.query_cache import QueryRows


class TopOp(NamedTuple):
    """What computes longest; None where that is not known."""

    op: str | None = None
    """The longest op of the type."""
    op_type: str | None = None
    share: float | None = None
    """What the type takes of the time of all that compute."""
    layer_share: float | None = None
    """The same of the layer that takes longest."""
    layer: str | None = None
    """That layer: a scope, or a line of the program."""
    launched: float = 0.0
    """The part of all that is launched on devices that is of the type."""
    on_device: bool = False
    """Whether it is known of devices."""


class ComputingOp(NamedTuple):
    """An op that computes."""

    op: str | None
    type: str
    """As its name where it has no type."""
    called: str
    self_ps: int


def top_op_of(rows: QueryRows, line_of: Mapping[str, str]) -> TopOp:
    """What computes longest, on devices where there are any. Ops of the input pipeline are left out.

    rows: of the statement computing_ops. line_of: lines of the program by the ops that they made.
    """
    on_device = any(row[0] == "device" and row[-2] for row in rows)
    place = "device" if on_device else "host"
    # A fleet has many hosts, and a host many ops: each row is looked at once before anything is made of it.
    busy = [
        ComputingOp(op, op_type or op or name, op or name, self_ps)
        for at, op_type, op, name, _, self_ps, _ in rows
        if at == place and self_ps
    ]
    if not busy:
        return TopOp()
    types: Counter[str] = Counter()
    for op in busy:
        types[op.type] += op.self_ps
    most = max(types, key=lambda name: (types[name], name))
    inside: Counter[str] = Counter()
    for op in busy:
        if op.type == most:
            inside[op.called] += op.self_ps
    whole = sum(types.values())
    layers = _layers(busy, {row[2] for row in rows if row[2]}, line_of)
    return TopOp(
        max(inside, key=lambda name: (inside[name], name)),
        most,
        types[most] / whole,
        max(layers.values()) / whole if len(layers) > 1 else None,
        max(layers, key=lambda name: (layers[name], name)) if len(layers) > 1 else None,
        _launched(rows, most) if on_device else 0.0,
        on_device,
    )


def _layers(busy: Sequence[ComputingOp], ops: set[str], line_of: Mapping[str, str]) -> Counter[str]:
    """What layers have of the time. A layer is a scope in the names of ops; where they have none, a line of
    the program, to which gradients of what it made belong. ops: all of them by name."""
    scoped = [(layer, op.self_ps) for op in busy if op.op and (layer := layer_of(op.op))]
    # Where ops have no scopes, gradients of one seem to be in a scope that is called as the op.
    names = ops | line_of.keys() if scoped else set()
    layers: Counter[str] = Counter()
    for layer, self_ps in scoped:
        if layer not in names:
            layers[layer] += self_ps
    if not layers and line_of:
        for op in busy:
            # The line of a gradient is that of the call which asks for all of them.
            made = line_of.get(forward_of(op.called) or "" if is_gradient(op.called) else op.called)
            if made:
                layers[made] += op.self_ps
    return layers


def _launched(rows: QueryRows, op_type: str) -> float:
    """The part of all that is launched on devices that is of a type."""
    runs = [(kind or op or name, count) for at, kind, op, name, _, _, count in rows if at == "device"]
    of_type = sum(count for kind, count in runs if kind == op_type)
    return float(of_type / sum(count for _, count in runs))
