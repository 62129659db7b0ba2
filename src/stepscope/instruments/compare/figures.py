"""All that one side of a comparison takes: steps and their parts, ops, stages, memory, operations, graphs.

It describes. How much recordings of the same program differ is not known from one of each, so nothing here
says that a difference means anything.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median_low

from stepscope.instruments.causes.timed_steps import judged_steps, timed_steps
from stepscope.instruments.compare import ops as ops_
from stepscope.instruments.compare.matching import NamedItem, match
from stepscope.instruments.compare.names import scope_of
from stepscope.instruments.compare.ops import Op
from stepscope.instruments.compare.sides import Side
from stepscope.instruments.memory import allocators
from stepscope.library.statements import statement

MOST_NODES = 100_000
"""Nodes of graphs that are read of a side."""


WHOLE = "whole_capture"
"""A step that stands for a recording without any; what is called a step here is one of the program."""


@dataclass(frozen=True)
class Measured:
    """What one side takes. Times are of a mean step where there are steps, else of the whole recording."""

    name: str
    steps: int
    """Steps that are judged, as in the summary."""
    mean_ps: int
    median_ps: int
    parts: Mapping[str, int] = field(default_factory=dict)
    """By label; they add up to mean_ps."""
    ops: tuple[Op, ...] = ()
    """Sums over the steps, or over the recording where there are none."""
    stages: Mapping[str, int] = field(default_factory=dict)
    """What a stage of the input pipeline needs."""
    memory: Mapping[str, int] = field(default_factory=dict)
    """Bytes at the peak, by device and allocator."""
    float_ops: Mapping[str, int] = field(default_factory=dict)
    """Floating point operations by op type, where a graph tells."""
    compilations: Mapping[str, int] = field(default_factory=dict)
    """How often each function was traced or compiled."""
    nodes: tuple[tuple[str, str], ...] = ()
    """Name and op type of the nodes of graphs, each once."""
    nodes_cut: bool = False
    """There were more nodes than are read."""
    hosts: int = 1


def measure(side: Side, with_steps: bool | None = None) -> Measured:
    """What a side takes. with_steps: False for ops of the whole recording, though there are steps."""
    mine = [
        step
        for step in timed_steps(side.query)
        if step.run_id == side.run_id and step.host_id in side.host_ids and step.recovered_from != WHOLE
    ]
    judged = judged_steps(mine)
    stepped = bool(judged) if with_steps is None else with_steps and bool(judged)
    durations = [step.dur_ps for step in judged]
    labels: dict[str, int] = defaultdict(int)
    for step in judged:
        for label, ps in step.sums.items():
            labels[label] += ps
        if (rest := step.dur_ps - sum(step.sums.values())) > 0:
            labels["unknown"] += rest
    named = sorted(labels, key=lambda label: (-labels[label], label))
    known = ops_.facts_of(side)
    nodes, cut = _nodes(side)
    return Measured(
        name=side.name,
        steps=len(judged),
        mean_ps=sum(durations) // len(durations) if durations else 0,
        median_ps=median_low(durations) if durations else 0,
        parts=_mean(named, [labels[label] for label in named], len(judged)),
        ops=tuple(
            ops_.ops_in_steps(side, known, len(judged) == len(mine)) if stepped else ops_.all_ops(side, known)
        ),
        stages=_stages(side),
        memory=peaks(side),
        float_ops=ops_.float_operations(side),
        compilations=_compilations(side),
        nodes=nodes,
        nodes_cut=cut,
        hosts=len(side.host_ids),
    )


def _mean(names: Sequence[str], totals: Sequence[int], number: int) -> dict[str, int]:
    if not number:
        return {}
    return {name: ps for name, ps in zip(names, ops_.shared_out(totals, number), strict=True) if ps}


def _stages(side: Side) -> dict[str, int]:
    found: dict[str, int] = {}
    for host_id in side.host_ids:
        asked = statement("stages_of_host", run_id=side.run_id, host_id=host_id)
        for name, needed_ps in side.query(asked).rows():
            found[name] = found.get(name, 0) + needed_ps
    return {name: ps // len(side.host_ids) for name, ps in found.items()}


def peaks(side: Side) -> dict[str, int]:
    """Bytes at the peak, by device and allocator: the highest of the side's hosts and files."""
    found: dict[str, int] = {}
    of = lambda run, host: run == side.run_id and host in side.host_ids  # noqa: E731
    for device, allocator, most in allocators.peaks(side.query, of):
        name = f"{device} {allocator}".strip()
        found[name] = max(found.get(name, 0), most)
    return found


def _compilations(side: Side) -> dict[str, int]:
    asked = statement("compilations_of_run", run_id=side.run_id, host_ids=side.host_ids)
    return {function: times for function, times, *_ in side.query(asked).rows()}


def _nodes(side: Side) -> tuple[tuple[tuple[str, str], ...], bool]:
    asked = statement("nodes_of_run", run_id=side.run_id, most=MOST_NODES + 1)
    rows = side.query(asked).rows()
    nodes = dict.fromkeys((name, op_type) for _, name, op_type in rows[:MOST_NODES])
    return tuple(nodes), len(rows) > MOST_NODES


@dataclass(frozen=True)
class Nodes:
    """The nodes of two graphs, matched."""

    added: tuple[tuple[str, str], ...]
    """Name and type of the nodes that only B has."""
    removed: tuple[tuple[str, str], ...]
    counts: Mapping[str, tuple[int, int]]
    """Nodes of each type in A and in B."""


def compare_nodes(a: Measured, b: Measured) -> Nodes | None:
    """What two graphs share; None unless both sides have one."""
    if not a.nodes or not b.nodes:
        return None
    matched = match(*([_item(i, *node) for i, node in enumerate(measured.nodes)] for measured in (a, b)))
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for place, measured in enumerate((a, b)):
        for _, op_type in measured.nodes:
            counts[op_type][place] += 1
    return Nodes(
        added=tuple(b.nodes[i] for i in sorted(matched.added)),
        removed=tuple(a.nodes[i] for i in sorted(matched.removed)),
        counts={op_type: (in_a, in_b) for op_type, (in_a, in_b) in counts.items()},
    )


def _item(place: int, name: str, op_type: str) -> NamedItem:
    return NamedItem(name, op_type, "graph", scope_of(name), order=place)
