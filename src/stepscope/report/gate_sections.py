"""The tables of a comparison: limits, ops that got slower, steps, recordings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from stepscope import units
from stepscope.instruments.compare.timed_figures import MOST_VARIATION
from stepscope.report.bases import BASES, called
from stepscope.report.gate_figures import FIGURES, change_text, figure_text, span_text
from stepscope.report.gate_reasons import WHYS
from stepscope.report.parts import Column, Section, Table

if TYPE_CHECKING:
    from stepscope.instruments.compare.gate import Judged
    from stepscope.instruments.compare.recordings import RecordedRun
    from stepscope.instruments.compare.timed_figures import TimedFigure


def limits_section(judged: Judged) -> Section:
    """The limits of the budget, and what the sides have."""
    columns = (
        Column("figure", "text", "Figure", "what is counted"),
        Column("baseline", "text", "Baseline", "least and most of the recordings of the baseline"),
        Column("candidate", "text", "Candidate", "least and most of the recordings of the candidate"),
        Column("allowed", "text", "Allowed", "most that keeps the limit"),
        Column(
            "status",
            "text",
            "Limit",
            "kept, exceeded, paid (for by shorter steps), unclear (recordings of one side differ) or not "
            "judged",
        ),
    )
    rows = tuple(
        (
            FIGURES[limit.name],
            None if limit.baseline is None else span_text(limit.baseline, limit.unit),
            span_text(limit.candidate, limit.unit),
            figure_text(limit.allowed, limit.unit),
            "not judged" if limit.status == "unjudged" else limit.status,
        )
        for limit in judged.limits
    )
    answer = []
    if judged.limits:
        over = sum(limit.status == "exceeded" for limit in judged.limits)
        answer.append(
            f"{units.count(over, 'limit')} of {len(rows)} exceeded." if over else "No limit is exceeded."
        )
    if any(limit.status == "unjudged" for limit in judged.limits):
        answer.append("The peak of memory is judged from 4 recordings of the baseline on.")
    return Section(
        "check_limits",
        "Limits",
        "Do counts and sizes, which have no noise, keep their limits?",
        tuple(answer),
        Table.whole(columns, rows),
    )


_TIMES = (
    Column("name", "text", "Op or part", "name in the baseline"),
    Column("share", "ratio", "Share", "of the time of all ops, or of the step: the larger one of both sides"),
    Column("shift", "text", "Change", "shift from the baseline's recordings to the candidate's"),
    Column("status", "text", "Verdict", "slower, faster, same, or not judged"),
    Column("visible", "text", "Visible", "smallest increase that would have been seen in four of five cases"),
    Column("interval", "text", "95 % interval", "of the shift"),
    Column("a", "ps", "Baseline", "median over recordings of the 10th percentile of its time in a step"),
    Column("b", "ps", "Candidate", "the same of the candidate"),
    Column("adjusted", "float", "p", "by Student's t over recordings, adjusted for the number of tests"),
    Column("why", "text", "Because", "why it is not judged"),
    Column("matched", "text", "Matched by", "why it is the same on both sides"),
)


def _time_row(figure: TimedFigure) -> tuple[Any, ...]:
    name = called(figure.names) if figure.what == "op" else figure.names[0]
    if figure.other_names != figure.names and figure.other_names:
        name = f"{name}, now {called(figure.other_names)}"
    return (
        name,
        figure.share,
        None if figure.shift is None else change_text(figure.shift),
        figure.status if figure.status != "unjudged" else "not judged",
        None if figure.visible is None else visible_text(figure.visible),
        None
        if figure.low is None or figure.high is None
        else f"{change_text(figure.low)} to {change_text(figure.high)}",
        None if figure.a_ps is None else round(figure.a_ps),
        None if figure.b_ps is None else round(figure.b_ps),
        figure.adjusted,
        WHYS[figure.why] if figure.why else None,
        BASES[figure.basis],
    )


def visible_text(share: float) -> str:
    """The smallest increase that would have been seen."""
    return f"+{units.show(share, 'ratio')}" if share <= 10 else "more than 10 times"


def times_section(judged: Judged) -> Section:
    """The ops and parts whose times were judged."""
    mine = [figure for figure in judged.timed if figure.what != "step"]
    order = {"slower": 0, "faster": 1, "same": 2, "unjudged": 3}
    mine.sort(key=lambda figure: order[figure.status])
    answer = []
    if mine:
        counts = [(status, sum(figure.status == status for figure in mine)) for status in order]
        counted = [
            f"{number} {'not judged' if status == 'unjudged' else status}" for status, number in counts
        ]
        least = units.show(judged.budget.least_share, "ratio")
        answer.append(f"Of what takes at least {least}: {', '.join(counted)}.")
    rows = tuple(map(_time_row, mine))
    return Section(
        "check_times",
        "Ops and parts",
        "Which ops and parts of a step take longer, by more than recordings of one program differ?",
        tuple(answer),
        Table.whole(_TIMES, rows),
    )


def steps_section(judged: Judged) -> Section:
    """The times of whole steps."""
    mine = [figure for figure in judged.timed if figure.what == "step"]
    answer = []
    if mine and judged.variation is not None and judged.variation > MOST_VARIATION:
        answer.append(
            f"Whole steps are not judged: those of the baseline vary by"
            f" {units.show(judged.variation, 'ratio')} from recording to recording, more than"
            f" {units.show(MOST_VARIATION, 'ratio')}. Ops are steadier."
        )
    rows = tuple(map(_time_row, mine))
    columns = (Column("name", "text", "Of steps", "figure"), *_TIMES[1:])
    return Section(
        "check_steps", "Steps", "Are whole steps longer?", tuple(answer), Table.whole(columns, rows)
    )


def one_sided_section(judged: Judged) -> Section:
    """The ops that only one side has."""
    columns = (
        Column("name", "text", "Op", "name"),
        Column("side", "text", "In", "side that has it"),
        Column("share", "ratio", "Share", "of that side's time of ops"),
    )
    both = [(name, "candidate only", share) for name, share in judged.added]
    both += [(name, "baseline only", share) for name, share in judged.removed]
    both.sort(key=lambda row: (-row[2], row[0]))
    answer = []
    if both:
        answer.append(
            f"{len(judged.added)} only in the candidate, {len(judged.removed)} only in the baseline."
        )
    rows = tuple(both[:50])
    return Section(
        "check_alone",
        "On one side only",
        "Which ops have no counterpart?",
        tuple(answer),
        Table(columns, rows, len(both)),
    )


def recordings_section(baseline: Sequence[RecordedRun], candidate: Sequence[RecordedRun]) -> Section:
    """The recordings of both sides."""
    columns = (
        Column("side", "text", "Side", "baseline or candidate"),
        Column("name", "text", "Recording", "run"),
        Column("path", "text", "Path", "as given"),
        Column("steps", "int", "Steps", "steps that are judged"),
        Column("low_ps", "ps", "10th percentile", "of the durations of its steps"),
        Column("median_ps", "ps", "Median", "of the durations of its steps"),
    )
    rows = tuple(
        (
            side,
            recording.name,
            recording.path,
            recording.steps,
            _rounded(recording.step_figure(0.1)),
            _rounded(recording.step_figure(0.5)),
        )
        for side, recordings in (("baseline", baseline), ("candidate", candidate))
        for recording in recordings
    )
    return Section("check_recordings", "Recordings", "What was compared?", table=Table.whole(columns, rows))


def _rounded(value: float | None) -> int | None:
    return None if value is None else round(value)
