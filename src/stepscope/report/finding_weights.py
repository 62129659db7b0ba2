"""How heavy findings are beside the judgement: none is heavier than the part of a step that it is about."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from stepscope.instruments.causes.cause_facts import LoaderWork
from stepscope.instruments.causes.judgement import Judgement
from stepscope.report.judgement_text import say_nothing
from stepscope.report.parts import ReportFinding
from stepscope.units import SEVERITIES, Severity

LABELS_OF = {
    "input-wait": ("input",),
    "python-in-pipeline": ("input", "python"),
    "matching-files": ("input", "compute"),
    "recompilation": ("compile",),
    "retraced-functions": ("compile",),
    "copies-in-steps": ("copy",),
    "python-between-ops": ("python",),
    "dominant-op": ("compute",),
    "per-op-dispatch": ("dispatch",),
    "copies-between-ops": ("copy",),
    "per-step-io": ("wait",),
    "waits-between-ops": ("wait",),
}
"""Findings that say what a label says: their weight follows its part of a step."""
_OF_STEPS = frozenset(
    {
        "device-idle",
        "many-tiny-kernels",
        "host-sync",
        "device-waits-for-host",
        "cpu-ops-in-device-step",
        "unhidden-collectives",
    }
)
"""Findings about a part of the steps: none if steps say nothing about the device."""
_HIGH_FROM, _MEDIUM_FROM = 0.2, 0.05
"""Shares of a step from which a finding about it may be so severe."""


def weighed(findings: Sequence[ReportFinding], judged: Sequence[Judgement]) -> tuple[ReportFinding, ...]:
    """The findings, those first that weigh most: none is heavier than the part of a step that it is about,
    and high only where that is what limits the steps. Compiling that limits the program is high, in however
    few steps it lies."""
    kept = []
    unsure = say_nothing(judged)
    for finding in findings:
        labels = LABELS_OF.get(finding.slug)
        if unsure and (labels is not None or finding.slug in _OF_STEPS):
            continue
        if labels is not None and judged:
            finding = _weighed(finding, (*labels, *_limited_by(finding, judged)), judged)
        if finding.slug == "input-wait" and (work := _loader_work(judged)):
            finding = replace(finding, action=_OF_LOADER[work])
        if finding.slug == "input-wait" and any(map(_restarts_input, judged)):
            finding = replace(finding, action=_ONE_ITERATOR)
        if finding.slug == "input-wait" and (waits := next(filter(None, map(_waits_aside, judged)), None)):
            finding = replace(finding, title=waits)
        kept.append(finding)
    return tuple(sorted(kept, key=lambda finding: SEVERITIES.index(finding.severity)))


def _limited_by(finding: ReportFinding, judged: Sequence[Judgement]) -> Iterator[str]:
    """What limits the steps by ops of a type that the finding is about: ops that call Python compute."""
    at = [at for at, column in enumerate(finding.evidence.columns) if column.name == "op_type"]
    types = {row[place] for row in finding.evidence.rows for place in at}
    yield from (judgement.cause for judgement in judged if judgement.op_type in types)


_OF_LOADER: dict[LoaderWork, str] = {
    "unpickling": "Let workers send few large tensors instead of many Python objects: make them in "
    "collate_fn. What they send is unpickled by the program itself, however many they are.",
    "workers": "Keep the workers from one pass over the data to the next with persistent_workers=True, or "
    "draw more batches from each iterator of the DataLoader.",
}
"""What to do about a wait for a loader that the program does not wait in."""


_ONE_ITERATOR = (
    "Make the iterator once, before the loop, and draw all batches from it: call Keras' fit or predict once "
    "for many batches, or train_on_batch and predict_on_batch for a single one."
)


def _restarts_input(judgement: Judgement) -> bool:
    """Whether the wait is for iterators that steps make, and for no stage of theirs."""
    return judgement.cause == "input" and judgement.remade is not None and judgement.stage is None


def _loader_work(judged: Sequence[Judgement]) -> LoaderWork | None:
    """What takes most of the wait for input where that limits."""
    works = (judgement.loader_work for judgement in judged if judgement.cause == "input")
    return next((work[0] for work in works if work is not None), None)


def _waits_aside(judgement: Judgement) -> str | None:
    """What waits where most of the wait for input lies in callbacks or in a loop, which predict or evaluate
    with batches of their own, and not in the training."""
    within = next((part.share for part in judgement.together if part.label == "input"), 0.0)
    if 2 * within <= judgement.share_of("input"):
        return None
    if judgement.other_batches:
        return "A loop over other batches waits for input"
    return "Callbacks of Keras wait for input of their own" if judgement.callbacks else None


def _weighed(finding: ReportFinding, labels: tuple[str, ...], judged: Sequence[Judgement]) -> ReportFinding:
    """The finding, as severe as the part of a step that it is about allows. labels: of that part."""
    share = max(judgement.share_of(label) for judgement in judged for label in labels)
    limiting = [judgement for judgement in judged if judgement.cause in labels]
    limits = any(judgement.share >= _HIGH_FROM for judgement in limiting)
    limit: Severity = "high" if limits else "medium" if share >= _MEDIUM_FROM else "low"
    # What few steps do has few rows, whatever it takes of all that was recorded.
    heavier = limits and labels == ("compile",) and any(judgement.others for judgement in limiting)
    if heavier or SEVERITIES.index(finding.severity) < SEVERITIES.index(limit):
        return replace(finding, severity=limit)
    return finding
