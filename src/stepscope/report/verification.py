"""A prediction and what was measured as a report."""

from collections.abc import Iterator, Sequence

from stepscope import units
from stepscope.instruments.pipeline.diagnoses import SourcePipelines
from stepscope.instruments.pipeline.verify import Recorded, Verification, compare
from stepscope.report import document_keys, pipeline_changes
from stepscope.report.parts import Report, Section


def compared(
    before: Sequence[SourcePipelines], after: Sequence[SourcePipelines], names: tuple[str, str]
) -> Report | None:
    """The report of captures made in turns: before, after, before, after. names: of the two sides. None when
    one of them has no steps to measure."""
    sides = [
        [Recorded(pipelines.diagnosis, pipelines.places) for pipelines in side] for side in (before, after)
    ]
    result = compare(*sides)
    return None if result is None else build(result, *names)


def build(result: Verification, before: str, after: str) -> Report:
    """What was changed between two captures, what was predicted and what was measured."""
    gained, differences = tuple(_gained(result)), tuple(edits(result))
    sections = (
        Section("edits", "What was changed", "What differs between the two pipelines?", differences),
        Section("gain", "What it gained", "Did the change do what was predicted?", gained[1:-1]),
    )
    document = document_keys.verification(result, differences, before, after)
    kept = tuple(section for section in sections if section.answer)
    return Report(f"{before} and {after}", (gained[0], gained[-1]), kept, document=document)


def edits(result: Verification) -> Iterator[str]:
    """What differs between the two pipelines, in sentences."""
    if not result.edits:
        yield "The chain of datasets is the same: what changed is inside a function, or elsewhere."
    for kind, place, before, after in result.edits:
        name = place.transformation
        at = f" ({place.file}:{place.line})" if place.file and place.line else ""
        if kind == "parallelism":
            yield f"num_parallel_calls of {name} was {_calls(before)} and is now {_calls(after)}{at}."
        else:
            yield f"{name} was {kind}{at}."


def _calls(number: int | None) -> str:
    return {None: "none", -1: "AUTOTUNE"}.get(number, str(number))


def _gained(result: Verification) -> Iterator[str]:
    which = "An untraced step" if result.untraced else "A traced step"
    share = units.show(result.ratio, "ratio")
    before, after = _ps(result.before_ps), _ps(result.after_ps)
    often = f" (medians of {result.turns} recordings each, made in turns)" if result.turns > 1 else ""
    yield f"{which} took {before} before and takes {after} now: {share} of what it took{often}."
    if result.neighbours is not None and result.disturbed:
        was, now, cores = result.neighbours
        what = "its neighbours changed as well" if result.edits else "its neighbours changed instead"
        yield (
            f"Other programs kept {was:.1f} of {units.count(cores, 'core')} busy before and {now:.1f} now. "
            f"This comparison says nothing about the program: {what}. Record both again on a quiet machine."
        )
        return
    change = result.change
    if change is None:
        yield "The change that was made is not among those that were predicted."
        return
    if change.unknown:
        yield f"The gain of {change.name} could not be predicted: {pipeline_changes.unknown(change)}."
        return
    p = change.prediction
    yield f"Predicted for {change.name}: {_ps(p.step_ps)} ({_ps(p.low_ps)} to {_ps(p.high_ps)})."
    if result.as_predicted:
        yield "The prediction held."
    elif result.after_ps < p.low_ps:
        yield "The prediction did not hold: the step is shorter than predicted."
    else:
        yield "The prediction did not hold: the step is longer than predicted."


def _ps(value: int) -> str:
    return units.show(value, "ps")
