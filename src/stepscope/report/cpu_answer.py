"""Is the CPU used well? How busy it is, how that is known, and how fast steps could get on it."""

from collections.abc import Iterator

from stepscope import units
from stepscope.instruments.pipeline.ceiling import Ceiling
from stepscope.instruments.pipeline.cores import pool_of
from stepscope.instruments.pipeline.diagnosis import Diagnosis
from stepscope.instruments.pipeline.host import Machine
from stepscope.instruments.pipeline.waits import Waits
from stepscope.report.stage_names import limit


def sentences(diagnosis: Diagnosis, waited: Waits) -> Iterator[str]:
    """Whether the CPU is full, how that is known, and how fast steps could get on it."""
    if diagnosis.machine is not None:
        yield from _machine_sentences(diagnosis.machine)
    else:
        used = sum(load.cpu_ps for load in diagnosis.ranked) / max(waited.step_ps, 1)
        shown = f"{used:.1f}" if used >= 0.1 else "less than 0.1"
        if any(load.python for load in diagnosis.ranked):
            shown = f"at most {shown}" if used >= 0.1 else shown  # Python that waits keeps none busy
        missed = "other programs"
        if any(load.unseen or load.between_ops_ps for load in diagnosis.loads):
            missed = "what functions of parallel stages do, nor other programs"
        source = (
            f"from the trace, which does not see {missed}; `stepscope record` samples the machine as well"
        )
        if diagnosis.tells_cores:
            yield f"The pipeline keeps {shown} of {units.count(diagnosis.cores, 'core')} busy ({source})."
        else:
            pool = pool_of([load.stage for load in diagnosis.loads])
            least = diagnosis.least_threads
            has = "" if pool is None else f", only that tf.data's pool has {units.count(pool, 'thread')}"
            if least is not None and least > 1:
                has = (
                    f", only that {units.count(least, 'thread')} ran ops at once: predictions assume no more"
                )
            yield (
                f"The pipeline keeps {shown} cores busy ({source}). The recording does not show how many "
                f"there are{has}."
            )
    # Where functions mostly wait for a thread, their work says little of how fast they could be.
    queued = max((load.queue_ps for load in diagnosis.loads), default=0)
    if diagnosis.ceiling is not None and 2 * queued < waited.step_ps * len(waited.basis):
        yield _ceiling(diagnosis.ceiling, diagnosis)


def _machine_sentences(machine: Machine) -> Iterator[str]:
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
        f"With the best parallelism and prefetching, a step would take {units.show(best.step_ps, 'ps')} on "
        f"this machine; then {limits} limits it."
    )
