"""Are you prefetching? What the pipeline ends with, and what a prefetch there would gain."""

from collections.abc import Iterator

from stepscope import units
from stepscope.instruments.pipeline.chain import Ending
from stepscope.instruments.pipeline.diagnosis import Diagnosis
from stepscope.instruments.pipeline.places import AUTOTUNE
from stepscope.instruments.pipeline.stages import PROGRAM
from stepscope.instruments.pipeline.waits import PARTLY_FROM, Waits
from stepscope.report.stage_names import named, subject


def sentences(diagnosis: Diagnosis, waited: Waits) -> Iterator[str]:
    """Whether the last stage is a prefetch, and who put it there."""
    ends = diagnosis.ends
    if ends is None or ends.last is None:
        yield "The recording does not show how the pipeline ends."
        return
    last = named(ends.last, diagnosis.places)
    handing = {load.stage.pipeline for load in diagnosis.loads if load.stage.fed_by is not None}
    if handing and ends.prefetch != "none" and ends.last.pipeline not in handing:
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
        earlier = subject(named(ends.earlier, diagnosis.places))
        yield f"{earlier} comes earlier: what is behind it, {runs} per step, runs when it is asked."
    elif not ahead:
        yield f"The whole pipeline, {runs} per step, runs while the program waits for its batch."
    else:
        first = ahead[0]
        name = subject(named(first.stage, diagnosis.places, brief=True))
        elements = round(first.per_step)
        far = f"{units.count(min(first.width, elements), 'element')} of the {elements:,} of a step"
        if elements > first.width:
            yield f"{name} works ahead by {far} and no further: the others are made while the program waits."
        else:
            yield f"{name} works ahead; what is behind it, {runs} per step, runs when the program asks."
    yield from _gain_of_prefetch(diagnosis, waited)


def _gain_of_prefetch(diagnosis: Diagnosis, waited: Waits) -> Iterator[str]:
    """What a prefetch at the end of the pipeline would gain."""
    change = next((change for change in diagnosis.changes if change.name == "prefetch"), None)
    if change is None:
        if waited.ratio < PARTLY_FROM and diagnosis.apart_ps is None:
            yield "One at the end would gain little here, because the program hardly waits."
    elif change.helps and diagnosis.step_ps is not None:
        advised = f"prefetch({change.facts.get('autotune', AUTOTUNE)})"
        yield (
            f"With {advised} at the end, a step would take {_ps(change.prediction.step_ps)} "
            f"instead of {_ps(diagnosis.step_ps)}."
        )
    else:
        yield "One at the end would save less than a twentieth of a step."


def _ps(value: int) -> str:
    return units.show(value, "ps")
