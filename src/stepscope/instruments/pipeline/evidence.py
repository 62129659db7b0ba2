"""What speaks for a verdict, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from stepscope import units
from stepscope.instruments.pipeline.ceiling import Ceiling
from stepscope.instruments.pipeline.host import Machine
from stepscope.instruments.pipeline.rates import Load
from stepscope.instruments.pipeline.stages import PROGRAM
from stepscope.instruments.pipeline.waits import PARTLY_FROM, Waits

_COSTS = 0.05
"""Part of a step that tracing may cost without being told."""


def write(
    waited: Waits,
    ranked: Sequence[Load],
    verdict: str,
    share_seen: float,
    machine: Machine | None,
    cores: int,
    best: Ceiling | None,
    contends: Load | None = None,
    measured_ps: int | None = None,
) -> list[str]:
    """What speaks for the verdict, sentence by sentence. contends: the stage that takes most of the cores, of
    a pipeline that the program does not wait for and shares them with. measured_ps: duration of a step when
    nothing is traced, where that is known."""
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
    if waited.between:
        said.append(
            "The program spends time between its steps as they are marked; a step is counted here from its "
            "beginning to the beginning of the next."
        )
    if measured_ps is not None and measured_ps < (1 - _COSTS) * waited.step_ps:
        said.append(
            f"A step took {_ps(measured_ps)} without the profiler and {_ps(waited.step_ps)} with it: "
            "predictions are of steps without it."
        )
    if verdict == "not_input_bound":
        if waited.ratio >= PARTLY_FROM:
            said.append(
                "No stage needs half of a step: the program waits for a thread or a core, not for data."
            )
        said.append("The pipeline keeps up: what takes the time is the program itself, or Python around it.")
        if contends is not None:
            said.append(
                f"But both compute on the same cores, and each waits for them: with less work in "
                f"{contends.stage.short} ({contends.stage.spoken}) the program's part of a step is shorter."
            )
    elif ranked and ranked[0].in_waits_ps:
        said += _about(ranked, waited)
    said += _prefetched(ranked, waited)
    said.append(_cpu(ranked, waited, machine, cores))
    if best is not None:
        said.append(_ceiling(best, waited))
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
        other, needs = next_one.stage.short, _ps(next_one.service_ps)
        if next_one.service_ps <= worst.service_ps:
            said.append(f"The next stage, {other}, needs {needs}.")
        else:
            less = "" if next_one.in_waits_ps < worst.in_waits_ps else "is on threads that "
            said.append(f"{other} needs more, {needs}, but {less}did less while the program waited.")
    fed = [load for load in ranked if load.stage.fed_by is not None]
    if fed:
        said.append(
            "The pipelines of the devices only hand over what the host's pipeline makes "
            f"({fed[0].stage.short} takes it from there)."
        )
    queued = max(others, key=lambda load: load.queue_ps, default=worst)
    if queued is not worst and queued.queue_ps > 0.1 * max(worst.total_ps, 1):
        said.append(
            f"{queued.stage.short} waits {_ps(queued.queue_ps)} for a thread of the pool: "
            "it looks slow and is not."
        )
    if worst.model_work_ps is not None and _differ(worst.model_work_ps, worst.trace_work_ps):
        said.append(
            f"tf.data's own model says {_ps(worst.model_work_ps)} of work a step for it, the trace "
            f"{_ps(worst.trace_work_ps)}: the {worst.work_from} is used."
        )
    if worst.python:
        said.append("It runs a py_function: Python's lock lets one at a time compute.")
    return said


def _differ(one: int, other: int) -> bool:
    return 3 * max(one, other) > 4 * min(one, other)


def _prefetched(ranked: Sequence[Load], waited: Waits) -> list[str]:
    """What runs beside the step, and what the program waits for while it runs."""
    taken = [load for load in ranked if load.stage.taken or any(one.stage.fed_by for one in ranked)]
    inside = sum(load.service_ps for load in taken if load.stage.lane == PROGRAM)
    beside = sum(load.service_ps for load in taken if load.stage.lane != PROGRAM)
    if not inside and not beside:
        return []
    if not any(load.stage.ahead for load in taken):
        return ["Nothing is prefetched: the whole pipeline runs while the program waits for its batch."]
    if inside <= 0.1 * (inside + beside):
        return ["It is prefetched: the pipeline works on threads of its own, beside the step."]
    return [f"It is prefetched in part: {_ps(inside)} a step run only when the program asks for a batch."]


def _cpu(ranked: Sequence[Load], waited: Waits, machine: Machine | None, cores: int) -> str:
    """Whether the CPU is full, and how that is known."""
    if machine is not None:
        own = "" if machine.process_cores is None else f", the program itself {machine.process_cores:.1f}"
        what = "The CPU is full" if machine.full else "The CPU is not full"
        said = (
            f"{what}: {units.show(machine.busy, 'ratio')} of {units.count(machine.cores, 'core')} were busy "
            f"during the steps{own} (from the record of the machine)."
        )
        if machine.crowded:
            said += (
                f" Other programs keep {machine.others:.1f} of them busy: on a quiet machine everything is "
                "faster, and predictions are surer."
            )
        return said
    used = sum(load.cpu_ps for load in ranked) / max(waited.step_ps, 1)
    return (
        f"The pipeline keeps {used:.1f} of {units.count(cores, 'core')} busy (from the trace, which does not "
        "see other programs; `stepscope record` samples the machine as well)."
    )


def _ceiling(best: Ceiling, waited: Waits) -> str:
    limits = {PROGRAM: "the program itself", "cpu": "the CPU", "threads": "the thread pool"}.get(
        best.limits, best.limits.rpartition("::")[2]
    )
    return (
        f"With parallelism and prefetching at their best a step would take {_ps(best.step_ps)} on this "
        f"machine, then {limits} limits."
    )


def _ps(value: int) -> str:
    return units.show(value, "ps")
