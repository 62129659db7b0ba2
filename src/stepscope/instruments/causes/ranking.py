"""Ranks the labels of a step: which one limits it, with the evidence."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from statistics import median
from typing import Any, NamedTuple

from stepscope.instruments import laws
from stepscope.instruments.causes import gain
from stepscope.instruments.causes.all_causes import CAUSES, COMPUTE, DISPATCH, UNKNOWN
from stepscope.instruments.causes.cause_facts import GarbageCollection
from stepscope.instruments.causes.competing import competing_of
from stepscope.instruments.causes.confidence import confidence_of, weaknesses
from stepscope.instruments.causes.contention import Contention, contention_of
from stepscope.instruments.causes.explanation import Explanation
from stepscope.instruments.causes.host_steps import HostSteps
from stepscope.instruments.causes.judgement import Judgement, Rival
from stepscope.instruments.causes.label_shares import CauseName, LabelShare, Weighed, parts_of
from stepscope.instruments.causes.lock_holders import line_beside_label
from stepscope.instruments.causes.mixed_lines import MixedLine, aside_line, mixed_line
from stepscope.instruments.causes.query_cache import QueryCache
from stepscope.instruments.causes.second_line import lines_of, other_labels
from stepscope.instruments.causes.side_effects import goes_by_stack
from stepscope.instruments.causes.timed_steps import TimedStep, judged_steps, steps_by_host, timed_steps
from stepscope.instruments.step_breakdown.interpreter_lock import ACTIVE
from stepscope.library.statements import Query


def judge(query: Query, name: CauseName | None = None) -> list[Judgement]:
    """The judgement of each host, those with most time in steps first. name: judge this cause instead of the
    one that ranks first."""
    cache = QueryCache(query)
    judged = [
        judge_host(HostSteps(cache, *host, steps, weigh), name)
        for host, steps in steps_by_host(query).items()
    ]
    return sorted(
        laws.proved(judged, query),
        key=lambda judgement: (-judgement.steps * judgement.mean_ps, judgement.run_id, judgement.host_id),
    )


def judge_host(host: HostSteps, name: CauseName | None = None) -> Judgement:
    """The judgement of a host by the cause that ranks first, or by the named one. The ranking does not depend
    on the name."""
    weighed, top = weigh(host.steps, host.contention), host.top_op
    ranked = _first_ranked(host, weighed)
    if name is not None and name != ranked.cause:
        ranked = _Ranked(name, weighed.share_of(name), weighed.ps_per_step_of(name))
    name, share, ps_per_step, mixed = ranked
    aside = mixed is not None and mixed.aside
    found = _explained(host, name, share, ps_per_step, mixed)
    left = _step_without(host, name, mixed) or CAUSES[name].step_without(host, found)
    sums = [(step.dur_ps, step.sums) for step in host.steps]
    weak = weaknesses(sums, name, found.samples, host.contention)
    sure = confidence_of(share, weighed.share_of("unknown"), len(host.steps), weak)
    return Judgement(
        **_values(weighed) | _values(found) | {"cause": name},
        run_id=host.run_id,
        host_id=host.host_id,
        share=share,
        ps_per_step=ps_per_step,
        confidence="low" if weighed.whole_capture and name != "unknown" else sure,
        left_ps=left.ps,
        low_ps=left.low_ps,
        high_ps=left.high_ps,
        corrected=left.corrected,
        untraced_ps=left.untraced_ps,
        median_ps=round(median(step.dur_ps for step in host.steps)),
        typical_ps=left.typical_ps,
        besides_ps=left.besides_ps,
        contention=host.contention,
        competing=competing_of(host, name),
        serves=all(step.recovered_from == "batch" for step in host.steps),
        of_runs=all(step.recovered_from == "file" for step in host.steps),
        on_device=top.on_device,
        weak=tuple(weak),
        rival=None if name == "unknown" or aside else rival_of(host, weighed.parts, name, share),
        compiling=_compiling(host.all_steps),
    )


class _Ranked(NamedTuple):
    """A cause, its share of the steps, and its line if several labels share one."""

    cause: CauseName
    share: float
    ps_per_step: int
    mixed: MixedLine | None = None


def _first_ranked(host: HostSteps, weighed: Weighed) -> _Ranked:
    """The cause that ranks first."""
    mixed = aside_line(host)
    if mixed is not None:
        name: CauseName = "python" if mixed.stores is None else "wait"
        return _Ranked(name, mixed.share, sum(part.ps_per_step for part in mixed.parts), mixed)
    # Where labels tell, ops do not matter: to look at their names takes longer than all else.
    of_ops, top = weighed.cause == "none", host.top_op
    layer_share, table = (host.top_layer.share, host.whole_table) if of_ops else (None, None)
    one_op, is_product = (top.share, top.is_product) if table is None else (table.share, False)
    name, share, ps_per_step = cause_of(weighed.parts, one_op, layer_share, host.contention, is_product)
    of_ops = name in ("compute", "none")
    label = longest_untraced(host) if of_ops else None
    of_ops = of_ops and label is None
    mixed = mixed_line(host) if of_ops else None
    # Small ops are called one after the other: what Python takes between them is part of that.
    calling = weighed.share_of("dispatch") + weighed.share_of("python")
    if of_ops and calling >= _MENTIONED and DISPATCH.are_ops(host) is not None:
        mixed, label = None, "dispatch"
    if mixed is not None:
        label = mixed.parts[0].label
    if label is not None:
        name, share, ps_per_step = label, weighed.share_of(label), weighed.ps_per_step_of(label)
    return _Ranked(name, share, ps_per_step, mixed)


_MOST, _IN_FEW = 0.5, 0.75
_IN_PYTHON = ("dispatch", "python")
"""Causes that go on in Python, which one thread runs at a time."""
_WITHOUT_EVENTS: tuple[CauseName, ...] = ("python", "wait")
_EQUAL, _MENTIONED = 0.85, 0.2
"""A label with this part of the cause's time, and this part of a step, is named beside it."""


def _explained(
    host: HostSteps, name: CauseName, share: float, ps_per_step: int, mixed: MixedLine | None
) -> Explanation:
    if mixed is not None and mixed.stores is not None:
        return Explanation(place=mixed.line, stores=mixed.stores)
    if mixed is not None and mixed.called_from is not None:
        place, spent_in = mixed.called_from, mixed.line
        return Explanation(place=place, spent_in=spent_in, other_batches=True, together=mixed.parts)
    if mixed is not None and mixed.aside:
        return Explanation(place=mixed.line, callbacks=True, together=mixed.parts)
    found = CAUSES[name].explain(host, share, ps_per_step)
    if mixed is not None:
        found = replace(found, place=mixed.line, spent_in=None, called_from=None, together=mixed.parts)
    ops = "compute" if name in ("compute", "none") and not host.top_op.on_device else None
    label = name if name in _IN_PYTHON else ops
    if found.meanwhile is None and label is not None and host.stacks.stacks:
        found = replace(found, meanwhile=line_beside_label(host.stacks, label, _MOST))
    together = found.together or other_labels(host, name, found, share)
    return replace(found, garbage=garbage_of(host), lines=lines_of(host, name, found), together=together)


def longest_untraced(host: HostSteps) -> CauseName | None:
    """The label that stands out in steps without the profiler, where that makes ops longer, and so the part
    of a step smaller that consists of no events; None where none does."""
    steps = host.untraced
    if steps is None or host.top_op.on_device:
        return None
    if steps.typical_ps > gain.THRESHOLDS.same * median(step.dur_ps for step in host.steps):
        return None
    rows, parts = host.stacks.parts(), dict[CauseName, float]()
    for label in _WITHOUT_EVENTS:
        left = steps.left_without(label, goes_by_stack(rows, (), label), host.stacks)
        if left is not None and left.part >= CAUSES[label].thresholds.stands_out:
            parts[label] = left.part
    return max(parts, key=lambda label: parts[label], default=None)


def garbage_of(host: HostSteps) -> GarbageCollection | None:
    """The time of garbage collection; None if it is too little to report."""
    for garbage_ps, steps_ps, steps, collections, whole in host.ask("garbage_of_host"):
        if garbage_ps >= _MENTIONED * steps_ps:
            return GarbageCollection(garbage_ps / steps_ps, collections, whole, steps)
    return None


def _step_without(host: HostSteps, name: CauseName, aside: MixedLine | None) -> gain.Left | None:
    """The length of a mean step without the work beside the training; None if that is not the cause."""
    if aside is None or not aside.aside:
        return None
    took, untraced = aside.by_step, None
    steps = [(step.dur_ps, {**step.sums, name: took.get(step.id, 0)}) for step in host.steps]
    if host.untraced is not None and not host.top_op.on_device:
        untraced = host.untraced.left_without("none", aside.goes, host.stacks)
    left = gain.step_without(
        steps, name, host.paces, had_cores=host.had_cores, samples=host.stacks.number(), untraced=untraced
    )
    all_ps, own_ps = sum(took.values()) // len(steps), sum(part.ps_per_step for part in aside.parts)
    # The first call of a model that is new finds nothing warm: how much of that goes, nobody knows.
    low_ps = 0 if aside.stores == "model" else left.low_ps
    return left._replace(besides_ps=max(all_ps - own_ps, 0), low_ps=low_ps)


def rival_of(host: HostSteps, parts: Sequence[LabelShare], cause: CauseName, share: float) -> Rival | None:
    """What takes as much as the cause, or nearly so, with its place: to remove one of both is worth half of
    what it seems. Launching may take more, and be less of a cause. Where nothing stands out, what takes most
    beside ops is named."""
    named_label = "compute" if cause == "none" else cause
    for part in parts:
        if part.label in (named_label, "unknown") or part.share < _MENTIONED:
            continue
        as_much = _EQUAL * share <= part.share and (part.share <= share / _EQUAL or part.label == "dispatch")
        if as_much or cause == "none":
            found = CAUSES[part.label].explain(host, part.share, part.ps_per_step)
            what = found.spoken
            if part.label == "compute":
                # One of many ops is not what all of that time goes to.
                most = (found.op_share or 0.0) >= _MOST
                what = found.written_op or found.op_type if most else None
            return Rival(part.label, part.share, found.place, what)
    return None


def _compiling(steps: Sequence[TimedStep]) -> int | None:
    """The number of steps that compile; None if none does, or if others have a good part of that time."""
    compiling = [step.sums.get("compile", 0) for step in steps if step.kind == "compile"]
    all_ps = sum(step.sums.get("compile", 0) for step in steps)
    return len(compiling) if compiling and sum(compiling) >= _IN_FEW * all_ps else None


def _values(found: Any) -> dict[str, Any]:
    return {field.name: getattr(found, field.name) for field in fields(found)}


def cause_of(
    parts: Sequence[LabelShare],
    one_op: float | None,
    one_layer: float | None = None,
    contention: Contention | None = None,
    is_product: bool = False,
) -> tuple[CauseName, float, int]:
    """What limits a step, with its share and its time: what is unknown where most is, else the longest label
    that stands out, or has most of the step, else ops. parts: the longest first; one_op: what the type of op
    that takes most takes of all, is_product whether that is a product or a convolution; one_layer: the same
    of a layer."""
    of_label = {part.label: part for part in parts}
    compute = of_label.get("compute", LabelShare("compute", 0, 0.0))
    unknown = of_label.get("unknown", LabelShare("unknown", 0, 0.0))
    if UNKNOWN.hides_the_rest(parts):
        return "unknown", unknown.share, unknown.ps_per_step
    held_up = None
    for part in parts:
        if part.label in ("compute", "unknown"):
            continue
        if CAUSES[part.label].stands_out(part, contention):
            found = part if held_up is None else _longer_of(held_up, part, contention)
            return found.label, found.share, found.ps_per_step
        if held_up is None and part.share >= CAUSES[part.label].thresholds.stands_out:
            held_up = part
    if parts and parts[0].share > _MOST and parts[0].label not in ("compute", "unknown"):
        # Launching that others made wait stands out no more, but nothing else has as much.
        return parts[0].label, parts[0].share, parts[0].ps_per_step
    if compute.share <= unknown.share:
        found = unknown if held_up is None else held_up
        return found.label, found.share, found.ps_per_step
    one_kind = COMPUTE.thresholds.standing_out(one_op, one_layer, is_product)
    return "compute" if one_kind else "none", compute.share, compute.ps_per_step


def _longer_of(held_up: LabelShare, part: LabelShare, contention: Contention | None) -> LabelShare:
    """The longer one of launching that waits for cores and a label that stands out beside it, if both had
    cores: work of the same thread waits for them, too."""
    if part.label not in ACTIVE or contention is None:
        return part
    launches = held_up.share * contention.launching
    return held_up if launches > part.share * contention.thread_had_core else part


def weigh(judged: Sequence[TimedStep], contention: Contention | None) -> Weighed:
    """The shares of labels in steps, and which of them limits these as far as labels show."""
    parts = parts_of([(step.dur_ps, step.sums) for step in judged])
    return Weighed(
        parts,
        cause_of(parts, None, None, contention)[0],
        len(judged),
        round(sum(step.dur_ps for step in judged) / len(judged)),
        all(step.recovered_from == "whole_capture" for step in judged),
    )


def weigh_sources(query: Query, first: Mapping[int, int]) -> dict[int, Weighed]:
    """What labels take of the steps of each source, or of several by the first of them. first: of sources
    that are judged together. Reads neither ops nor the input pipeline, so that what is
    said of the pipeline can follow it. Of runs that were traced beside steps that were sampled, those steps
    tell."""
    groups: dict[int, list[TimedStep]] = defaultdict(list)
    sampled: dict[tuple[str, str], list[TimedStep]] = defaultdict(list)
    for step in timed_steps(query):
        groups[first.get(step.source_id, step.source_id)].append(step)
        if step.recovered_from == "recorder" and step.averaged:
            sampled[step.run_id, step.host_id].append(step)
    cache = QueryCache(query)
    found = {}
    for source_id, steps in groups.items():
        host = steps[0].run_id, steps[0].host_id
        has_steps = any(step.averaged or step.recovered_from != "file" for step in steps) or not sampled[host]
        judged = judged_steps(steps if has_steps else sampled[host])
        weighed = weigh(judged, contention_of(cache.host_query(*host)))
        found[source_id] = weighed if has_steps else replace(weighed, elsewhere=True)
    return found
