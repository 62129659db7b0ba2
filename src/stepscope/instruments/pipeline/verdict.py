"""The verdict: whether the input is the bottleneck, how certain that is, and what would change it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from stepscope.instruments.causes.label_shares import Weighed
from stepscope.instruments.pipeline import (
    accounting,
    ceiling,
    chain,
    changes,
    fitting,
    oddities,
    places,
    rates,
    stage_tree,
    waits,
)
from stepscope.instruments.pipeline.calls import StageCall
from stepscope.instruments.pipeline.changes import PredictedChange
from stepscope.instruments.pipeline.cores import cores_of, pool_of, tells_cores
from stepscope.instruments.pipeline.diagnosis import CaptureEvidence, Confidence, Diagnosis, Verdict
from stepscope.instruments.pipeline.host import Machine
from stepscope.instruments.pipeline.limits import gain_without, limiting_stages
from stepscope.instruments.pipeline.load import Load
from stepscope.instruments.pipeline.model import PipelineModel
from stepscope.instruments.pipeline.stages import PROGRAM, PipelineStage
from stepscope.instruments.pipeline.waits import BOUND_FROM, PARTLY_FROM, StepTime, Waits

_SEEN = 0.5
"""Traced runs are representative when they wait at least this part of the time that other runs wait."""
FEW_STEPS = 5
"""With fewer steps than this, the share is uncertain."""


def diagnose(
    calls: Sequence[StageCall],
    steps: Sequence[StepTime],
    *,
    device: bool = False,
    share_seen: float = 1.0,
    beside: CaptureEvidence | None = None,
    judged: Weighed | None = None,
) -> Diagnosis:
    """The diagnosis of one source. device: the recording has an accelerator. judged: the parts of its steps,
    which the verdict follows; without them, only the waits decide."""
    beside = beside or CaptureEvidence()
    found, of = stage_tree.build(calls)
    waited = waits.find(calls, steps)
    loads = tuple(rates.measure(calls, found, of, waited))
    where = places.locate(found, beside.places)
    chain.find_listing(found, where)
    cores, tells_cores, least = _cores(found, beside)
    diagnosis = Diagnosis(
        verdict="unknown",
        confidence="low",
        waits=None,
        loads=loads,
        ranked=(),
        changes=(),
        cores=cores,
        share_seen=share_seen,
        machine=beside.machine,
        places=where,
        odd=(*beside.missing, *oddities.oddities(calls)),
        ends=chain.ending(found) if found else None,
        removed=tuple(chain.removed(found, beside.places)),
        tells_cores=tells_cores,
        least_threads=least,
    )
    if waited is None:
        return diagnosis
    accounts = accounting.account(found, beside.models) if beside.models else None
    if accounts is not None:
        batches = waited.batches / max(len(waited.basis), 1) if waited.has_steps else 1.0
        loads = tuple(rates.add_model(loads, accounts, batches or 1.0, waited.step_ps))
    wait_share = waited.ratio
    waited, unseen = _weighed(waited, loads, judged)
    step_ps = round(waited.step_ps * (1.0 if beside.pace is None else beside.pace.untraced_share))
    now = fitting.fit(loads, waited, cores, device, beside.machine, step_ps)
    diagnosis = replace(
        diagnosis,
        verdict=judge(waited.ratio) if judged is None else follow(judged),
        waits=waited,
        loads=loads,
        accounts=accounts,
        step_ps=step_ps,
        pace=beside.pace,
        wait_share=wait_share,
        model=now,
        unseen=unseen,
    )
    diagnosis = _add_limit(diagnosis, waited, now, step_ps)
    diagnosis = _add_changes(diagnosis, waited, now, step_ps, beside, device)
    return replace(diagnosis, confidence=_sure(diagnosis, waited))


def _cores(found: Sequence[PipelineStage], beside: CaptureEvidence) -> tuple[int, bool, int | None]:
    """How many cores there are, as far as is known; whether the recording tells; and, where it does not tell
    of threads either, those that ran at once."""
    if beside.machine is not None:
        return beside.machine.cores, True, None
    if beside.cores is not None:
        return beside.cores, True, None
    if tells_cores(found) or pool_of(found) is not None:
        return cores_of(found), tells_cores(found), None
    least = max(beside.at_once or 1, 1)
    return least, False, least


def _weighed(waited: Waits, loads: Sequence[Load], judged: Weighed | None) -> tuple[Waits, int | None]:
    """The waits by the parts of the steps; and the wait of the traced runs, if too short to be
    representative."""
    if judged is None or not waited.has_steps or waited.between or judged.whole_capture:
        return waited, None
    traced_ps = waited.wait_ps
    waited = replace(waited, ratio=judged.share_of("input"))
    if not judged.elsewhere:
        return waited, None
    waited = replace(waited, mean_ps=judged.mean_ps)
    ahead = any(load.stage.ahead for load in loads)
    return waited, traced_ps if ahead and traced_ps < _SEEN * waited.wait_ps else None


def _add_limit(diagnosis: Diagnosis, waited: Waits, now: PipelineModel, step_ps: int) -> Diagnosis:
    """The diagnosis with its final verdict and ranking, and the stages that limit."""
    loads, ends, verdict = diagnosis.loads, diagnosis.ends, diagnosis.verdict
    gains = {load.stage: gain_without(now, [load], step_ps) for load in loads}
    ranked = tuple(sorted(loads, key=lambda load: (-gains[load.stage], -load.service_ps, load.stage.number)))
    # Without a prefetch, the program waits for the pipeline, however fast it is.
    asked = ends is not None and ends.prefetch == "none" and waited.ratio >= PARTLY_FROM
    keeps_up = bool(loads) and diagnosis.unseen is None and not asked and _keeps_up(loads, waited)
    if keeps_up and verdict == "partly_input_bound" and not any(load.unseen for load in loads):
        verdict = "not_input_bound"
    worst = other = None
    if verdict != "not_input_bound" and not keeps_up and diagnosis.unseen is None:
        worst, other = limiting_stages(ranked, gains, now, waited, step_ps)
    if worst is not None and 2 * worst.service_ps < waited.wait_ps and any(load.unseen for load in loads):
        worst = other = None  # what was not recorded explains more of the wait
    if worst is not None:
        ranked = (worst, *(load for load in ranked if load is not worst))
    return replace(diagnosis, verdict=verdict, ranked=ranked, bottleneck=worst, beside=other)


def _add_changes(
    diagnosis: Diagnosis,
    waited: Waits,
    now: PipelineModel,
    step_ps: int,
    beside: CaptureEvidence,
    device: bool,
) -> Diagnosis:
    """The diagnosis with proposed changes, for the stage that limits, or that takes most of the cores; and
    with the time between runs, where a pipeline that keeps up works ahead in it."""
    loads, machine, worst = diagnosis.loads, diagnosis.machine, diagnosis.bottleneck
    bound = diagnosis.verdict != "not_input_bound"
    tried = worst if bound else changes.heaviest(loads, now, waited.step_ps - waited.wait_ps, machine)
    made: list[PredictedChange] = []
    if tried is not None:
        even = rates.even_ps(loads, waited) / max(waited.step_ps, 1)
        tells = (diagnosis.tells_cores, diagnosis.least_threads is None)
        made = changes.propose(
            loads,
            tried,
            now,
            step_ps,
            diagnosis.places,
            beside.places,
            machine,
            even,
            bound,
            beside.remade,
            tells,
        )
    best = None
    if worst is not None and diagnosis.tells_cores:
        program_cpu = _program_cpu(loads, waited, machine)
        best = ceiling.ceiling(loads, waited, diagnosis.cores, program_cpu, device)
    apart_ps = beside.apart_ps if not bound and any(load.stage.ahead for load in loads) else None
    contends = None if bound else tried
    return replace(diagnosis, changes=tuple(made), ceiling=best, contends=contends, apart_ps=apart_ps)


def _sure(diagnosis: Diagnosis, waited: Waits) -> Confidence:
    """The confidence of the diagnosis. If the program waits and no stage explains it, it may be waiting for a
    core."""
    inside = sum(load.service_ps for load in diagnosis.loads if load.stage.lane == PROGRAM)
    explained = (
        not diagnosis.loads
        or diagnosis.verdict == "not_input_bound"
        or diagnosis.bottleneck is not None
        or diagnosis.unseen is not None
    )
    hidden = diagnosis.verdict != "not_input_bound" and any(load.unseen for load in diagnosis.loads)
    if (
        diagnosis.odd
        or hidden
        or diagnosis.apart_ps is not None
        or not (explained or 2 * inside >= waited.wait_ps)
    ):
        return "low"
    sure = _confidence(waited, diagnosis.beside)
    worst = diagnosis.bottleneck
    if sure == "high" and worst is not None and 2 * worst.between_ops_ps > worst.service_ps:
        return "medium"
    crowded = diagnosis.machine is not None and diagnosis.machine.crowded
    return "medium" if sure == "high" and crowded else sure


def _program_cpu(loads: Sequence[Load], waited: Waits, machine: Machine | None) -> int:
    """CPU work of a step outside the pipeline: as recorded, else one core's while the program does not
    wait."""
    if machine is None or machine.process_cores is None:
        return waited.step_ps - waited.wait_ps
    return max(round(machine.process_cores * waited.step_ps) - sum(load.cpu_ps for load in loads), 0)


def follow(judged: Weighed) -> Verdict:
    """The verdict that agrees with the parts of the steps."""
    if judged.cause == "input":
        return "input_bound"
    return "partly_input_bound" if judged.share_of("input") > PARTLY_FROM else "not_input_bound"


def judge(ratio: float) -> Verdict:
    """The verdict for a share of the step, where nothing else is known."""
    if ratio >= BOUND_FROM:
        return "input_bound"
    return "partly_input_bound" if ratio >= PARTLY_FROM else "not_input_bound"


def _keeps_up(loads: Sequence[Load], waited: Waits) -> bool:
    """Whether the pipeline could deliver twice as fast as the program takes: then the program waits for a
    thread or a core, not for data."""
    lanes: Counter[str] = Counter()
    for load in loads:
        lanes[load.stage.lane] += load.service_ps
    if 2 * lanes[PROGRAM] >= waited.wait_ps > 0:
        return False  # nothing works ahead: the program waits while the stages work, however briefly
    return 2 * max(lanes.values(), default=0) < waited.step_ps - waited.wait_ps


def _confidence(waited: Waits, other: Load | None) -> Confidence:
    if not waited.has_steps or waited.batches < 2:
        return "low"
    near = any(abs(waited.ratio - edge) < 0.03 for edge in (BOUND_FROM, PARTLY_FROM))
    return "medium" if near or other is not None or len(waited.basis) < FEW_STEPS else "high"
