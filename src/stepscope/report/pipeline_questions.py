"""The four questions of TensorFlow's guide to tf.data, in its order, each with its answer.

Sentences of one answer never deny each other: tests/contradictions.py has the pairs that cannot both be true.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from stepscope import units
from stepscope.instruments.pipeline.ceiling import Ceiling
from stepscope.instruments.pipeline.chain import Ending
from stepscope.instruments.pipeline.host import Machine
from stepscope.instruments.pipeline.oddities import Oddity
from stepscope.instruments.pipeline.places import AUTOTUNE
from stepscope.instruments.pipeline.rates import Load, pool_of
from stepscope.instruments.pipeline.stages import PROGRAM
from stepscope.instruments.pipeline.verdict import Diagnosis
from stepscope.instruments.pipeline.waits import PARTLY_FROM, Waits
from stepscope.report.stage_names import limit, named

_WORKS_MEANWHILE = 0.05
"""Part of a step in which a batch is waited for while ops run, from which on that is said."""
_COSTS = 0.05
"""Part of a step that tracing may cost without being told."""
_QUEUES = 0.1
"""Part of the recorded steps for which functions wait for a thread, from which on that is said."""
_FAST = {"input_bound": "No", "partly_input_bound": "Not quite", "not_input_bound": "Yes"}


class Question(NamedTuple):
    """A question and its answer."""

    name: str
    title: str
    answer: tuple[str, ...]


def questions(diagnosis: Diagnosis) -> list[Question]:
    """The questions that the recording answers."""
    waited = diagnosis.waits
    asked = [Question("fast_enough", "1. Is the pipeline fast enough?", tuple(_fast_enough(diagnosis)))]
    if waited is None or not diagnosis.loads:
        return asked
    answers = (
        ("prefetching", "2. Are you prefetching?", _prefetching(diagnosis, waited)),
        ("cpu", "3. Is the CPU used well?", _cpu(diagnosis, waited)),
        ("bottleneck", "4. Which stage holds the program up?", _bottleneck(diagnosis, waited)),
    )
    return asked + [Question(name, title, tuple(sentences_)) for name, title, sentences_ in answers]


def _fast_enough(diagnosis: Diagnosis) -> Iterator[str]:
    waited = diagnosis.waits
    if waited is None:
        yield "No call that fetches a batch was recorded, so it is unknown whether the program waits."
        yield from map(odd, diagnosis.odd)
        if diagnosis.share_seen < 1:
            share = units.show(diagnosis.share_seen, "ratio")
            yield f"Only the first {share} of the pipeline's events were read: record fewer steps."
        yield "Record while the loop runs, in the process that fetches the batches."
        return
    yield from _share(diagnosis, waited)
    yield from _distribution(waited)
    measured_ps = diagnosis.step_ps
    if measured_ps is not None and measured_ps < (1 - _COSTS) * waited.step_ps:
        yield (
            f"A step took {_ps(measured_ps)} without the profiler and {_ps(waited.step_ps)} with it: "
            "predictions are for steps without it."
        )
    if not diagnosis.loads:
        yield (
            "The recording does not tell the stages of the pipeline: since TensorFlow 2, RunMetadata and "
            "timelines of a session do not contain them. Record with tf.profiler.experimental.start(…)."
        )
    elif diagnosis.share_seen < 1:
        seen = units.show(diagnosis.share_seen, "ratio")
        yield f"Only the first {seen} of the pipeline's events were read."
    yield from map(odd, diagnosis.odd)


def _share(diagnosis: Diagnosis, waited: Waits) -> Iterator[str]:
    """How much of the steps is waiting, and whether that is the pipeline's fault."""
    of_what = "of the step time" if waited.has_steps else "of the time from the first batch to the last"
    share = units.show(waited.ratio, "ratio")
    waits_all_the_same = diagnosis.verdict == "not_input_bound" and waited.ratio >= PARTLY_FROM
    fast = "By itself, yes" if waits_all_the_same else _FAST.get(diagnosis.verdict, "Perhaps")
    yield f"{fast}: {share} {of_what} is spent waiting for input, {_ps(waited.wait_ps)} per step."
    if waits_all_the_same:
        most = max(diagnosis.loads, key=lambda load: load.service_ps, default=None)
        needs = _ps(0 if most is None else most.service_ps)
        yield (
            f"The stage that needs most could deliver every {needs}: its batches come late where threads of "
            "the pipeline wait for a core."
        )
    elif diagnosis.verdict == "not_input_bound":
        yield "The pipeline keeps up: the time goes to the program itself, or to the Python around it."
    if diagnosis.wait_share is not None and diagnosis.wait_share >= waited.ratio + _WORKS_MEANWHILE:
        shown = units.show(diagnosis.wait_share, "ratio")
        yield f"Fetching batches takes {shown} of it, but the program's ops run during the rest of that time."


def _distribution(waited: Waits) -> Iterator[str]:
    """How the waiting is spread over the steps."""
    if len(waited.shares) == 1:
        yield f"There is one step: it waits for {units.show(waited.shares[0], 'ratio')} of its time."
    elif waited.shares:
        wait = units.agree(waited.long_waits, "waits", "wait") if waited.long_waits else "waits"
        long_waits = f"{waited.long_waits:,}" if waited.long_waits else "none"
        what = "traced run" if waited.mean_ps is not None else "step"
        yield (
            f"{units.count(len(waited.shares), what)}: the median share of waiting is "
            f"{units.show(waited.median, 'ratio')}, the largest {units.show(max(waited.shares), 'ratio')}; "
            f"{long_waits} {wait} for half of the time or more."
        )
    else:
        yield "No steps were found, so shares refer to the time between batches."
    if waited.ratio_all >= waited.ratio + 0.1:
        yield (
            f"Including the steps that averages leave out, it is {units.show(waited.ratio_all, 'ratio')}: "
            "filling buffers at the start takes long."
        )
    if waited.between:
        yield (
            "The program spends time between the marked steps, so here a step lasts from its start to the "
            "start of the next."
        )


def odd(oddity: Oddity) -> str:
    """What is odd about the recording, as a sentence."""
    count = oddity.number
    if oddity.kind == "lost":
        return f"A part of the recording is missing ({oddity.detail}), perhaps with the slowest batches."
    if oddity.kind == "shared_ids":
        return (
            f"{units.count(count, 'iterator id')} {units.agree(count, 'belongs', 'belong')} to several "
            "stages, so stages may hold each other's times. Record again."
        )
    if oddity.kind == "circle":
        return (
            f"By their ids, {units.count(count, 'iterator')} {units.agree(count, 'consumes', 'consume')} "
            f"{units.agree(count, 'itself', 'themselves')}, which cannot be right: the tree of stages is "
            "cut there."
        )
    return (
        f"{units.count(count, 'iterator')} never returned during the recording: calls "
        "are recorded when they end. Record for longer than the slowest batch takes."
    )


def _prefetching(diagnosis: Diagnosis, waited: Waits) -> Iterator[str]:
    """Whether the last stage is a prefetch, and who put it there."""
    ends = diagnosis.ends
    if ends is None or ends.last is None:
        yield "The recording does not show how the pipeline ends."
        return
    last = named(ends.last, diagnosis.places)
    if any(load.stage.fed_by is not None for load in diagnosis.loads):
        yield (
            "Yes: TensorFlow prefetches to each device what the pipeline of the host makes, whose last stage "
            f"is {last}."
        )
    elif ends.prefetch == "user":
        yield f"Yes: the last stage is yours, {last}."
    elif ends.prefetch == "tensorflow":
        yield (
            "Yes, but not by your doing: TensorFlow put a Prefetch at the end. Options and other versions "
            "may leave it out; write .prefetch(tf.data.AUTOTUNE) to be sure of it."
        )
    else:
        yield f"No: the last stage is {last}, and no Prefetch."
        yield from _unprefetched(diagnosis, ends, waited)


def _unprefetched(diagnosis: Diagnosis, ends: Ending, waited: Waits) -> Iterator[str]:
    """What a pipeline without a prefetch at its end does while the program works, and what one would gain."""
    inline = [load for load in diagnosis.loads if load.stage.taken and load.stage.lane == PROGRAM]
    runs = _ps(sum(load.service_ps for load in inline))
    ahead = [load for load in diagnosis.loads if load.stage.taken and load.stage.ahead]
    if ends.earlier is not None:
        earlier = named(ends.earlier, diagnosis.places)
        yield (f"{_upper(earlier)} comes earlier: what is behind it, {runs} per step, runs when it is asked.")
    elif not ahead:
        yield f"The whole pipeline, {runs} per step, runs while the program waits for its batch."
    else:
        first = ahead[0]
        name = named(first.stage, diagnosis.places, brief=True)
        elements = round(first.per_step)
        far = f"{units.count(min(first.width, elements), 'element')} of the {elements:,} of a step"
        if elements > first.width:
            yield (
                f"{_upper(name)} works ahead by {far} and no further: the others are made while the program "
                "waits."
            )
        else:
            yield (
                f"{_upper(name)} works ahead; what is behind it, {runs} per step, runs when the program asks."
            )
    yield from _gain_of_prefetch(diagnosis, waited)


def _gain_of_prefetch(diagnosis: Diagnosis, waited: Waits) -> Iterator[str]:
    """What a prefetch at the end of the pipeline would gain."""
    change = next(
        (predicted_change for predicted_change in diagnosis.changes if predicted_change.name == "prefetch"),
        None,
    )
    if change is None:
        if waited.ratio < PARTLY_FROM:
            yield "One at the end would gain little here, because the program hardly waits."
    elif change.helps and diagnosis.step_ps is not None:
        advised = f"prefetch({change.facts.get('autotune', AUTOTUNE)})"
        yield (
            f"With {advised} at the end, a step would take {_ps(change.prediction.step_ps)} "
            f"instead of {_ps(diagnosis.step_ps)}."
        )
    else:
        yield "One at the end would save less than a twentieth of a step."


def _cpu(diagnosis: Diagnosis, waited: Waits) -> Iterator[str]:
    """Whether the CPU is full and how that is known, and how far it would go."""
    if diagnosis.machine is not None:
        yield from _of_the_machine(diagnosis.machine)
    else:
        used = sum(load.cpu_ps for load in diagnosis.ranked) / max(waited.step_ps, 1)
        shown = f"{used:.1f}" if used >= 0.1 else "less than 0.1"
        source = (
            "from the trace, which does not see other programs; `stepscope record` samples the machine as "
            "well"
        )
        if diagnosis.tells_cores:
            yield f"The pipeline keeps {shown} of {units.count(diagnosis.cores, 'core')} busy ({source})."
        else:
            pool = pool_of([load.stage for load in diagnosis.loads])
            has = "" if pool is None else f", only that tf.data's pool has {units.count(pool, 'thread')}"
            yield (
                f"The pipeline keeps {shown} cores busy ({source}). The recording does not tell how many "
                f"there are{has}."
            )
    # Where functions mostly wait for a thread, their work says little of how fast they could be.
    queued = max((load.queue_ps for load in diagnosis.loads), default=0)
    if diagnosis.ceiling is not None and 2 * queued < waited.step_ps * len(waited.basis):
        yield _ceiling(diagnosis.ceiling, diagnosis)


def _of_the_machine(machine: Machine) -> Iterator[str]:
    used_cores = "" if machine.process_cores is None else f", {machine.process_cores:.1f} by the program"
    what = "The CPU is full" if machine.full else "The CPU is not full"
    yield (
        f"{what}: {units.show(machine.busy, 'ratio')} of {units.count(machine.cores, 'core')} was used "
        f"during the steps{used_cores} (from the record of the machine)."
    )
    if machine.crowded:
        yield (
            f"Other programs keep {machine.others:.1f} of them busy: on a quiet machine everything "
            "would be faster and predictions surer."
        )


def _ceiling(best: Ceiling, diagnosis: Diagnosis) -> str:
    limits = limit(best.limits, [load.stage for load in diagnosis.loads], diagnosis.places)
    return (
        f"With the best parallelism and prefetching, a step would take {_ps(best.step_ps)} on this "
        f"machine; then {limits} limits it."
    )


def _bottleneck(diagnosis: Diagnosis, waited: Waits) -> Iterator[str]:
    worst = diagnosis.bottleneck
    if worst is not None:
        yield from _about(worst, diagnosis, waited)
    elif diagnosis.verdict == "not_input_bound":
        yield "None: no stage needs long enough to hold it up."
        if diagnosis.contends is not None:
            yield (
                "But program and pipeline compute on the same cores and wait for them: with less work in "
                f"{named(diagnosis.contends.stage, diagnosis.places)}, the program's part of a step would be "
                "shorter."
            )
    else:
        yield from _unexplained(diagnosis, waited)
    fed = next((load for load in diagnosis.ranked if load.stage.fed_by is not None), None)
    if fed is not None:
        yield (
            "The pipelines of the devices only hand over what the host's pipeline makes "
            f"({fed.stage.short} takes it from there)."
        )
    yield from _queued(diagnosis, waited)


def _unexplained(diagnosis: Diagnosis, waited: Waits) -> Iterator[str]:
    """The program waits, but no stage needs so long."""
    if diagnosis.unseen is not None:
        yield (
            f"Runs that were traced waited for {_ps(diagnosis.unseen)} each: tracing takes long, and "
            "meanwhile the pipeline works ahead. So the recording does not show which stage holds it up; "
            "without the prefetch, one would."
        )
        return
    most = max(diagnosis.loads, key=lambda load: load.service_ps, default=None)
    if most is None or not most.service_ps:
        yield "No stage is named: none of them was seen at work."
        return
    name = named(most.stage, diagnosis.places, brief=True)
    need = f"{name} needs most, {_ps(most.service_ps)} of a step of {_ps(waited.step_ps)}."
    inside = sum(load.service_ps for load in diagnosis.loads if load.stage.lane == PROGRAM)
    if 2 * inside >= waited.wait_ps:
        yield (
            f"No stage by itself: {need} The program waits for all of them, {_ps(inside)} of each step, one "
            "after the other."
        )
    else:
        yield (
            f"No stage explains the wait by itself: {need} Batches come late for another reason, as threads "
            "of the pipeline that wait for a core."
        )


def _about(worst: Load, diagnosis: Diagnosis, waited: Waits) -> Iterator[str]:
    threads = units.count(worst.width, "thread")
    name = named(worst.stage, diagnosis.places)
    yield (
        f"{_upper(name)} does {_ps(worst.work_ps)} of work per step on {threads}, "
        f"so it needs {_ps(worst.service_ps)}; without waiting, a step would take "
        f"{_ps(waited.step_ps - waited.wait_ps)}."
    )
    others = [load for load in diagnosis.ranked if load is not worst and load.service_ps]
    other = diagnosis.beside
    if other is not None:
        yield (
            f"{_upper(named(other.stage, diagnosis.places))} needs {_ps(other.service_ps)} on threads of its "
            "own: a step becomes much shorter only if both become faster."
        )
    elif others:
        next_one = max(others, key=lambda load: load.service_ps)
        other_name = named(next_one.stage, diagnosis.places, brief=True)
        if next_one.service_ps <= worst.service_ps:
            yield f"The next stage, {other_name}, needs {_ps(next_one.service_ps)}."
        else:
            yield (
                f"{_upper(other_name)} needs more, {_ps(next_one.service_ps)}, but in parallel with the "
                "others: making it faster would gain less."
            )
    if worst.model_work_ps is not None and _differ(worst.model_work_ps, worst.trace_work_ps):
        yield (
            f"tf.data's own model reports {_ps(worst.model_work_ps)} of work per step for it, the trace "
            f"{_ps(worst.trace_work_ps)}; stepscope uses the {worst.work_from}."
        )
    if worst.python:
        yield "It runs a py_function: Python's interpreter lock lets one call compute at a time."


def _queued(diagnosis: Diagnosis, waited: Waits) -> Iterator[str]:
    """The stage whose functions wait longest for a thread, where that is long. Times of the recording."""
    most = max(diagnosis.ranked, key=lambda load: load.queue_ps, default=None)
    if most is None or most.queue_ps < _QUEUES * max(waited.step_ps * len(waited.basis), 1):
        return
    name = _upper(named(most.stage, diagnosis.places, brief=True))
    if most.total_ps >= most.queue_ps:
        calls = f"{_ps(most.queue_ps)} of the {_ps(most.total_ps)} in its calls"
        sentence = f"{name} waits {calls} for a thread of the pool"
    else:
        stage_name = named(most.stage, diagnosis.places, brief=True)
        sentence = f"The functions of {stage_name} wait {_ps(most.queue_ps)} for a thread of the pool"
    yield f"{sentence}: it looks slower than it is." if most is not diagnosis.bottleneck else f"{sentence}."


def _differ(one: int, other: int) -> bool:
    return 3 * max(one, other) > 4 * min(one, other)


def _upper(name: str) -> str:
    """A name at the beginning of a sentence; a function keeps its own letters."""
    name = name[0].upper() + name[1:] if name.startswith("the ") else name
    return f"{name}," if ", called by " in name else name


def _ps(value: int) -> str:
    return units.show(value, "ps")


def sentences(asked: Iterable[Question]) -> list[str]:
    """All answers, one after the other."""
    return [sentence for question in asked for sentence in question.answer]
