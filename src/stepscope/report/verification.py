"""A prediction and what was measured as a report."""

from __future__ import annotations

from collections.abc import Iterator

from stepscope import units
from stepscope.instruments.pipeline.verify import Verification
from stepscope.report import promised
from stepscope.report.parts import Report, Section


def build(result: Verification, before: str, after: str) -> Report:
    """What was changed between two captures, what was predicted and what was measured."""
    gained = tuple(_gained(result))
    sections = (
        Section("edits", "What was changed", "What differs between the two pipelines?", tuple(result.edits)),
        Section("gain", "What it gained", "Did the change do what was predicted?", gained),
    )
    document = promised.verification(result, before, after)
    return Report(f"{before} and {after}", gained[-1:], sections, document=document)


def _gained(result: Verification) -> Iterator[str]:
    which = "A step that is not traced" if result.untraced else "A traced step"
    share = units.show(result.ratio, "ratio")
    yield f"{which} took {_ps(result.before_ps)} and takes {_ps(result.after_ps)}: {share} of it."
    change = result.change
    if change is None:
        yield "None of the changes that were predicted is what was made."
        return
    if change.unknown:
        yield f"What {change.name} gains was not known: {change.unknown}."
        return
    p = change.prediction
    yield f"Predicted for {change.name}: {_ps(p.step_ps)} ({_ps(p.low_ps)} to {_ps(p.high_ps)})."
    if result.as_predicted:
        yield "The prediction held."
    elif result.after_ps < p.low_ps:
        yield "The prediction did not hold. The step is shorter than was predicted."
    else:
        yield "The prediction did not hold. The step is longer than was predicted."


def _ps(value: int) -> str:
    return units.show(value, "ps")
