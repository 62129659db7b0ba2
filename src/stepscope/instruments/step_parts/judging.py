"""Asks a trace for what a judgement needs."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from stepscope.instruments.pipeline.stages import branch
from stepscope.instruments.step_parts import judgement, places
from stepscope.instruments.step_parts.judgement import Judgement, Place, Retrace, Sums, Weighed


class Answer(Protocol):
    """What a query gives."""

    def rows(self) -> list[tuple[Any, ...]]:
        """All rows."""


Query = Callable[[str], Answer]


class Step(NamedTuple):
    """A row of the view step, with its parts."""

    id: int
    run_id: str
    host_id: str
    source_id: int
    dur_ps: int
    averaged: bool
    kind: str
    recovered_from: str
    sums: Sums


def judge(query: Query) -> list[Judgement]:
    """What limits the steps of each host, those with most time in steps first."""
    groups: dict[tuple[str, str], list[Step]] = defaultdict(list)
    for step in _steps(query):
        groups[step.run_id, step.host_id].append(step)
    found = [_judged(query, *key, steps) for key, steps in groups.items()]
    return sorted(found, key=lambda one: (-one.steps * one.mean_ps, one.run_id, one.host_id))


def by_source(query: Query) -> dict[int, Weighed]:
    """What labels take of the steps of each source. Reads neither ops nor the input pipeline, so that what is
    said of the pipeline can follow it."""
    groups: dict[int, list[Step]] = defaultdict(list)
    for step in _steps(query):
        groups[step.source_id].append(step)
    return {source_id: _weighed(_chosen(steps)) for source_id, steps in groups.items()}


def _steps(query: Query) -> list[Step]:
    sums: dict[int, dict[str, int]] = defaultdict(dict)
    for step_id, label, dur_ps in query("SELECT step_id, label, dur_ps FROM step_part").rows():
        sums[step_id][label] = dur_ps
    rows = query(
        "SELECT id, run_id, host_id, source_id, dur_ps, averaged, kind, recovered_from FROM step "
        "WHERE dur_ps > 0 ORDER BY id"
    ).rows()
    return [Step(*(*row, sums[row[0]])) for row in rows]


def _chosen(steps: Sequence[Step]) -> list[Step]:
    """The steps that are judged: those that averages include. When steps compile again and again, that is
    what they do; only the first may be left out."""
    averaged = [step for step in steps if step.averaged]
    compiling = sum(step.kind == "compile" for step in steps)
    return averaged if averaged and len(averaged) >= compiling else list(steps)


def _weighed(judged: Sequence[Step]) -> Weighed:
    parts = judgement.parts_of([(step.dur_ps, step.sums) for step in judged])
    return Weighed(
        parts,
        judgement.cause_of(parts, None)[0],
        len(judged),
        round(sum(step.dur_ps for step in judged) / len(judged)),
        all(step.recovered_from == "whole_capture" for step in judged),
    )


def _judged(query: Query, run_id: str, host_id: str, steps: Sequence[Step]) -> Judgement:
    judged = _chosen(steps)
    weighed = _weighed(judged)
    parts, whole_capture = weighed.parts, weighed.whole_capture
    told: list[tuple[int, Sums]] = [(step.dur_ps, step.sums) for step in judged]
    compiling = sum(step.kind == "compile" for step in steps)
    whose = f"run_id = {places.quoted(run_id)} AND host_id = {places.quoted(host_id)}"
    op, op_type, op_share, layer_share = _top_op(query, whose)
    cause, share, ps_per_step = judgement.cause_of(parts, op_share, layer_share)
    unknown = next((part.share for part in parts if part.label == "unknown"), 0.0)
    left, low, high = judgement.without(told, cause, _untraced(query, whose))
    place: Place | None = None
    called_from: Place | None = None
    stage = function = None
    retrace: Retrace | None = None
    if cause == "input":
        stage, place = _stage(query, whose)
    if cause == "compile":
        retrace = _retraced(query, whose)
        function = _compiled(query, whose) if retrace is None else retrace.function
        # The recorder was there when it was called; samples only come by.
        place = None if retrace is None else retrace.called
    if cause in ("compute", "none") and op is not None:
        place = places.of_op(query, run_id, op)
    if place is None and cause not in ("compute", "none", "idle", "unknown", "communication"):
        spans = [step.source_id for step in judged]
        place, called_from = places.of_label(query, run_id, host_id, cause, sorted(set(spans)))
    return Judgement(
        run_id,
        host_id,
        weighed.steps,
        weighed.mean_ps,
        whole_capture,
        cause,
        share,
        ps_per_step,
        "low"
        if whole_capture and cause != "unknown"
        else judgement.confidence_of(share, unknown, len(judged)),
        parts,
        left,
        low,
        high,
        place,
        called_from,
        op if cause in ("compute", "none") else None,
        op_type if cause in ("compute", "none") else None,
        op_share if cause in ("compute", "none") else None,
        stage,
        _launches(query, whose, len(steps)) if cause == "dispatch" else None,
        function,
        retrace,
        compiling or None,
    )


def _top_op(query: Query, whose: str) -> tuple[str | None, str | None, float | None, float | None]:
    """The type of op that computes longest, its longest op, its part of the time of all that compute, and
    that of the layer that computes longest, on devices where there are any. Ops of the input pipeline are
    left out. A layer's part is None where ops have no names with scopes."""
    rows = query(
        "SELECT p.place, r.op_type, r.op_name, r.name, SUM(COALESCE(r.op_self_ps, r.self_ps)) AS own_ps "
        "FROM rollup_op AS r INNER JOIN track_place AS p ON p.track_id = r.track_id "
        "INNER JOIN track AS t ON t.id = r.track_id "
        f"WHERE r.{whose.replace(' AND ', ' AND r.')} AND r.is_op AND r.class IN ('compute', 'python') "
        "AND p.place IN ('device', 'host') AND t.name NOT LIKE 'tf_data%' "
        "GROUP BY p.place, r.op_type, r.op_name, r.name"
    ).rows()
    place = "device" if any(row[0] == "device" and row[4] for row in rows) else "host"
    types: Counter[str] = Counter()
    ops: dict[str, Counter[str]] = defaultdict(Counter)
    for at, op_type, op, name, own_ps in rows:
        if at == place and own_ps:
            types[op_type or op or name] += own_ps
            ops[op_type or op or name][op or name] += own_ps
    if not types:
        return None, None, None, None
    layers: Counter[str] = Counter()
    for at, _, op, _, own_ps in rows:
        if at == place and own_ps and op and (layer := layer_of(op)):
            layers[layer] += own_ps
    whole = sum(types.values())
    most = max(types, key=lambda one: (types[one], one))
    inside = ops[most]
    part = max(layers.values()) / whole if len(layers) > 1 else None
    return max(inside, key=lambda one: (inside[one], one)), most, types[most] / whole, part


_BACKWARD = re.compile(r"^(gradients|gradient_tape)(_\d+)?/|_grad(?=/)")


def layer_of(op: str) -> str | None:
    """The scope in which an op was made, forward or backward; None for an op outside of all scopes.

    TensorFlow names the gradient of `dense/MatMul` `gradients/dense/MatMul_grad/MatMul` in graphs and
    `gradient_tape/dense/MatMul/MatMul` in functions. Scopes of ops begin with a capital, those that people
    and layers name do not.
    """
    scopes = _BACKWARD.sub("", op).split("/")[:-1]
    while scopes and scopes[-1][:1].isupper():
        scopes.pop()
    return "/".join(scopes) or None


def _untraced(query: Query, whose: str) -> float | None:
    rows = query(
        f"SELECT series, value FROM counter WHERE {whose} AND name = 'duration of a step' AND value > 0"
    ).rows()
    return judgement.ratio_of(
        [value for series, value in rows if series == "traced_ns"],
        [value for series, value in rows if series == "untraced_ns"],
    )


def _stage(query: Query, whose: str) -> tuple[str | None, Place | None]:
    """The stage that holds the program up most, and where the program wrote it."""
    rows = query(
        "SELECT i.branch_name, i.user_stage, i.file, i.line, u.function FROM iterator AS i LEFT JOIN "
        "user_stage AS u "
        "ON u.run_id = i.run_id AND u.host_id = i.host_id AND u.file = i.file AND u.line = i.line "
        f"WHERE i.{whose.replace(' AND ', ' AND i.')} AND i.limits = 1 "
        "ORDER BY i.wait_share DESC NULLS LAST, i.id, u.id LIMIT 1"
    ).rows()
    if not rows:
        return None, None
    name, user_stage, file, line, function = rows[0]
    stage = branch(name)
    written = f"{stage} ({user_stage})" if user_stage else stage
    return written, None if file is None else Place(file, line, function)


def _retraced(query: Query, whose: str) -> Retrace | None:
    """What the recorder saw compile for longest within the steps, but for the first time of each function."""
    rows = query(
        "SELECT function, call_file, call_line, call_function, change, argument, was, became, times, steps "
        f"FROM compilation_sum WHERE {whose} AND change <> 'first' AND steps > 0 "
        "ORDER BY total_ps DESC, function, call_file, call_line, change, argument LIMIT 1"
    ).rows()
    if not rows:
        return None
    function, file, line, inside, *more = rows[0]
    return Retrace(function, None if file is None else Place(file, line, inside), *more)


def _compiled(query: Query, whose: str) -> str | None:
    """The function that was traced in most calls, where slices tell."""
    rows = query(
        f"SELECT s.name, sum(s.dur_ps) AS spent FROM slice AS s WHERE s.{whose.replace(' AND ', ' AND s.')} "
        "AND s.args_json LIKE '%tf_function_call%traced%' GROUP BY s.name ORDER BY spent DESC, s.name LIMIT 1"
    ).rows()
    return rows[0][0] if rows else None


def _launches(query: Query, whose: str, steps: int) -> int | None:
    rows = query(
        f"SELECT sum(slices) FROM rollup_op WHERE {whose} AND (name LIKE 'EagerExecute%' OR name LIKE "
        f"'PjitFunction(%' "
        "OR name LIKE 'cudaLaunch%' OR name LIKE 'cuLaunch%' OR name LIKE 'hipLaunch%')"
    ).rows()
    number = rows[0][0] if rows else None
    return round(number / steps) if number and steps else None
