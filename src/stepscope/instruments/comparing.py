"""Two recordings side by side: what each takes for a step, by part, op type, stage and memory.

It describes. How much recordings of the same program differ is not known from one of each, so nothing here
says that a difference means anything.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median

from stepscope.instruments.step_parts import judging
from stepscope.instruments.step_parts.judgement import parts_of
from stepscope.library.statements import Query, statement


@dataclass(frozen=True)
class Side:
    """A host of a run, and how to ask about it. name: for people."""

    query: Query
    run_id: str
    host_id: str
    name: str


@dataclass(frozen=True)
class Measured:
    """What one side takes. Times are of a mean step where there are steps, else of the whole recording."""

    name: str
    steps: int
    """Steps that are judged, as in the summary."""
    mean_ps: int
    median_ps: int
    parts: Mapping[str, int] = field(default_factory=dict)
    """By label."""
    ops: Mapping[str, int] = field(default_factory=dict)
    """Own time by op type."""
    counts: Mapping[str, float] = field(default_factory=dict)
    """Executions by op type."""
    stages: Mapping[str, int] = field(default_factory=dict)
    """What a stage of the input pipeline needs."""
    memory: Mapping[str, int] = field(default_factory=dict)
    """Bytes at the peak, by device and allocator."""


def sides(query: Query) -> list[Side]:
    """The hosts of a trace, those with steps first; named as briefly as tells them apart."""
    rows = query(statement("page_hosts")).rows()
    pairs = [(run_id, host_id) for run_id, host_id, *_ in rows]
    runs = {run_id for run_id, _ in pairs}
    one_each = len(runs) == len(pairs)
    found = []
    for run_id, host_id in pairs:
        name = run_id if one_each else host_id if len(runs) == 1 else f"{run_id}/{host_id}"
        found.append(Side(query, run_id, host_id, name))
    stepped = {(row[1], row[2]) for row in query(statement("timed_steps")).rows()}
    return sorted(found, key=lambda side: (side.run_id, side.host_id) not in stepped)


def measure(side: Side) -> Measured:
    """What a side takes."""
    steps = judging.steps(side.query)
    mine = [step for step in steps if (step.run_id, step.host_id) == (side.run_id, side.host_id)]
    judged = judging.chosen(mine)
    durations = [step.dur_ps for step in judged]
    parts = parts_of([(step.dur_ps, step.sums) for step in judged])
    ops: dict[str, int] = defaultdict(int)
    counts_: dict[str, float] = defaultdict(float)
    asked = statement("ops_of_host", run_id=side.run_id, host_id=side.host_id)
    for kind, own_ps, number in side.query(asked).rows():
        ops[kind] += own_ps
        counts_[kind] += number
    per = len(mine) or 1
    return Measured(
        name=side.name,
        steps=len(judged),
        mean_ps=sum(durations) // len(durations) if durations else 0,
        median_ps=round(median(durations)) if durations else 0,
        parts={part.label: part.ps_per_step for part in parts},
        ops={kind: ps // per for kind, ps in ops.items() if ps},
        counts={kind: number / per for kind, number in counts_.items()},
        stages=_stages(side),
        memory=_memory(side),
    )


def _stages(side: Side) -> dict[str, int]:
    asked = statement("stages_of_host", run_id=side.run_id, host_id=side.host_id)
    return dict(side.query(asked).rows())


def _memory(side: Side) -> dict[str, int]:
    from stepscope.instruments.memory import allocators

    found: dict[str, int] = {}
    for one in allocators.find(side.query):
        if (one.run_id, one.host_id) == (side.run_id, side.host_id):
            name = f"{one.device} {one.allocator}".strip()
            found[name] = max(found.get(name, 0), one.peak.bytes)
    return found
