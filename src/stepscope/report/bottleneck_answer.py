"""The stage that limits the program, and the evidence."""

from collections.abc import Iterator

from stepscope import units
from stepscope.instruments.pipeline.diagnosis import Diagnosis
from stepscope.instruments.pipeline.load import Load
from stepscope.instruments.pipeline.stages import PROGRAM
from stepscope.instruments.pipeline.waits import Waits
from stepscope.report.stage_names import named, subject

_QUEUES = 0.1
"""Part of the recorded steps for which functions wait for a thread, from which on that is said."""


def sentences(diagnosis: Diagnosis, waited: Waits) -> Iterator[str]:
    """The answer."""
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
    """The program waits, but no stage takes that long."""
    if diagnosis.unseen is not None:
        yield (
            f"Runs that were traced waited for {_ps(diagnosis.unseen)} each: tracing takes long, and "
            "meanwhile the pipeline works ahead. So no stage was recorded for as long as the others wait; "
            "without the prefetch, one would be."
        )
        return
    unseen = _unseen(diagnosis)
    if unseen is not None:
        several = sum(load.unseen for load in diagnosis.loads) > 1
        lacks = (
            "they are called, and not what their functions do"
            if several
            else ("it is called, and not what its function does")
        )
        yield f"Perhaps {unseen}: the recording shows when {lacks}."
    seen = (load for load in diagnosis.loads if not load.unseen)
    most = max(seen, key=lambda load: load.service_ps, default=None)
    if most is None or not most.service_ps:
        yield "No stage is named: none of them was seen at work."
        return
    name = named(most.stage, diagnosis.places, brief=True)
    if unseen is not None:
        yield f"Of the others, {name} needs most, {_ps(most.service_ps)} of a step of {_ps(waited.step_ps)}."
        return
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


def _unseen(diagnosis: Diagnosis) -> str | None:
    """The names of stages whose functions work on threads of their own without being recorded."""
    names = [named(load.stage, diagnosis.places, brief=True) for load in diagnosis.loads if load.unseen]
    return " or ".join(names) or None


def _about(worst: Load, diagnosis: Diagnosis, waited: Waits) -> Iterator[str]:
    threads = units.count(worst.width, "thread")
    name = named(worst.stage, diagnosis.places)
    without = f"without waiting, a step would take {_ps(waited.step_ps - waited.wait_ps)}."
    if worst.stage.repeats:
        yield (
            f"{subject(name)} needs {_ps(worst.service_ps)} per step; {without} It hands elements over, and "
            f"makes its input anew when that ends: {_starts_over(worst)}. With the repeat right after the "
            "source, only the source would be made anew."
        )
    else:
        yield (
            f"{subject(name)} does {_ps(worst.work_ps)} of work per step on {threads}, "
            f"so it needs {_ps(worst.service_ps)}; {without}"
        )
    if 2 * worst.between_ops_ps > worst.service_ps:
        yield (
            f"For {_ps(worst.between_ops_ps)} of that, the recording has no op: it does not show what "
            "calling the function for each element takes, and perhaps not its short ops."
        )
    others = [load for load in diagnosis.ranked if load is not worst and load.service_ps]
    other = diagnosis.beside
    if other is not None:
        yield (
            f"{subject(named(other.stage, diagnosis.places))} needs {_ps(other.service_ps)} on threads of "
            "its own: a step becomes much shorter only if both become faster."
        )
    elif others:
        next_one = max(others, key=lambda load: load.service_ps)
        other_name = named(next_one.stage, diagnosis.places, brief=True)
        if next_one.service_ps <= worst.service_ps:
            yield f"The next stage, {other_name}, needs {_ps(next_one.service_ps)}."
        else:
            yield (
                f"{subject(other_name)} needs more, {_ps(next_one.service_ps)}, but in parallel with the "
                "others: making it faster would gain less."
            )
    if worst.model_work_ps is not None and _differ(worst.model_work_ps, worst.trace_work_ps):
        yield (
            f"tf.data's own model reports {_ps(worst.model_work_ps)} of work per step for it, the trace "
            f"{_ps(worst.trace_work_ps)}; stepscope uses the {worst.work_from}."
        )
    unseen = _unseen(diagnosis)
    if unseen is not None:
        yield (
            f"But what the function of {unseen} does on threads of its own is not in the recording, and "
            "others may wait for those threads."
        )
    if worst.python:
        yield "It runs a py_function: Python's interpreter lock lets one call compute at a time."


def _starts_over(repeat: Load) -> str:
    """How much of the time of a repeat lies in its longest call."""
    owns = [sum(end - begin for begin, end in call.own) for call in repeat.stage.calls]
    longest = max(owns, default=0)
    return f"{_ps(longest)} of its {_ps(sum(owns))} lie in one of {units.count(len(owns), 'call')}"


def _queued(diagnosis: Diagnosis, waited: Waits) -> Iterator[str]:
    """The stage whose functions wait longest for a thread, where that is long. Times of the recording."""
    most = max(diagnosis.ranked, key=lambda load: load.queue_ps, default=None)
    if most is None or most.queue_ps < _QUEUES * max(waited.step_ps * len(waited.basis), 1):
        return
    name = subject(named(most.stage, diagnosis.places, brief=True))
    if most.total_ps >= most.queue_ps:
        calls = f"{_ps(most.queue_ps)} of the {_ps(most.total_ps)} in its calls"
        sentence = f"{name} waits {calls} for a thread of the pool"
    else:
        stage_name = named(most.stage, diagnosis.places, brief=True)
        sentence = f"The functions of {stage_name} wait {_ps(most.queue_ps)} for a thread of the pool"
    yield f"{sentence}: it looks slower than it is." if most is not diagnosis.bottleneck else f"{sentence}."


def _differ(first: int, other: int) -> bool:
    return 3 * max(first, other) > 4 * min(first, other)


def _ps(value: int) -> str:
    return units.show(value, "ps")
