"""What a gate found as a report: the verdict and why, then limits, ops, steps and recordings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from stepscope import units
from stepscope.instruments.compare.gate import MOST_VARIATION
from stepscope.instruments.compare.history import LEAST_RECORDINGS
from stepscope.report.bases import BASES, called
from stepscope.report.parts import Column, Report, Section, Table

if TYPE_CHECKING:
    from stepscope.instruments.compare.budgets import Kept
    from stepscope.instruments.compare.gate import Judged, TimedFigure
    from stepscope.instruments.compare.history import History
    from stepscope.instruments.compare.recordings import RecordedRun

FIGURES = {
    "ops_per_step": "ops in a step",
    "kernels_per_step": "kernels in a step",
    "copies_per_step": "copies in a step",
    "copied_bytes_per_step": "bytes copied in a step",
    "recompilations": "recompilations",
    "memory_peak_bytes": "peak of memory",
    "float_ops_per_step": "floating point operations in a step",
    "graph_nodes": "nodes of graphs",
}
VERDICTS = {
    "regression": "A regression",
    "no_regression": "No regression",
    "unknown": "No verdict",
}
_WHYS = {
    "few_recordings": "fewer than 4 recordings of each side have it",
    "few_steps": "too few steps",
    "noise": "recordings of one side differ too much",
    "ignored": "the budget leaves it out",
    "one_side": "only one side has it",
}
_NAMED = 3


def build(judged: Judged, history: History | None = None) -> Report:
    """The report of a comparison."""
    sections = [
        _limits(judged),
        _times(judged),
        _steps(judged),
        _alone(judged),
        _recordings(judged.baseline, judged.candidate),
    ]
    if history is not None:
        sections.insert(4, history_section(history))
    kept = tuple(
        section
        for section in sections
        if section.answer or (section.table is not None and section.table.rows)
    )
    return Report(
        f"{_how_many(judged.baseline)} of the baseline, {_how_many(judged.candidate)} of the candidate",
        tuple(_headline(judged)),
        kept,
        document={"verdict": judged.verdict, "reasons": list(judged.reasons), "checks": checks(judged)},
    )


def _how_many(side: Sequence[RecordedRun]) -> str:
    return units.count(len(side), "recording")


def _headline(judged: Judged) -> list[str]:
    sentences = [*_faster(judged), f"{VERDICTS[judged.verdict]}: {_because(judged)}."]
    if judged.verdict == "regression" and judged.reasons:
        sentences.append(f"There may be more: {_reasons(judged)}.")
    return sentences


def _faster(judged: Judged) -> list[str]:
    """What became better, before what did not."""
    parts = []
    if judged.shorter is not None:
        before, after = (units.show(round(one), "ps") for one in judged.shorter)
        share = units.show(1 - judged.shorter[1] / judged.shorter[0], "ratio")
        parts.append(f"steps are {share} shorter: {after}, {before} before")
    faster = [figure for figure in judged.timed if figure.status == "faster"]
    if judged.shorter is not None:
        faster = [figure for figure in faster if figure.what != "step"]
    parts += [_slower(figure) for figure in faster[:_NAMED]]
    if len(faster) > _NAMED:
        parts.append(f"{units.count(len(faster) - _NAMED, 'other')} faster")
    paid = [limit for limit in judged.limits if limit.status == "paid"]
    if paid:
        more = [f"{_exceeded(kept)} if they took longer" for kept in paid[:1]]
        more += [FIGURES[kept.name] for kept in paid[1:]]
        parts.append(f"that pays for more work ({', '.join(more)})")
    return [f"An improvement: {'; '.join(parts)}."] if parts else []


def _because(judged: Judged) -> str:
    if judged.verdict == "unknown":
        return _reasons(judged)
    if judged.verdict == "regression":
        parts = [_exceeded(one) for one in judged.exceeded]
        slower = judged.slower
        parts += [_slower(figure) for figure in slower[:_NAMED]]
        if len(slower) > _NAMED:
            parts.append(f"{units.count(len(slower) - _NAMED, 'other')} slower")
        return "; ".join(parts)
    parts = []
    if judged.limits:
        kept = sum(one.status == "kept" for one in judged.limits)
        parts.append(f"{units.count(kept, 'limit')} kept")
    seen = [
        figure.visible
        for figure in judged.timed
        if figure.what == "op" and figure.status == "same" and figure.visible
    ]
    if judged.judged_share is not None:
        share = units.show(judged.judged_share, "ratio")
        limit = units.show(judged.budget.can_see, "ratio")
        parts.append(f"an increase of {limit} would have been seen in ops that take {share} of the ops' time")
    elif seen:
        parts.append(f"an increase of {units.show(min(seen), 'ratio')} would have been seen")
    return "; ".join(parts) or "nothing changed"


def _reasons(judged: Judged) -> str:
    sides = (("the baseline", judged.baseline), ("the candidate", judged.candidate))
    numbers = f"{_how_many(judged.baseline)} against {_how_many(judged.candidate)}"
    reasons = []
    for reason in judged.reasons:
        if reason == "few_recordings":
            reasons.append(
                f"time is judged from 4 recordings of each side on, not from {numbers}: how much"
                " recordings of one program differ is not known"
            )
        elif reason == "no_steps":
            without = [name for name, side in sides if all(not run.steps for run in side)]
            reasons.append(f"the recordings of {' and of '.join(without)} have no steps")
        elif reason == "few_steps":
            reasons.append("fewer than 4 recordings of a side have 10 steps or more")
        elif reason == "different_programs":
            shares = [units.show(share, "ratio") for share in judged.matched if share is not None]
            reasons.append(
                "the sides look like different programs, for ops that take"
                f" {' and '.join(shares)} of the time are on both"
            )
        elif reason == "noise":
            share = units.show(judged.judged_share or 0.0, "ratio")
            limit = units.show(judged.budget.can_see, "ratio")
            reasons.append(
                f"recordings of one side differ so much that an increase of {limit} would have been seen only"
                f" in ops that take {share} of the ops' time; record more, or on a machine with less to do"
            )
        elif reason == "unclear":
            unclear = [FIGURES[kept.name] for kept in judged.limits if kept.status == "unclear"]
            reasons.append(f"recordings of one side differ in {', '.join(unclear)}")
        elif reason == "missing":
            lacking = ", ".join(FIGURES[name] for name in judged.missing)
            reasons.append(f"the candidate's recordings do not tell their {lacking}")
        else:
            reasons.append("the recordings have nothing that can be compared")
    return "; ".join(reasons)


def _exceeded(kept: Kept) -> str:
    most = units.show(_whole(kept.candidate[1]), _unit(kept.unit))
    return f"{FIGURES[kept.name]} {most}, allowed {units.show(_whole(kept.allowed), _unit(kept.unit))}"


def _slower(figure: TimedFigure) -> str:
    name = {
        "op": called(figure.names),
        "part": f"the part {figure.names[0]}",
        "step": f"the step's {figure.names[0]}",
    }
    return f"{name[figure.what]} {_change(figure.shift)}{_interval(figure)}"


def _interval(figure: TimedFigure) -> str:
    if figure.low is None or figure.high is None:
        return ""
    return f" ({_change(figure.low)} to {_change(figure.high)})"


def _change(share: float | None) -> str:
    if share is None:
        return units.NOTHING
    return f"{'-' if share < 0 else '+'}{units.show(abs(share), 'ratio')}"


def _whole(value: float) -> float:
    return int(value) if value == int(value) else value


def _unit(unit: str) -> Any:
    return unit


def _limits(judged: Judged) -> Section:
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
            None if limit.baseline is None else _span(limit.baseline, limit.unit),
            _span(limit.candidate, limit.unit),
            units.show(_whole(limit.allowed), _unit(limit.unit)),
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
        Table(columns, rows, len(rows)),
    )


def _span(values: tuple[float, float], unit: str) -> str:
    low, high = (units.show(_whole(value), _unit(unit)) for value in values)
    return low if low == high else f"{low} to {high}"


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
        None if figure.shift is None else _change(figure.shift),
        figure.status if figure.status != "unjudged" else "not judged",
        None if figure.visible is None else _visible(figure.visible),
        None
        if figure.low is None or figure.high is None
        else f"{_change(figure.low)} to {_change(figure.high)}",
        None if figure.a_ps is None else round(figure.a_ps),
        None if figure.b_ps is None else round(figure.b_ps),
        figure.adjusted,
        _WHYS[figure.why] if figure.why else None,
        BASES[figure.basis],
    )


def _visible(share: float) -> str:
    return f"+{units.show(share, 'ratio')}" if share <= 10 else "more than 10 times"


def _times(judged: Judged) -> Section:
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
        Table(_TIMES, rows, len(rows)),
    )


def _steps(judged: Judged) -> Section:
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
        "check_steps", "Steps", "Are whole steps longer?", tuple(answer), Table(columns, rows, len(rows))
    )


def _alone(judged: Judged) -> Section:
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


def _recordings(baseline: Sequence[RecordedRun], candidate: Sequence[RecordedRun]) -> Section:
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
    return Section(
        "check_recordings", "Recordings", "What was compared?", table=Table(columns, rows, len(rows))
    )


def _rounded(value: float | None) -> int | None:
    return None if value is None else round(value)


def history_section(history: History) -> Section:
    """What changed over many recordings."""
    columns = (
        Column("figure", "text", "Figure", "what changed"),
        Column("since", "text", "Since", "first recording with the new value"),
        Column("since_unix_ns", "unix_ns", "Recorded", "when it was made"),
        Column("before", "text", "Before", "median up to there"),
        Column("after", "text", "After", "median from there on"),
        Column("change", "text", "Change", "after against before"),
        Column("p", "float", "p", "probability of such a change by chance, with all that was tried"),
    )
    rows = []
    for change in history.changes:
        at = history.recordings[change.at]
        rows.append(
            (
                FIGURES.get(change.figure, change.figure),
                at.name,
                at.origin_unix_ns,
                units.show(_whole(round(change.before, 6)), _unit(change.unit)),
                units.show(_whole(round(change.after, 6)), _unit(change.unit)),
                _change(change.after / change.before - 1),
                change.p,
            )
        )
    number = len(history.recordings)
    answer: tuple[str, ...]
    if number < LEAST_RECORDINGS:
        answer = (f"{units.count(number, 'recording')}: changes are looked for from {LEAST_RECORDINGS} on.",)
    elif rows:
        answer = (f"{units.count(len(rows), 'change')} in {number} recordings.",)
    else:
        answer = (f"No figure of {history.figures} changed over {number} recordings.",)
    if history.left_out:
        older = units.count(history.left_out, "older recording")
        answer = (*answer, f"{older} {units.agree(history.left_out, 'is', 'are')} left out.")
    return Section(
        "check_history",
        "History",
        "When did a figure change?",
        answer,
        Table(columns, tuple(rows), len(rows)),
    )


def of_history(history: History) -> Report:
    """The report of a history alone."""
    section = history_section(history)
    verdict = "unknown" if not _enough(history) else "changes" if history.changes else "no_changes"
    return Report(
        f"{_how_many(history.recordings)} in their order",
        section.answer,
        (section, _recordings((), ()) if not history.recordings else _listed(history)),
        document={"verdict": verdict},
    )


def _enough(history: History) -> bool:
    return len(history.recordings) >= LEAST_RECORDINGS


def _listed(history: History) -> Section:
    section = _recordings(history.recordings, ())
    assert section.table is not None
    columns = section.table.columns[1:]
    rows = tuple(row[1:] for row in section.table.rows)
    return Section(section.name, section.title, section.question, table=Table(columns, rows, len(rows)))


def checks(judged: Judged) -> list[dict[str, Any]]:
    """Each thing that was checked, for programs and for JUnit: group, name, status and why. Raw values."""
    found: list[dict[str, Any]] = []
    for limit in judged.limits:
        found.append(
            {
                "group": "limits",
                "name": limit.name,
                "status": {"kept": "passed", "paid": "passed", "exceeded": "failed"}.get(
                    limit.status, "skipped"
                ),
                "message": f"{FIGURES[limit.name]}: {_span(limit.candidate, limit.unit)}, allowed"
                f" {units.show(_whole(limit.allowed), _unit(limit.unit))}",
                "baseline": None if limit.baseline is None else list(limit.baseline),
                "candidate": list(limit.candidate),
                "allowed": limit.allowed,
            }
        )
    for name in judged.missing:
        found.append(
            {
                "group": "limits",
                "name": name,
                "status": "skipped",
                "message": f"the candidate's recordings do not tell their {FIGURES[name]}",
            }
        )
    for figure in judged.timed:
        status = {"slower": "failed", "unjudged": "skipped"}.get(figure.status, "passed")
        if figure.status == "unjudged":
            message = f"not judged: {_WHYS[figure.why]}"
        else:
            message = f"{figure.status}: {_change(figure.shift)}{_interval(figure)}"
            if figure.status == "same" and figure.visible is not None:
                message += f"; smallest visible increase {_visible(figure.visible)}"
        found.append(
            {
                "group": {"op": "ops", "part": "parts", "step": "steps"}[figure.what],
                "name": called(figure.names or figure.other_names),
                "status": status,
                "message": message,
                "names": list(figure.names),
                "other_names": list(figure.other_names),
                "matched_by": figure.basis,
                "share": figure.share,
                "baseline_ps": figure.a_ps,
                "candidate_ps": figure.b_ps,
                "shift": figure.shift,
                "low": figure.low,
                "high": figure.high,
                "p": figure.p,
                "adjusted_p": figure.adjusted,
                "visible": figure.visible,
            }
        )
    if judged.reasons:
        found.append(
            {"group": "verdict", "name": "verdict", "status": "skipped", "message": _reasons(judged)}
        )
    return found
