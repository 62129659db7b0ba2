"""Loops in the graph: where one call of a compiled function launches the same few ops again and again."""

import re
from collections import Counter
from typing import NamedTuple

from stepscope.instruments.causes.layers import is_gradient
from stepscope.instruments.causes.query_cache import QueryRows

_INSIDE = re.compile(r"/(?:cond|body)/_\d{1,9}/")
"""TensorFlow puts what a loop tests and does in its place, and names it map/while/body/_5/map/while/add."""
_MANY = 20
"""A loop is named if one of its ops runs at least this often in a step."""
_MOST = 0.5
"""The loop has at least this part of the runs."""


class GraphLoop(NamedTuple):
    """A loop in the graph."""

    op: str
    """The op that it was made as."""
    runs: int
    """Runs in a mean step of its most frequent op."""


_MANY_NODES = 1000
"""A loop without recorded ops is named if at least this many nodes run in a step."""


def unseen_loop(rows: QueryRows, steps: int) -> GraphLoop | None:
    """The only loop of the recorded graphs, where executors go on more often in a step than all graphs have
    nodes: that takes a loop, whose ops are too short to be recorded. Its runs are those nodes. rows: of the
    statement loops_of_graphs."""
    if len(rows) != 1 or not steps:
        return None
    ((op, executions, nodes),) = rows
    runs = executions // steps
    return GraphLoop(op, runs) if runs >= _MANY_NODES and runs > nodes else None


def loop_of(op: str) -> str | None:
    """The loop that an op is inside of, by its name; of nested loops the innermost."""
    found = list(_INSIDE.finditer(op))
    if not found:
        return None
    return op[found[-2].end() if len(found) > 1 else 0 : found[-1].start()]


def _loop_of_frames(rows: QueryRows, steps: int) -> GraphLoop | None:
    """The same where executors of TensorFlow 1 run a loop as ops of its graph: one of them, which gradients
    have as well, says each time whether to go on. What runs about as often as that one is in a loop."""
    conditions = [
        (number, op or name)
        for _, op_type, op, name, _, _, number in rows
        if op_type == "LoopCond" and not is_gradient(op or name)
    ]
    if not conditions or not steps:
        return None
    number, op = max(conditions)
    each = [row[-1] for row in rows]
    inside = sum(runs for runs in each if 2 * runs >= number)
    # Ops beside the loop run once: some steps may have been recorded without their ops.
    passes = number // min(steps, *each) - 1  # it runs once more, to end the loop
    return GraphLoop(op, passes) if passes >= _MANY and inside >= _MOST * sum(each) else None


def graph_loop(rows: QueryRows, steps: int) -> GraphLoop | None:
    """The loop to which most of the runs of ops belong. rows: of the statement computing_ops."""
    runs: Counter[str] = Counter()
    most: Counter[str] = Counter()
    for _, _, op, name, _, _, number in rows:
        loop = loop_of(op or name)
        runs[loop or ""] += number
        if loop is not None:
            most[loop] = max(most[loop], number)
    if not most or not steps:
        return _loop_of_frames(rows, steps)
    loop = max(most, key=lambda name: (runs[name], name))
    enough = most[loop] >= _MANY * steps and runs[loop] >= _MOST * runs.total()
    return GraphLoop(loop, most[loop] // steps) if enough else None
