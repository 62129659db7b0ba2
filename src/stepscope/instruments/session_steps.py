"""Runs of TensorFlow's sessions in a store: which train, how long each is, and those of a merged timeline."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence, Set
from typing import TYPE_CHECKING, Any
from zlib import crc32

from stepscope import units
from stepscope.instruments.step_evidence import Mark, Step
from stepscope.instruments.step_kinds import classify, compiling, numbered
from stepscope.store_rows import add_notes, note

if TYPE_CHECKING:
    from stepscope._core import Store

_UPDATES = re.compile(r"(Resource)?(Sparse)?Apply[A-Z]")
"""Types of ops by which optimizers of TensorFlow update variables."""
_GRADIENTS = re.compile(r"(^|/)gradients(_\d+)?/")
SOURCE_OP = "_SOURCE"
"""The node that a run of a graph begins with."""
MOST_MERGED = 200_000
"""The most slices that are read one by one: to find the sessions of a merged timeline, or what the first step
of an accelerator waits for."""


def rows_of(store: Store, table: str) -> list[dict[str, Any]]:
    """The rows of a table; none if the store does not have it."""
    return store.rows(table) if table in store.tables() else []


def session_steps(steps: Sequence[Step], marks: Sequence[Mark]) -> list[Step]:
    """Steps of StepStats: the marks are the decoder's own, one for each and named after its tag."""
    alone = [Step(step.name, step.number, step.ts_ps, step.end_ps, "file") for step in steps]
    return numbered(classify(alone, compiling(marks)))


def _executed(store: Store) -> list[dict[str, Any]] | None:
    """The slices of a small store that execute something, without annotations: threads of the host go on
    before and after a run. None for a large store."""
    if store.tables().get("slice", 0) > MOST_MERGED:
        return None
    beside = {row["id"] for row in rows_of(store, "track") if row["records"] == "annotation"}
    return [row for row in store.rows("slice") if row["track_id"] not in beside]


def training(store: Store, steps: list[Step]) -> list[Step]:
    """Runs of a session, with what each does. Those that update variables, or have ops of tf.gradients, are
    training: a program may run others in turn, such as an evaluation."""
    ordered = sorted(steps, key=lambda step: step.ts_ps)
    starts = [step.ts_ps for step in ordered]
    ops: list[set[str]] = [set() for _ in ordered]
    updates: list[set[str]] = [set() for _ in ordered]
    train: set[int] = set()
    for row in _executed(store) or ():
        if (name := row["op_name"]) is not None:
            at = max(0, bisect_right(starts, row["ts_ps"]) - 1)
            ops[at].add(name)
            if _UPDATES.match(row["op_type"] or ""):
                updates[at].add(name)
            if updates[at] or _GRADIENTS.search(name):
                train.add(at)
    return [
        step._replace(
            kind="train" if at in train and step.kind == "unknown" else step.kind,
            work=_work(ops[at], updates[at]),
        )
        for at, step in enumerate(ordered)
    ]


def _work(ops: Set[str], updates: Set[str]) -> str | None:
    """What a run does, the same for runs that update the same variables or, without any, run the same ops:
    a run that also summarizes is of the same kind, and so is one that takes another branch."""
    if not ops:
        return None
    names = sorted(updates or ops)
    others = f" and {units.count(len(names) - 1, 'more op')}" if len(names) > 1 else ""
    does = f"updates with {names[0]}{others}" if updates else f"runs {units.count(len(names), 'op')}"
    return f"{does} ({crc32(chr(10).join(names).encode()):08x})"


def own_runs(store: Store, steps: list[Step]) -> list[Step]:
    """The steps, each as long as its own run: from the first op that an executor ran to the last. What
    threads of the host do meanwhile begins before it and ends after it, and makes it no longer."""
    annotated = any(
        row["records"] == "annotation" and not str(row["process"]).endswith(" Tensors")
        for row in rows_of(store, "track")
    )
    executed = _executed(store) if annotated else None
    if not executed:
        return steps
    ordered = sorted(steps, key=lambda step: step.ts_ps)
    starts = [step.ts_ps for step in ordered]
    spans: dict[int, tuple[int, int]] = {}
    for row in executed:
        at = bisect_right(starts, row["ts_ps"]) - 1
        if at < 0 or row["ts_ps"] > ordered[at].end_ps:
            continue
        begin, end = spans.get(at, (row["ts_ps"], row["ts_ps"]))
        spans[at] = min(begin, row["ts_ps"]), max(end, row["ts_ps"] + row["dur_ps"])
    return [
        step._replace(ts_ps=spans[at][0], end_ps=spans[at][1]) if at in spans else step
        for at, step in enumerate(ordered)
    ]


def merged(store: Store, sources: Sequence[Mark], of_session: bool) -> list[Step]:
    """The runs of sessions of a file that somebody merged from several: each begins with the node `_SOURCE`
    of its graph, and nothing runs in two of them. Nothing for a file of one run. sources: these nodes, where
    the decoder marks them. of_session: the file is of runs, and their ops tell these nodes."""
    if of_session and not sources:
        sources = [
            Mark(row["track_id"], SOURCE_OP, row["ts_ps"], row["dur_ps"])
            for row in _executed(store) or ()
            if row["op_name"] == SOURCE_OP
        ]
    processes = {row["id"]: row["process"] for row in rows_of(store, "track")}
    nodes = {(mark.ts_ps, processes[mark.track_id]) for mark in sources}
    if repeated := len(sources) - len(nodes):
        detail = "runs of a session are in it a second time: counts of ops include both"
        add_notes(store, note("repeated-runs", "info", detail, repeated))
    starts = _begins(nodes)
    executed = _executed(store) if len(starts) > 1 else None
    if executed is None:
        return []
    ends = list(starts)
    for row in executed:
        if row["op_name"] is None:
            continue
        at = max(0, bisect_right(starts, row["ts_ps"]) - 1)
        end_ps = row["ts_ps"] + row["dur_ps"]
        if row["op_type"] is None and end_ps > next(iter(starts[at + 1 :]), end_ps):
            continue  # threads of the host go on, and timelines of several runs number processes anew
        starts[at] = min(starts[at], row["ts_ps"])
        ends[at] = max(ends[at], end_ps)
    if any(end > start for end, start in zip(ends, starts[1:], strict=False)):
        return []
    why = f"one of {len(starts)} runs of a session that were merged"
    spans = enumerate(zip(starts, ends, strict=True))
    return [Step("session", i, start, end, "file", reason=why) for i, (start, end) in spans if end > start]


def _begins(nodes: Set[tuple[int, str]]) -> list[int]:
    """When sessions begin: each executor of one has its own node `_SOURCE`, and now one is the first, now
    another. nodes: when they run, and their devices."""
    begins: list[int] = []
    begun: set[str] = set()
    for ts_ps, device in sorted(nodes):
        if not begins or device in begun:
            begins.append(ts_ps)
            begun = set()
        begun.add(device)
    return begins
