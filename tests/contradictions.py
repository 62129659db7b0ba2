"""Whether views of one recording contradict each other: headline, JSON, causes, findings, input pipeline, and
the sentences that are printed."""

from collections.abc import Iterator

import stepscope
from stepscope.instruments import laws
from stepscope.instruments.pipeline import fitting
from stepscope.instruments.pipeline.diagnoses import SourcePipelines
from stepscope.instruments.pipeline.limits import gain_without
from stepscope.presenters import scroll
from stepscope.report import Report, Section, cause_beginnings, pipeline
from stepscope.report.finding_weights import LABELS_OF

_BOUND = ("The input is the bottleneck", "The input is part of the bottleneck")
_FREE = "The input is not the bottleneck"
DENY = (
    *((bound, other) for bound in _BOUND for other in (
        _FREE, "not for data", "The pipeline keeps up", "None: no stage needs long enough", "Yes: 0.",
        "the program hardly waits", "the input is not the bottleneck",
    )),
    (_FREE, "Waiting for input takes"),
    (_FREE, "◀ bottleneck"),
    (_FREE, "No stage explains the wait"),
    ("The input is the bottleneck (confidence high)", "No stage explains the wait"),
    ("No stage explains the wait", "◀ bottleneck"),
    ("The pipeline keeps up", "its batches come late"),
    ("The pipeline keeps up", "end the pipeline with prefetch"),
    ("Yes: the last stage is yours", "and no Prefetch"),
    ("Yes: the last stage is yours", "end the pipeline with prefetch"),
    ("Yes: the last stage is yours", "put a Prefetch at the end"),
    ("put a Prefetch at the end", "and no Prefetch"),
    ("and no Prefetch", "the pipeline already works ahead"),
    ("One at the end would save less than", "With prefetch(tf.data.AUTOTUNE) at the end, a step would take"),
    ("The CPU is full", "The CPU is not full"),
    ("does not show how many there are", "With the best parallelism and prefetching"),
    ("does not show how many there are", "give the host"),
    ("No change gains anything", "limits the step."),
    ("shuffle names of files instead of elements", "list_files (1)"),
    ("There is one step", "No steps were found"),
)  # fmt: skip
"""Pairs of what is printed that cannot both be true of one pipeline. This is the one list of them."""
ROUNDING = 0.005
"""Shares that differ by no more than this are the same in print."""


def contradictions(trace: stepscope.Trace, report: Report, found: list[SourcePipelines]) -> Iterator[str]:
    """Where two views of one recording disagree, in words."""
    yield from about_parts(trace)
    answer = report.document["answer"]
    if answer is None:
        if not report.document["answers"] and report.document["causes"]:
            yield "causes without an answer"
        return
    yield from about_the_answer(report)
    yield from about_findings(report)
    yield from about_changes(found)
    hosts = {(one["run"], one["host"]) for one in report.document["answers"]}
    if len(found) == len(hosts) == 1:
        yield from about_the_pipeline(report, found[0])
        yield from denied(f"{' '.join(report.headline)} {printed(found[0])}")


def printed(one: SourcePipelines) -> str:
    """What `stepscope pipeline` prints of a pipeline, on one line."""
    return " ".join(scroll.render(pipeline.build([one])).split())


def denied(text: str) -> Iterator[str]:
    """Sentences of one answer that deny each other."""
    for one, other in DENY:
        if one in text and other in text:
            yield f"{one} … {other}"


def about_parts(trace: stepscope.Trace) -> Iterator[str]:
    sums = trace.query(
        "SELECT s.id, s.dur_ps, sum(p.dur_ps) FROM step AS s LEFT JOIN step_part AS p ON p.step_id = s.id "
        "WHERE s.dur_ps > 0 GROUP BY s.id, s.dur_ps"
    ).rows()
    for number, whole, told in sums:
        if whole != told:
            yield f"parts of step {number} add up to {told} of {whole}"


def about_the_answer(report: Report) -> Iterator[str]:
    answer, causes = report.document["answer"], report.document["causes"]
    share = {cause["cause"]: cause["share"] for cause in causes}
    if list(share.values()) != sorted(share.values(), reverse=True):
        yield "causes are not in order"
    if sum(share.values()) > 1 + 1e-6:
        yield "causes add up to more than a step"
    cause = {"none": "compute"}.get(answer["cause"], answer["cause"])
    if abs(answer["share"] - share.get(cause, answer["share"])) > 1e-9:
        yield "the answer's share is not that of its cause"
    if any("share" in laws.weakens(law) and not laws.bound([law]) for law in answer["weakened_by"]):
        return  # nothing is concluded of what takes a step
    special = (beginning.takes for beginning in cause_beginnings.SPECIAL.get(answer["cause"], ()))
    said = (cause_beginnings.TAKES[answer["cause"]], *special)
    if not report.headline[0].lower().startswith(tuple(one.partition("{")[0].lower() for one in said)):
        yield f"the headline is not of {answer['cause']}: {report.headline[0]}"
    left, low, high = (answer[key] for key in ("step_if_removed_ps", "low", "high"))
    if left is None:
        # What is not known well enough has one bound, or none.
        if None not in (low, high):
            yield "both bounds are told without a number between them"
    elif low is None or high is None:
        yield "a number is told without its bounds"
    elif not low <= left <= high:
        yield "the step without its cause is not between its bounds"
    elif high > 2 * low:
        yield "a number is told whose bounds say nothing"
    saved, least, most = (answer[key] for key in ("saved_ps", "saved_low", "saved_high"))
    if (saved is None) != (least is None) or (saved is None) != (most is None):
        yield "by how much a step is shorter is told without its bounds, or those without it"
    elif saved is not None:
        # What has to be done in another way, which may take as long, is what goes at most.
        sure = saved if least == 0 and answer["cause"] in ("input", "compute") else least
        if not 0 < sure <= saved <= most <= 2 * sure:
            yield "by how much a step is shorter is not between bounds that say something"
    if any(one is not None and one > answer["step_ps"] for one in (left, low, high)):
        yield "the step without its cause is longer"


def about_findings(report: Report) -> Iterator[str]:
    answers = report.document["answers"]
    for finding in report.findings:
        labels = LABELS_OF.get(finding.slug)
        if labels is None:
            continue
        if finding.severity == "high" and all(one["cause"] not in labels for one in answers):
            yield f"{finding.slug} is high, but {answers[0]['cause']} limits: {finding.impact}"
        if finding.slug == "input-wait" and len(answers) == 1:
            columns = [column.name for column in finding.evidence.columns]
            told = finding.evidence.rows[0][columns.index("wait_share")]
            share = {one["cause"]: one["share"] for one in report.document["causes"]}
            if abs(told - share.get("input", 0.0)) > ROUNDING:
                yield f"the finding says {told} of a step waits for input, the causes {share.get('input')}"


def about_changes(found: list[SourcePipelines]) -> Iterator[str]:
    for one in found:
        yield from denied(printed(one))
        told = one.diagnosis
        helping = [change.helps for change in told.changes]
        if helping != sorted(helping, reverse=True):
            yield "changes that help come after others"
        gains = [change.prediction.step_ps for change in told.changes if change.helps]
        if gains != sorted(gains):
            yield "changes are not in order of their gain"
        if any(change.helps and change.unknown for change in told.changes):
            yield "a change whose gain is unknown helps"
        if told.bottleneck is None or told.waits is None:
            continue
        model = fitting.fit(told.loads, told.waits, told.cores, False, told.machine, told.step_ps)
        together = [told.bottleneck] + ([told.beside] if told.beside is not None else [])
        if gain_without(model, together, told.step_ps or 0) <= 0:
            yield f"without {told.bottleneck.stage.branch_name} a step would take as long"


def about_the_pipeline(report: Report, one: SourcePipelines) -> Iterator[str]:
    answer, told = report.document["answer"], one.diagnosis
    if told.waits is None:
        return
    limited = told.verdict == "input_bound"
    if limited != (answer["cause"] == "input"):
        yield f"pipeline says {told.verdict}, the answer is {answer['cause']}"
    share = {cause["cause"]: cause["share"] for cause in report.document["causes"]}
    apart = abs(told.waits.ratio - share.get("input", told.waits.ratio))
    if told.waits.has_steps and not told.waits.between and apart > ROUNDING:
        yield f"pipeline waits {told.waits.ratio}, the causes say {share.get('input')}"
    branch = None if told.bottleneck is None else told.bottleneck.stage.branch
    if limited and (answer["stage"] or "").partition(" ")[0] != (branch or ""):
        yield f"the answer names {answer['stage']}, pipeline {branch}"
    for finding in report.findings:
        if finding.slug == "input-wait" and ("it limits the input" in finding.action) != (branch is not None):
            yield f"pipeline names {branch}, the finding says: {finding.action}"
    section = pipeline.build([one])
    for said in _sentences(report.sections):
        if said.startswith("The input is") and not section.headline[0].startswith(said[:24]):
            yield f"the summary says {said} and pipeline {section.headline[0]}"
        if "limits it: it needs" in said and branch is None:
            yield f"the summary says {said}, pipeline that no stage limits"


def _sentences(sections: tuple[Section, ...]) -> list[str]:
    return [said for one in sections if one.name == "pipeline_stages" for said in one.answer]
