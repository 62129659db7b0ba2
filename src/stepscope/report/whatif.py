"""What steps would take if something in them changed, as a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from stepscope import units
from stepscope.instruments.causes.gain import THRESHOLDS as GAIN
from stepscope.instruments.replay.recorded_steps import MISSES
from stepscope.report.names import shortened
from stepscope.report.parts import Column, Report, Section, Table
from stepscope.report.remains import (
    Remains,
    amount_of,
    is_replaced,
    layer_ops,
    printed_range,
    provided,
    remains,
    shorter,
    spread,
)

if TYPE_CHECKING:
    from stepscope.instruments.causes.judgement import Judgement
    from stepscope.instruments.pipeline.whatif import PredictedStep as PipelineOutcome
    from stepscope.instruments.replay.whatif import DurationChange, ReplayedSteps

_STEPS = (
    Column("source_id", "int", "Source", "number of the source"),
    Column("steps", "int", "Steps", "steps that were replayed"),
    Column("recorded_ps", "ps", "Recorded", "a mean step as it was recorded"),
    Column("replayed_ps", "ps", "Replayed", "the same replayed, with nothing changed"),
    Column("held_ps", "ps", "Held", "time of it in which the program waits for something unrecorded"),
    Column(
        "then_ps", "ps", "Then", "a mean step after the change; empty where the replay misses the recording"
    ),
    Column("low_ps", "ps", "Low", "a tenth of the steps is shorter then"),
    Column("high_ps", "ps", "High", "a tenth of the steps is longer then"),
)
_THEN = (
    Column("what", "text", "What", "op, or what the thread that drives the steps does"),
    Column("ps_per_step", "ps", "A step", "what it takes of the longest way through a mean step then"),
)
_MOST = 12
_SHORTER = 0.01


def build(
    title: str, change: DurationChange, outcomes: Sequence[ReplayedSteps], judged: Sequence[Judgement]
) -> Report:
    """The first outcome is that of the source with most time in steps; there may be none where `limits` tells
    what is left. judged: what limits the steps, and what the summary says is left without that."""
    first = outcomes[0] if outcomes else None
    rows = tuple(
        (
            outcome.source_id,
            outcome.steps,
            outcome.recorded_ps,
            outcome.replayed_ps,
            outcome.held_ps,
            outcome.then_ps,
            outcome.low_ps,
            outcome.high_ps,
        )
        for outcome in outcomes
    )
    known = limits(change, judged)
    headline: list[str] = [] if known is None else list(_judgement_sentences(known))
    if first is not None:
        nothing_changes = change.without is None and len(first.unknown) == len(change.ops)
        if known is None and not nothing_changes:
            headline += _sentences(change, first)
        headline += _unknown(first)
    # What the summary predicts is not what the replay does.
    replayed = Section("steps", "Replayed steps", "What do the steps take?", table=Table.whole(_STEPS, rows))
    sections = [replayed] if known is None else []
    if first is not None and first.then and known is None:
        then = tuple(list(first.then.items())[:_MOST])
        table = Table(_THEN, then, len(first.then))
        sections.append(
            Section("then", "What limits a step then", "What would have to be shorter next?", table=table)
        )
    return Report(title, tuple(headline), tuple(sections), document=_document(first, known))


def pipeline_answer(title: str, workers: int, stage: str, step_ps: int, outcome: PipelineOutcome) -> Report:
    """With other threads for the stage that limits the pipeline."""
    then = outcome.prediction
    threads = units.count(workers, "thread")
    takes = f"{_ps(then.step_ps)}{spread(then.low_ps, then.high_ps)} instead of {_ps(step_ps)}"
    sentence = f"With {threads} for {stage}, a step would take about {takes}."
    rows = ((stage, workers, step_ps, then.step_ps, then.low_ps, then.high_ps),)
    columns = (
        Column("stage", "text", "Stage", "stage of the pipeline that limits it"),
        Column("threads", "int", "Threads", "threads that it would have"),
        Column("step_ps", "ps", "Now", "a step now, without a profiler where that is known"),
        Column("then_ps", "ps", "Then", "a step then"),
        Column("low_ps", "ps", "Low", "lower bound of that"),
        Column("high_ps", "ps", "High", "upper bound of that"),
    )
    document = {
        "recorded_ps": step_ps,
        "then_ps": then.step_ps,
        "low": then.low_ps,
        "high": then.high_ps,
        "by": "pipeline",
    }
    section = Section("workers", "Threads", "What would more threads do?", table=Table(columns, rows, 1))
    return Report(title, (sentence,), (section,), document=document)


def limits(change: DurationChange, judged: Sequence[Judgement]) -> Judgement | None:
    """The judgement whose cause the change takes away, where that is all it does: the summary says what is
    left then, and this says the same."""
    if change.without is None or change.ops or not judged or judged[0].whole_capture:
        return None
    return judged[0] if judged[0].cause == change.without else None


def _judgement_sentences(judgement: Judgement) -> Iterator[str]:
    what = _what_goes(judgement)
    if not judgement.share:
        yield f"A step would take as long as now, {_ps(judgement.mean_ps)}: {what} takes no time of it."
        return
    known, now_ps = remains(judgement), judgement.mean_ps
    if known.ps is None and known.saved_ps is not None:
        yield f"Without {what}, a step would be {shorter(known, bounds=True)}{provided(judgement)}."
        if judgement.untraced_ps is not None:
            yield f"It takes {_ps(judgement.untraced_ps)} now, without the profiler."
        elif judgement.typical_ps is not None:
            yield f"A typical one takes {_ps(judgement.typical_ps)} now."
    elif (amount := amount_of(known, bounds=True)) is not None:
        if known.ps is not None and not judgement.corrected and judgement.typical_ps is not None:
            now_ps = judgement.typical_ps
        yield f"Without {what}, a step would take {amount} instead of {_ps(now_ps)}."
    else:
        mean = _ps(judgement.mean_ps)
        yield f"No prediction: what is left of {mean} without {what} is not known well enough."
        yield _decides(judgement)


def _what_goes(judgement: Judgement) -> str:
    if judgement.callbacks or judgement.other_batches:
        return "callbacks" if judgement.callbacks else "the loop over other batches"
    if judgement.cause != "compute":
        return judgement.cause
    ops = layer_ops(judgement)
    if ops is None and judgement.op_type:
        return f"the ops that stand out ({shortened(judgement.op_type)})"
    return ops or judgement.cause


def _decides(judgement: Judgement) -> str:
    """What to record to get a prediction."""
    if judgement.late_copy is not None:
        return f"{judgement.late_copy} waits for what the device does first, which stays: make that shorter."
    if judgement.fed_unseen:
        return "The loader's workers may limit it then: change it, record again, and compare the two."
    if judgement.runs_unseen:
        return "What compiles runs ops as well, which were not recorded: change it, and record again."
    if is_replaced(judgement):
        return "What is done instead takes time as well: change it, record again, and compare the two."
    if judgement.contention is not None and judgement.contention.had_cores < GAIN.quiet:
        had = units.show(judgement.contention.had_cores, "ratio")
        return f"Record where cores are free: here they were for {had} of the time in which one was wanted."
    return "Record more steps: these differ too much, or too few samples tell them."


def _sentences(change: DurationChange, steps: ReplayedSteps) -> Iterator[str]:
    if steps.then_ps is None and steps.gaps_ps:
        yield (
            f"No prediction: for {_ps(steps.gaps_ps)} of a step other threads or devices do nothing, and "
            f"nothing that was recorded tells what they wait for."
        )
        return
    if steps.then_ps is None:
        yield (
            f"No prediction: replayed as it was recorded, a step takes {_ps(steps.replayed_ps)} instead of "
            f"{_ps(steps.recorded_ps)}. Something unrecorded holds the steps up."
        )
        return
    what = _changed(change)
    if abs(steps.then_ps - steps.replayed_ps) < _SHORTER * steps.replayed_ps:
        yield f"{what}, a step would take as long as now: {_ps(steps.recorded_ps)}."
    else:
        then = f"{_ps(steps.then_ps)}{spread(*printed_range(steps.low_ps, steps.high_ps))}"
        yield f"{what}, a step would take about {then} instead of {_ps(steps.recorded_ps)}."
    longest = list(steps.then.items())[:2]
    if longest and steps.then_ps:
        parts = " and ".join(f"{shortened(name)} ({_ps(took)})" for name, took in longest)
        yield f"What is longest then: {parts}."
    if steps.held_ps > MISSES * steps.recorded_ps:
        held = _ps(steps.held_ps)
        yield f"For {held} of a step the program waits for something unrecorded: that time stays."


def _changed(change: DurationChange) -> str:
    changes = [] if change.without is None else [f"without {change.without}"]
    changes += [f"with {units.show(left, 'ratio')} of {shortened(op)}" for op, left in change.ops.items()]
    text = " and ".join(changes)
    return text[0].upper() + text[1:]


def _unknown(steps: ReplayedSteps) -> Iterator[str]:
    for name in steps.unknown:
        yield f"No op of these steps is called {shortened(name)}."


def _document(steps: ReplayedSteps | None, judged: Judgement | None) -> Mapping[str, Any]:
    known = Remains()
    if judged is not None:
        known = remains(judged)
    elif steps is not None:
        known = Remains(steps.then_ps, *printed_range(steps.low_ps, steps.high_ps))
    recorded_ps = None if steps is None else steps.recorded_ps
    return {
        "recorded_ps": recorded_ps if judged is None else judged.mean_ps,
        "replayed_ps": None if steps is None else steps.replayed_ps,
        "misses": None if steps is None else steps.misses,
        "then_ps": known.ps,
        "low": known.low_ps,
        "high": known.high_ps,
        "saved_ps": known.saved_ps,
        "saved_low": known.saved_low_ps,
        "saved_high": known.saved_high_ps,
        "by": "replay" if judged is None else "parts",
    }


def _ps(value: int) -> str:
    return units.show(value, "ps")
