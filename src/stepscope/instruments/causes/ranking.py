"""Asks a trace for what a judgement needs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Literal, NamedTuple

from stepscope.instruments import laws
from stepscope.instruments.causes import gain, judgement, sampled_lines, side_effects, traced_calls
from stepscope.instruments.causes.gain import Sums
from stepscope.instruments.causes.judgement import (
    Allocating,
    Contention,
    Judgement,
    Place,
    Retrace,
    Weighed,
)
from stepscope.instruments.causes.layers import forward_of, is_gradient, layer_of
from stepscope.instruments.causes.query_cache import Asked, Asking
from stepscope.instruments.pipeline.places import function_in
from stepscope.instruments.pipeline.stages import branch, words, written_as
from stepscope.instruments.step_breakdown.labels import of_framework
from stepscope.library.statements import Query, statement

OF_COMPILED = 3
"""An op of a compiled function has a name of its own, which runs no more often than this in a step."""
TRACED = ("input", "copy", "dispatch", "setup", "python", "wait")
"""Labels whose place calls of Python tell where no stack was sampled."""
MARKED = ("python", "wait")
"""Labels of what the program itself does, which its own marks tell apart where nothing tells the line."""
CALLED_BACK = 0.5
"""Python is that of ops which call it when they take this part of it."""


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
    for step in steps(query):
        groups[step.run_id, step.host_id].append(step)
    asking = Asking(query)
    lines = lru_cache(maxsize=None)(partial(_lines, asking))
    found = laws.proved([_judged(asking, *key, steps, lines) for key, steps in groups.items()], query)
    return sorted(found, key=lambda one: (-one.steps * one.mean_ps, one.run_id, one.host_id))


def by_source(query: Query, first: Mapping[int, int]) -> dict[int, Weighed]:
    """What labels take of the steps of each source, or of several by the first of them. first: of sources
    that are judged together. Reads neither ops nor the input pipeline, so that what is
    said of the pipeline can follow it. Of runs that were traced beside steps that were sampled, those steps
    tell."""
    groups: dict[int, list[Step]] = defaultdict(list)
    sampled: dict[tuple[str, str], list[Step]] = defaultdict(list)
    for step in steps(query):
        groups[first.get(step.source_id, step.source_id)].append(step)
        if step.recovered_from == "recorder" and step.averaged:
            sampled[step.run_id, step.host_id].append(step)
    asking = Asking(query)
    found = {}
    for source_id, mine in groups.items():
        host = mine[0].run_id, mine[0].host_id
        own = any(step.averaged or step.recovered_from != "file" for step in mine) or not sampled[host]
        weighed = _weighed(chosen(mine if own else sampled[host]), _contention(asking.of_host(*host)))
        found[source_id] = weighed if own else replace(weighed, elsewhere=True)
    return found


def steps(query: Query) -> list[Step]:
    """All steps that took time, with their parts."""
    sums: dict[int, dict[str, int]] = defaultdict(dict)
    for step_id, label, dur_ps in query(statement("parts_of_steps")).rows():
        sums[step_id][label] = dur_ps
    return [
        Step(step_id, run_id, host_id, source_id, dur_ps, averaged, kind, recovered_from, sums[step_id])
        for source_id, run_id, host_id, step_id, _, dur_ps, averaged, kind, recovered_from in query(
            statement("timed_steps")
        ).rows()
    ]


def chosen(steps: Sequence[Step]) -> list[Step]:
    """The steps that are judged: those that averages include. When steps compile again and again, that is
    what they do; only the first may be left out."""
    averaged = [step for step in steps if step.averaged]
    compiling = sum(step.kind == "compile" for step in steps)
    if compiles_again(steps):
        return list(steps)
    return averaged if averaged and len(averaged) >= compiling else list(steps)


AGAIN = 2
"""So many steps that compile, after one of their source that does not, are no warm-up."""


def compiles_again(steps: Sequence[Step]) -> bool:
    """Whether compiling takes enough of all that was recorded to limit it, though few steps do it and their
    averages leave them out. Steps that compile before any other warm up."""
    warm: set[int] = set()
    again = 0
    whole_ps = compile_ps = 0
    for step in steps:
        compiles = step.kind == "compile"
        if not compiles:
            warm.add(step.source_id)
        if step.source_id in warm:
            again += compiles
            whole_ps += step.dur_ps
            compile_ps += step.sums.get("compile", 0)
    return again >= AGAIN and compile_ps >= judgement.STANDS_OUT * whole_ps


def _weighed(judged: Sequence[Step], contention: Contention | None) -> Weighed:
    parts = judgement.parts_of([(step.dur_ps, step.sums) for step in judged])
    return Weighed(
        parts,
        judgement.cause_of(parts, None, None, contention)[0],
        len(judged),
        round(sum(step.dur_ps for step in judged) / len(judged)),
        all(step.recovered_from == "whole_capture" for step in judged),
    )


def _judged(
    query: Asking, run_id: str, host_id: str, steps: Sequence[Step], lines: Callable[[str], Mapping[str, str]]
) -> Judgement:
    """lines: of the program by what they made, in a run."""
    judged = chosen(steps)
    asked = query.of_host(run_id, host_id)
    contention = _contention(asked)
    weighed = _weighed(judged, contention)
    top = _top_op(asked, lines(run_id))
    op, op_type, op_share, layer_share = top.op, top.op_type, top.share, top.layer_share
    cause, share, ps_per_step = judgement.cause_of(weighed.parts, op_share, layer_share, contention)
    place: Place | None = None
    sampled = sampled_lines.Found(None, None)
    stage = function = spoken = None
    given: Place | None = None
    sources = sorted({step.source_id for step in judged})
    retrace: Retrace | None = None
    in_python = False
    then: tuple[int, int, int] | None = None
    if cause == "input":
        stage, place, then, spoken, given = _stage(asked)
        # A generator does nothing but Python; of other stages, it has to explain the wait.
        least = 0.0 if (stage or "").partition(" ")[0].endswith("Generator") else share / 2
        sampled = sampled_lines.of_loader(
            query, sampled_lines.sampled(query, run_id, host_id), sources, least
        )
        if sampled.place is not None:
            sampled = sampled._replace(called_from=place)
            place, in_python = sampled.place, True
    if cause == "compile":
        retrace = _retraced(asked)
        function = _compiled(asked) if retrace is None else retrace.function
        # The recorder was there when it was called; samples only come by.
        place = None if retrace is None else retrace.called
    of_ops = cause in ("compute", "none")
    caller = _caller(asked) if cause == "python" else Caller()
    if caller.ps <= CALLED_BACK * ps_per_step * weighed.steps:
        caller = Caller()
    if of_ops and op is not None:
        place = sampled_lines.of_op(query, run_id, op)
        if place is None and cause == "compute" and op_type is not None:
            place = traced_calls.of_op(query, op_type, sources)
    stacks: Mapping[int, sampled_lines.Stacks] = {}
    if place is None and not of_ops and cause not in ("idle", "unknown", "communication"):
        stacks = sampled_lines.sampled(query, run_id, host_id)
        sampled = sampled_lines.Found(None, None)
        if caller.op_type is not None:
            sampled = sampled_lines.of_callbacks(query, stacks, sources)
        if sampled.place is None:
            sampled = sampled_lines.of_label(query, stacks, cause, sources)
        if (
            cause == "python"
            and caller.op_type is None
            and sampled.samples < share / 2 * sampled_lines.looks(query, stacks, sources)
        ):
            # An op that calls Python runs it on a thread of the framework.
            inside = sampled_lines.of_loader(query, stacks, sources, share / 2)
            sampled = sampled if inside.place is None else inside._replace(called_from=None)
        place = sampled.place
    elif cause == "compile":
        stacks = sampled_lines.sampled(query, run_id, host_id)
    more: Mapping[int, int] = {}
    if place is None and cause in TRACED and not stacks:
        weights = traced_calls.by_label(query, sources)
        place = traced_calls.of_label(weights, cause)
        in_python = cause == "input" and place is not None
        if place is not None:
            more = side_effects.traced(weights, place, cause, [(step.id, step.sums) for step in judged])
    mark = (
        traced_calls.marked(query, cause, sources)
        if place is None and cause in MARKED and not stacks
        else None
    )
    one_by_one = _one_by_one(asked, len(steps)) if cause == "dispatch" else 1.0
    if place is not None and not more:
        more = side_effects.goes_with(
            query, stacks.values(), place, cause, sources, one_by_one, spent_in=sampled.spent_in
        )
    of_it = judgement.standing_out(op_share, layer_share) if cause == "compute" else 1.0
    if cause == "compute" and of_it == op_share:
        # A device that stands still meanwhile waits for what is launched, op by op.
        more = {step.id: round(top.launched / of_it * step.sums.get("dispatch", 0)) for step in judged}
    sums = [
        (step.dur_ps, {**step.sums, cause: step.sums.get(cause, 0) + more.get(step.id, 0)}) for step in judged
    ]
    # Without the stage that limits, the next one may: the pipeline's own model tells what a step takes then.
    calls = _launches(asked, len(steps)) if cause == "dispatch" else None
    awaits = _awaited(asked) if cause == "copy" else None
    allocating = _allocating(asked) if cause == "setup" else None
    sessions = _sessions(asked, len(judged)) if cause == "dispatch" and calls is None else None
    left, low, high = then or gain.without(
        sums,
        cause,
        _paces(query, asked, sources, len(steps)),
        of_it,
        calls or 0,
        1.0 if contention is None else contention.had_cores,
        top.on_device,
    )
    others = _others(steps, contention) if cause == "compile" and compiles_again(steps) else None
    if others is not None:
        # The steps that compile nothing were recorded, too.
        left = round(others.mean_ps * (1 - others.share_of("compile")))
        low, high = min(low, left), max(high, left)
    weak = judgement.weaknesses(
        [(step.dur_ps, step.sums) for step in judged],
        cause,
        None if sampled.place is None else (sampled.samples, sampled.there, sampled.next_best),
        contention,
    )
    sure = judgement.confidence_of(share, weighed.share_of("unknown"), len(judged), weak)
    return Judgement(
        parts=weighed.parts,
        cause=cause,
        steps=weighed.steps,
        mean_ps=weighed.mean_ps,
        whole_capture=weighed.whole_capture,
        run_id=run_id,
        host_id=host_id,
        share=share,
        ps_per_step=ps_per_step,
        contention=contention,
        awaits_copies=awaits,
        serves=all(step.recovered_from == "batch" for step in judged),
        on_device=top.on_device,
        weak=tuple(weak),
        confidence="low" if weighed.whole_capture and cause != "unknown" else sure,
        left_ps=left,
        low_ps=low,
        high_ps=high,
        place=place,
        called_from=sampled.called_from,
        spent_in=sampled.spent_in,
        in_python=in_python,
        op=op if of_ops else caller.op,
        op_type=op_type if of_ops else caller.op_type,
        op_share=op_share if of_ops else None,
        layer_share=layer_share if of_ops and (layer_share or 0.0) >= judgement.ONE_LAYER else None,
        stage=stage,
        allocating=allocating,
        calls=calls if sessions is None else sessions,
        of_session=sessions is not None,
        spoken=spoken,
        given=given,
        function=function,
        retrace=retrace,
        compiling=sum(step.kind == "compile" for step in steps) or None,
        others=others,
        mark=mark,
    )


def _others(steps: Sequence[Step], contention: Contention | None) -> Weighed | None:
    """What labels take of the steps that averages include, where others are judged as well."""
    averaged = [step for step in steps if step.averaged]
    return _weighed(averaged, contention) if averaged and len(averaged) < len(steps) else None


def _lines(query: Query, run_id: str) -> dict[str, str]:
    """Lines of the program, by the op or instruction that they made. What several lines made, in graphs of
    their own, is left out."""
    made = query(statement("lines_of_ops", run_id=run_id)).rows()
    compiled = query(statement("lines_of_instructions", run_id=run_id)).rows()
    found: dict[str, set[str]] = defaultdict(set)
    for op, file, line, *_ in (*made, *compiled):
        if file is not None and line is not None and not of_framework(file):
            found[op].add(f"{file}:{line}")
    return {op: lines.pop() for op, lines in found.items() if len(lines) == 1}


class Top(NamedTuple):
    """What computes longest; None where that is not known."""

    op: str | None = None
    """The longest op of the type."""
    op_type: str | None = None
    share: float | None = None
    """What the type takes of the time of all that compute."""
    layer_share: float | None = None
    """The same of the layer that takes longest."""
    launched: float = 0.0
    """The part of all that is launched on devices that is of the type."""
    on_device: bool = False
    """Whether it is known of devices."""


def _top_op(asked: Asked, line_of: Mapping[str, str]) -> Top:
    """What computes longest, on devices where there are any. Ops of the input pipeline are left out. A layer
    is a scope in the names of ops; where they have none, a line of the program, to which gradients of what it
    made belong."""
    rows = asked("computing_ops")
    place = "device" if any(row[0] == "device" and row[-2] for row in rows) else "host"
    # A fleet has many hosts, and a host many ops: each row is looked at once before anything is made of it.
    busy = [
        (op_type, op, op or name, own_ps)
        for at, op_type, op, name, _, own_ps, _ in rows
        if at == place and own_ps
    ]
    types: dict[str, int] = {}
    for op_type, _, called, own_ps in busy:
        types[op_type or called] = types.get(op_type or called, 0) + own_ps
    if not types:
        return Top()
    scoped = [(layer, own_ps) for _, op, _, own_ps in busy if op and (layer := layer_of(op))]
    # Where ops have no scopes, gradients of one seem to be in a scope that is called as the op.
    names = {op for _, _, op, *_ in rows if op} | line_of.keys() if scoped else set()
    layers: Counter[str] = Counter()
    for layer, own_ps in scoped:
        if layer not in names:
            layers[layer] += own_ps
    if not layers and line_of:
        for _, _, called, own_ps in busy:
            # The line of a gradient is that of the call which asks for all of them.
            if made := line_of.get(forward_of(called) or "" if is_gradient(called) else called):
                layers[made] += own_ps
    whole = sum(types.values())
    most = max(types, key=lambda one: (types[one], one))
    inside: Counter[str] = Counter()
    for op_type, _, called, own_ps in busy:
        if (op_type or called) == most:
            inside[called] += own_ps
    part = max(layers.values()) / whole if len(layers) > 1 else None
    launched = [(op_type or op or name, runs) for at, op_type, op, name, _, _, runs in rows if at == "device"]
    return Top(
        max(inside, key=lambda one: (inside[one], one)),
        most,
        types[most] / whole,
        part,
        sum(runs for called, runs in launched if called == most) / sum(runs for _, runs in launched)
        if place == "device"
        else 0.0,
        place == "device",
    )


class Caller(NamedTuple):
    """Ops that call Python."""

    op: str | None = None
    op_type: str | None = None
    """Of the one that takes longest."""
    ps: int = 0
    """How long all of them take."""


def _caller(asked: Asked) -> Caller:
    found: Counter[tuple[str, str]] = Counter()
    for _, op_type, op, name, kind, own_ps, _ in asked("computing_ops"):
        if kind == "python" and own_ps:
            found[op or name, op_type or op or name] += own_ps
    if not found:
        return Caller()
    return Caller(*max(found, key=lambda one: (found[one], one)), ps=sum(found.values()))


def _contention(asked: Asked) -> Contention | None:
    rows = asked("contention")
    if not rows or rows[0][0] is None or rows[0][1] is None:
        return None
    ((running, waiting, launching_ps, ran_ps, queued_ps),) = rows
    if not launching_ps:
        return Contention(running, waiting)
    return Contention(running, waiting, ran_ps / launching_ps, queued_ps / launching_ps)


def _paces(query: Asking, asked: Asked, sources: Sequence[int], steps: int) -> gain.Paces | None:
    """What steps take with and without a profiler, where a recorder timed both."""
    rows = asked("traced_durations")
    if not rows:
        return None
    events = sum(
        query(statement("slice_count", source_id=source_id)).rows()[0][0] or 0 for source_id in sources
    )
    return gain.paces_of([(of_call, series, value) for of_call, series, value in rows], events / steps)


class Stage(NamedTuple):
    """The stage that holds the program up most."""

    name: str | None = None
    place: Place | None = None
    """Where the program wrote it."""
    then: tuple[int, int, int] | None = None
    """How long a step would be without its work, with bounds."""
    spoken: str | None = None
    """As the user wrote it."""
    function: Place | None = None
    """The function of the program's that it calls, where the capture tells."""


def _stage(asked: Asked) -> Stage:
    rows = asked("limiting_stage")
    if not rows:
        return Stage()
    name, user_stage, position, spoken, *written, left, low, high = rows[0]
    file, line, inside, transformation, arguments = written
    stage = branch(name)
    called = function_in(arguments or "") if transformation else None
    return Stage(
        f"{stage} ({written_as(user_stage, position)})" if user_stage else stage,
        None if file is None else Place(file, line, inside),
        None if left is None else (left, low, high),
        spoken if file is None else " with ".join(f".{word}" for word in words(user_stage)) or spoken,
        None if called is None else Place(called.file, called.line, called.name),
    )


def _retraced(asked: Asked) -> Retrace | None:
    """What the recorder saw compile for longest within the steps, but for the first time of each function."""
    rows = asked("longest_retrace")
    if not rows:
        return None
    function, file, line, inside, *more = rows[0]
    return Retrace(function, None if file is None else Place(file, line, inside), *more)


def _compiled(asked: Asked) -> str | None:
    """The function that was traced for longest, where slices tell."""
    rows = asked("longest_traced")
    return rows[0][0] if rows else None


def _one_by_one(asked: Asked, steps: int) -> float:
    """The part of all computing that belongs to ops which run again and again in a step: those are launched
    one by one. The others are of functions that are compiled already, and stay. 1.0 where no op is known."""
    whole = again = 0
    for *_, own_ps, runs in asked("computing_ops"):
        whole += own_ps or 0
        again += (own_ps or 0) if runs > OF_COMPILED * steps else 0
    return again / whole if whole else 1.0


HOST_MEMORY = "S(5)"
"""How XLA writes in a shape that an array lies in the memory of the host."""


def _awaited(asked: Asked) -> Literal["host", "device"] | None:
    """Which copies the cores of devices wait for; None where they wait for none."""
    rows = asked("copy_waits")
    if not rows:
        return None
    with_host = sum(took for name, took in rows if HOST_MEMORY in name)
    return "host" if 2 * with_host >= sum(took for _, took in rows) else "device"


def _allocating(asked: Asked) -> Allocating | None:
    """The calls that allocate or free memory of a device, of the kind that takes longest."""
    rows = asked("setup_calls")
    return Allocating(rows[0][0], rows[0][1], rows[0][2], sum(row[2] for row in rows)) if rows else None


def _sessions(asked: Asked, steps: int) -> int | None:
    """Calls of Session.run in a step, where there are any."""
    ((number,),) = asked("session_calls")
    return round(number / steps) if number else None


def _launches(asked: Asked, steps: int) -> int | None:
    ((number,),) = asked("launch_count")
    return number // steps if number and steps else None
