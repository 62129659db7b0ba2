"""The verdict: is the input the bottleneck, which stage, how sure, and on what evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from stepscope import units
from stepscope.instruments.pipeline import changes, model, rates, stages, waits
from stepscope.instruments.pipeline.calls import Call
from stepscope.instruments.pipeline.changes import Change
from stepscope.instruments.pipeline.rates import Load
from stepscope.instruments.pipeline.waits import StepTime, Waits

Verdict = Literal["input_bound", "partly_input_bound", "not_input_bound", "unknown"]
Confidence = Literal["high", "medium", "low"]

BOUND_FROM, PARTLY_FROM = 0.2, 0.1
"""Waiting for input as part of the step time: from here on the input is the bottleneck, or a part of it."""
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
    evidence: tuple[str, ...]
    cores: int
    share_seen: float = 1.0
    """Part of the recording's calls that was looked at."""

    @property
    def bottleneck(self) -> Load | None:
        """The stage that limits; None when nothing points to one."""
        if self.verdict == "not_input_bound" or not self.ranked or not self.ranked[0].in_waits_ps:
            return None
        return self.ranked[0]


def diagnose(
    calls: Sequence[Call], steps: Sequence[StepTime], *, device: bool = False, share_seen: float = 1.0
) -> Diagnosis:
    """Judges the calls of one source. device: an accelerator was recorded."""
    found, of = stages.build(calls)
    waited = waits.find(calls, steps)
    loads = tuple(rates.measure(calls, found, of, waited))
    cores = rates.cores_of(found)
    if waited is None:
        why = "No call that takes a batch was recorded: whether the program waits cannot be told."
        todo = "Record while the loop runs, in the process that takes the batches."
        return Diagnosis("unknown", "low", None, loads, (), (), (why, todo), cores, share_seen)
    ranked = tuple(rates.slowest(loads))
    verdict = judge(waited.ratio)
    made: list[Change] = []
    if verdict != "not_input_bound" and ranked and ranked[0].in_waits_ps:
        now = model.of(loads, waited, cores, device)
        made = changes.propose(loads, ranked, now, waited.step_ps)
    said = _evidence(waited, ranked, verdict, share_seen)
    sure = _confidence(waited, ranked)
    return Diagnosis(verdict, sure, waited, loads, ranked, tuple(made), tuple(said), cores, share_seen)


def judge(ratio: float) -> Verdict:
    """The verdict for a share of the step time."""
    if ratio >= BOUND_FROM:
        return "input_bound"
    return "partly_input_bound" if ratio >= PARTLY_FROM else "not_input_bound"


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


def _evidence(waited: Waits, ranked: Sequence[Load], verdict: Verdict, share_seen: float) -> list[str]:
    share = units.show(waited.ratio, "ratio")
    of_what = "of the step time" if waited.has_steps else "of the time from the first batch to the last"
    said = [f"{share} {of_what} is waiting for input, {_ps(waited.wait_ps)} a step."]
    if waited.shares:
        said.append(
            f"{units.count(len(waited.shares), 'step')}: the median waits "
            f"{units.show(waited.median, 'ratio')}, the most {units.show(max(waited.shares), 'ratio')}; "
            f"{waited.long_waits:,} wait for half of their time or more."
        )
    else:
        said.append("No steps were found, so shares are of the time between batches.")
    if waited.ratio_all >= waited.ratio + 0.1:
        said.append(
            f"With the steps that averages leave out it is {units.show(waited.ratio_all, 'ratio')}: "
            "filling buffers at the start takes long."
        )
    if verdict == "not_input_bound":
        said.append("The pipeline keeps up: what takes the time is the program itself, or Python around it.")
    elif ranked and ranked[0].in_waits_ps:
        said += _about(ranked, waited)
    if share_seen < 1:
        said.append(f"Only the first {units.show(share_seen, 'ratio')} of the pipeline's events were read.")
    return said


def _about(ranked: Sequence[Load], waited: Waits) -> list[str]:
    worst = ranked[0]
    name, threads = worst.stage.short, units.count(worst.width, "thread")
    said = [
        f"{name} ({worst.stage.spoken}) works {_ps(worst.work_ps)} a step on {threads}, "
        f"so it needs {_ps(worst.service_ps)}; the step without waiting takes "
        f"{_ps(waited.step_ps - waited.wait_ps)}."
    ]
    others = [load for load in ranked[1:] if load.service_ps]
    if others:
        next_one = max(others, key=lambda load: load.service_ps)
        said.append(f"The next stage, {next_one.stage.short}, needs {_ps(next_one.service_ps)}.")
    fed = [load for load in ranked if load.stage.fed_by is not None]
    if fed:
        said.append(
            "The pipelines of the devices only hand over what the host's pipeline makes "
            f"({fed[0].stage.short} takes it from there)."
        )
    queued = max((load for load in ranked if load.stage.fed_by is None), key=lambda load: load.queue_ps)
    if queued.queue_ps > 0.1 * max(worst.total_ps, 1):
        said.append(
            f"{queued.stage.short} waits {_ps(queued.queue_ps)} for a thread of the pool: "
            "it looks slow and is not."
        )
    if worst.python:
        said.append("It runs a py_function: Python's lock lets one at a time compute.")
    return said


def _ps(value: int) -> str:
    return units.show(value, "ps")
