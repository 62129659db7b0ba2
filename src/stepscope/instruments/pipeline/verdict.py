"""The verdict: is the input the bottleneck, which stage, how sure, and on what evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from stepscope.instruments.pipeline import (
    accounting,
    ceiling,
    changes,
    fitting,
    oddities,
    places,
    rates,
    stages,
    waits,
)
from stepscope.instruments.pipeline.accounting import Accounts, Node
from stepscope.instruments.pipeline.calls import Call
from stepscope.instruments.pipeline.ceiling import Ceiling
from stepscope.instruments.pipeline.changes import Change
from stepscope.instruments.pipeline.host import Machine
from stepscope.instruments.pipeline.oddities import Oddity
from stepscope.instruments.pipeline.places import Place
from stepscope.instruments.pipeline.rates import Load
from stepscope.instruments.pipeline.stages import Stage
from stepscope.instruments.pipeline.tracing import Pace
from stepscope.instruments.pipeline.waits import BOUND_FROM, PARTLY_FROM, StepTime, Waits

Verdict = Literal["input_bound", "partly_input_bound", "not_input_bound", "unknown"]
Confidence = Literal["high", "medium", "low"]

FEW_STEPS = 5
"""With fewer steps than this the share is not sure."""


@dataclass(frozen=True)
class Diagnosis:
    """What the trace of one source says about its input pipeline."""

    verdict: Verdict
    confidence: Confidence
    waits: Waits | None
    loads: tuple[Load, ...]
    """All stages, consumers first."""
    ranked: tuple[Load, ...]
    """Stages by how much they hold the pipeline up; empty when that cannot be told."""
    changes: tuple[Change, ...]
    cores: int
    share_seen: float = 1.0
    """Part of the recording's calls that was looked at."""
    accounts: Accounts | None = None
    """What tf.data's own model tells, where one was captured."""
    machine: Machine | None = None
    """How busy the cores were, where a record tells."""
    ceiling: Ceiling | None = None
    places: Mapping[Stage, Sequence[Place]] = field(default_factory=dict)
    """Where the user wrote each stage, as far as the capture tells."""
    step_ps: int | None = None
    """Duration of a step that predictions are to be compared with: without a profiler, where the capture
    tells that, else as it was traced. None where no waits are known."""
    pace: Pace | None = None
    """What steps took with and without a profiler, where the capture tells both."""
    contends: Load | None = None
    """The stage that takes most of the cores where a pipeline keeps up but shares them with the program."""
    odd: tuple[Oddity, ...] = ()
    """What is lost or odd in the recording; it lowers the confidence."""

    @property
    def bottleneck(self) -> Load | None:
        """The stage that limits; None when nothing points to one."""
        if self.verdict == "not_input_bound" or not self.ranked or not self.ranked[0].in_waits_ps:
            return None
        return self.ranked[0]


@dataclass(frozen=True)
class Beside:
    """What a capture holds beside the trace."""

    models: Sequence[Node] = ()
    places: Sequence[Place] = ()
    machine: Machine | None = None
    missing: Sequence[Oddity] = ()
    """What of the recording is lost or was cut, in sentences."""
    pace: Pace | None = None
    """What steps took with and without a profiler, where a recorder saw both."""


def diagnose(
    calls: Sequence[Call],
    steps: Sequence[StepTime],
    *,
    device: bool = False,
    share_seen: float = 1.0,
    beside: Beside | None = None,
) -> Diagnosis:
    """Judges the calls of one source. device: an accelerator was recorded."""
    beside = beside or Beside()
    found, of = stages.build(calls)
    waited = waits.find(calls, steps)
    loads = tuple(rates.measure(calls, found, of, waited))
    cores = beside.machine.cores if beside.machine is not None else rates.cores_of(found)
    where = places.locate(found, beside.places)
    odd = [*beside.missing, *oddities.oddities(calls)]
    if waited is None:
        return Diagnosis(
            "unknown", "low", None, loads, (), (), cores, share_seen,
            machine=beside.machine, places=where, odd=tuple(odd),
        )  # fmt: skip
    accounts = accounting.account(found, beside.models) if beside.models else None
    if accounts is not None:
        batches = waited.batches / max(len(waited.basis), 1) if waited.has_steps else 1.0
        loads = tuple(rates.with_model(loads, accounts, batches or 1.0, waited.step_ps))
    ranked = tuple(rates.slowest(loads))
    verdict = judge(waited.ratio)
    if verdict == "partly_input_bound" and _keeps_up(loads, waited):
        verdict = "not_input_bound"
    made: list[Change] = []
    best = None
    measured_ps = round(waited.step_ps * (1.0 if beside.pace is None else beside.pace.untraced_share))
    now = fitting.fit(loads, waited, cores, device, beside.machine, measured_ps)
    bound = verdict != "not_input_bound"
    if not bound:
        worst = changes.heaviest(loads, now, waited.step_ps - waited.wait_ps, beside.machine)
    else:
        worst = ranked[0] if ranked and ranked[0].in_waits_ps else None
    if worst is not None:
        even = rates.even_ps(loads, waited) / max(waited.step_ps, 1)
        made = changes.propose(loads, worst, now, measured_ps, where, beside.places, beside.machine, even)
    if worst is not None and bound:
        program_cpu = _program_cpu(loads, waited, beside.machine)
        best = ceiling.ceiling(loads, waited, cores, program_cpu, device)
    sure = "low" if odd else _confidence(waited, ranked)
    if sure == "high" and beside.machine is not None and beside.machine.crowded:
        sure = "medium"
    return Diagnosis(
        verdict, sure, waited, loads, ranked, tuple(made), cores, share_seen,
        accounts, beside.machine, best, where, measured_ps, beside.pace, None if bound else worst, tuple(odd),
    )  # fmt: skip


def _program_cpu(loads: Sequence[Load], waited: Waits, machine: Machine | None) -> int:
    """What a step needs of the cores outside of the pipeline: from the record, else one core's work while
    the program does not wait."""
    if machine is None or machine.process_cores is None:
        return waited.step_ps - waited.wait_ps
    return max(round(machine.process_cores * waited.step_ps) - sum(load.cpu_ps for load in loads), 0)


def judge(ratio: float) -> Verdict:
    """The verdict for a share of the step time."""
    if ratio >= BOUND_FROM:
        return "input_bound"
    return "partly_input_bound" if ratio >= PARTLY_FROM else "not_input_bound"


def _keeps_up(loads: Sequence[Load], waited: Waits) -> bool:
    """Whether the pipeline could deliver twice as fast as the program takes: what the program waits for then
    is a thread or a core, not data."""
    lanes: Counter[str] = Counter()
    for load in loads:
        lanes[load.stage.lane] += load.service_ps
    return 2 * max(lanes.values(), default=0) < waited.step_ps - waited.wait_ps


def _confidence(waited: Waits, ranked: Sequence[Load]) -> Confidence:
    if not waited.has_steps or waited.batches < 2:
        return "low"
    near = any(abs(waited.ratio - edge) < 0.03 for edge in (BOUND_FROM, PARTLY_FROM))
    unclear = (
        waited.ratio >= PARTLY_FROM
        and len(ranked) > 1
        and ranked[1].in_waits_ps > 0.7 * ranked[0].in_waits_ps
    )
    return "medium" if near or unclear or len(waited.basis) < FEW_STEPS else "high"
