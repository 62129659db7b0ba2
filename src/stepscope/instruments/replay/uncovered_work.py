"""Work of other threads or devices that a cause covers, found by replay without it.

The parts of a step tell what is left of the time of the thread that drives it. What goes on meanwhile, such
as an input pipeline that keeps ahead of a slow model, costs nothing as long as the cause hides it, and limits
the step afterwards. What workers of a DataLoader need for a batch was not recorded: it may be as much as the
step takes.
"""

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from stepscope.instruments.causes import gain
from stepscope.instruments.causes.judgement import Judgement
from stepscope.instruments.causes.label_shares import CauseName
from stepscope.instruments.causes.timed_steps import TimedStep, judged_steps, steps_by_host
from stepscope.instruments.pipeline import loaders
from stepscope.instruments.pipeline.loaders import Loading
from stepscope.instruments.replay import feeding_threads, recorded_steps
from stepscope.instruments.replay.whatif import CAUSES, DurationChange, ask
from stepscope.instruments.step_breakdown import part_tables
from stepscope.instruments.step_breakdown.labels import LABELS
from stepscope.library.statements import Query, Stream, statement

RAISES = 1.25
"""What comes out has to take so many times as long as what is left otherwise: neither is known better."""
_HIDING: frozenset[CauseName] = frozenset({"compute", "python", "wait", "copy", "setup"})
"""Causes behind which others' work goes on and stays. Without launching or compiling, other work is launched;
waiting for input has its own model."""

_FED_OR_NOTHING: frozenset[CauseName] = frozenset({"input", "none", "unknown"})
"""Where nothing goes, or those go that feed the steps."""


def raised(query: Query, stream: Stream, judged: Sequence[Judgement]) -> list[Judgement]:
    """The judgements, with what is left where the replay knows it better: of ops on devices, and where hidden
    work limits it. Nothing is replayed where no more is hidden than is left anyway."""
    judged = fed_unseen(judged, loaders.find(query))
    judged = [_fed_by_threads(query, judgement) for judgement in judged]
    hiding = [judgement for judgement in judged if judgement.cause in _HIDING and not judgement.whole_capture]
    if not hiding:
        return list(judged)
    hidden: dict[tuple[str, str], int] = {}
    for run_id, host_id, _, steps, work_ps in query(statement("hidden_in_steps")).rows():
        host = run_id, host_id
        hidden[host] = max(hidden.get(host, 0), (work_ps or 0) // max(steps, 1))
    hosts = steps_by_host(query)
    found = []
    for judgement in judged:
        host = judgement.run_id, judgement.host_id
        if judgement in hiding and judgement.on_device and judgement.cause == "compute":
            found.append(_remove_op(query, stream, judgement, hosts[host]))
            continue
        least_ps, untraced = RAISES * _known(judgement), _untraced_part(judgement)
        seen_ps = round(hidden.get(host, 0) * untraced)
        needs_ps = None
        if judgement in hiding and seen_ps > least_ps:
            needs_ps = _needs(query, stream, judgement, hosts[host])
        if needs_ps is None or needs_ps * untraced <= least_ps:
            found.append(judgement)
            continue
        needed = gain.hidden_work(round(needs_ps * untraced), seen_ps, _cores(judgement))
        found.append(_limit_removal(judgement, needed))
    return found


def fed_unseen(judged: Sequence[Judgement], loading: Sequence[Loading]) -> list[Judgement]:
    """The judgements, those marked whose batches come from workers, which may take as long for one as the
    step takes so far."""
    fed = {of_host.host_id for of_host in loading if any(loader.workers for loader in of_host.loaders)}
    return [
        replace(judgement, fed_unseen=True)
        if judgement.host_id in fed and judgement.cause not in _FED_OR_NOTHING
        else judgement
        for judgement in judged
    ]


def _known(judgement: Judgement) -> int:
    """What is left in any case. Where steps without a profiler told it, that is known better than what a
    profiler made of the work of others."""
    return judgement.left_ps if judgement.untraced_ps is None else judgement.high_ps


def _untraced_part(judgement: Judgement) -> float:
    """Which part of a recorded step one takes without a profiler, where that is shorter: what others do in
    each step fits into it, and takes as much less."""
    return min((judgement.untraced_ps or judgement.mean_ps) / max(judgement.mean_ps, 1), 1.0)


def _remove_op(query: Query, stream: Stream, judgement: Judgement, steps: Sequence[TimedStep]) -> Judgement:
    """Without the type of op that stands out. On a device it runs beside the thread that launches it: what is
    left is the longest of both. A layer is no type of op; of it the parts of the step tell."""
    if judgement.op_type is None or judgement.layer_share is not None:
        return judgement
    answers = ask(query, stream, DurationChange(ops={judgement.op_type: 0.0}), [steps])
    if len(answers) != 1 or answers[0].then_ps is None or answers[0].unknown:
        return judgement
    left_ps = min(answers[0].then_ps, judgement.mean_ps)
    low_ps, high_ps = min(judgement.low_ps, left_ps), min(max(judgement.high_ps, left_ps), judgement.mean_ps)
    return replace(judgement, left_ps=left_ps, low_ps=low_ps, high_ps=high_ps, corrected=())


def _fed_by_threads(query: Query, judgement: Judgement) -> Judgement:
    """With as much left as threads need that make batches for the steps, and were ahead of them so far."""
    # Where no sample tells the line of the cause, there are none of threads either: a fleet is not asked.
    if judgement.cause in _FED_OR_NOTHING or judgement.whole_capture or judgement.samples is None:
        return judgement
    needs = feeding_threads.longest(query, judgement.run_id, judgement.host_id)
    step_ps = judgement.mean_ps * _untraced_part(judgement)
    if needs is None or needs.part * step_ps <= RAISES * _known(judgement):
        return judgement
    needs_ps, error_ps = (round(part * step_ps) for part in (needs.part, needs.error))
    return _limit_removal(judgement, gain.hidden_work(needs_ps, needs_ps, needs.had_cores, error_ps))


def _cores(judgement: Judgement) -> float:
    """For which part of the time in which its threads wanted a core a program had one."""
    return 1.0 if judgement.contention is None else judgement.contention.had_cores


def _limit_removal(judgement: Judgement, found: gain.Left) -> Judgement:
    """As much is left as hidden work needs, or more where that was known already."""
    left_ps = min(found.ps, judgement.mean_ps)
    return replace(
        judgement,
        left_ps=left_ps,
        low_ps=min(max(judgement.low_ps, found.low_ps), left_ps),
        high_ps=min(max(judgement.high_ps, found.high_ps), judgement.mean_ps),
        corrected=(),
    )


def _needs(query: Query, stream: Stream, judgement: Judgement, steps: Sequence[TimedStep]) -> int | None:
    """The time that other threads and devices need in a mean step if the driving thread itself takes none.
    None where the replay misses the recorded steps."""
    wanted = {step.id for step in judged_steps(steps)}
    change = _gone(query, judgement)
    durations: list[int] = []
    for source in part_tables.sources_with_steps(query):
        if any(step.id in wanted for step in source.steps):
            read = recorded_steps.read(query, stream, source, list(wanted))
            if read is None or read.is_missed:
                return None
            durations += read.durations(read.core.replay(change.lefts(read), [0.0] * len(LABELS)))
    return round(fmean(durations)) if durations else None


def _gone(query: Query, judgement: Judgement) -> DurationChange:
    """What others do not have to wait for. Ops of the model that stay count with the rest of what is left."""
    if judgement.cause == "compute":
        rows = query(statement("computing_ops")).rows()
        ops_of_host = [row[4:6] for row in rows if row[:2] == (judgement.run_id, judgement.host_id)]
        return DurationChange(ops=dict.fromkeys((op or name for op, name in ops_of_host), 0.0))
    return DurationChange(without=judgement.cause if judgement.cause in CAUSES else None)
