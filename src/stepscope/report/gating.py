"""What a gate found as a report: the verdict and why, then limits, ops, steps and recordings."""

from collections.abc import Sequence
from typing import Any

from stepscope import units
from stepscope.instruments.compare import budgets, gate, history
from stepscope.instruments.compare.budgets import Budget as Budget
from stepscope.instruments.compare.budgets import Kept
from stepscope.instruments.compare.gate import Judged
from stepscope.instruments.compare.history import History
from stepscope.instruments.compare.recordings import RecordedRun as RecordedRun
from stepscope.instruments.compare.timed_figures import TimedFigure
from stepscope.report.bases import called
from stepscope.report.gate_figures import (
    FIGURES,
    change_text,
    exceeded_text,
    figure_text,
    how_many,
    interval_text,
    slower_text,
    span_text,
)
from stepscope.report.gate_history import history_section
from stepscope.report.gate_reasons import WHYS, missing_text, reasons_text
from stepscope.report.gate_sections import (
    limits_section,
    one_sided_section,
    recordings_section,
    steps_section,
    times_section,
    visible_text,
)
from stepscope.report.parts import Report

VERDICTS = {"regression": "A regression", "no_regression": "No regression", "unknown": "No verdict"}


_NAMED = 3


def budget_of(given: object | None) -> Budget:
    """The limits that a TOML or JSON file holds; the usual ones for None. UsageError, with the key, for what
    a budget cannot say."""
    return budgets.Budget() if given is None else budgets.parse(given)


def check(
    baseline: Sequence[RecordedRun],
    candidate: Sequence[RecordedRun],
    allowed: Budget,
    counts: bool = False,
    past: Sequence[RecordedRun] | None = None,
) -> Report:
    """The report of whether a candidate is slower than its baseline. counts: compare nothing that has noise.
    past: recordings over time, whose changes are listed too."""
    changes = None if past is None else history.find(past, allowed)
    return build(gate.judge(baseline, candidate, allowed, counts), changes)


def build(judged: Judged, changes: History | None = None) -> Report:
    """The report of a comparison."""
    sections = [
        limits_section(judged),
        times_section(judged),
        steps_section(judged),
        one_sided_section(judged),
        recordings_section(judged.baseline, judged.candidate),
    ]
    if changes is not None:
        sections.insert(4, history_section(changes))
    kept = tuple(
        section
        for section in sections
        if section.answer or (section.table is not None and section.table.rows)
    )
    return Report(
        f"{how_many(judged.baseline)} of the baseline, {how_many(judged.candidate)} of the candidate",
        tuple(_headline(judged)),
        kept,
        document={"verdict": judged.verdict, "reasons": list(judged.reasons), "checks": checks(judged)},
    )


def _headline(judged: Judged) -> list[str]:
    sentences = [*_faster(judged), f"{VERDICTS[judged.verdict]}: {_because(judged)}."]
    if judged.verdict == "regression" and judged.reasons:
        sentences.append(f"There may be more: {reasons_text(judged)}.")
    return sentences


def _faster(judged: Judged) -> list[str]:
    """What became better, before what did not."""
    parts = []
    if judged.shorter is not None:
        before, after = (units.show(round(time_ps), "ps") for time_ps in judged.shorter)
        share = units.show(1 - judged.shorter[1] / judged.shorter[0], "ratio")
        parts.append(f"steps are {share} shorter: {after}, {before} before")
    faster = [figure for figure in judged.timed if figure.status == "faster"]
    if judged.shorter is not None:
        faster = [figure for figure in faster if figure.what != "step"]
    parts += [slower_text(figure) for figure in faster[:_NAMED]]
    if len(faster) > _NAMED:
        parts.append(f"{units.count(len(faster) - _NAMED, 'other')} faster")
    if paid := [limit for limit in judged.limits if limit.status == "paid"]:
        parts.append(f"that pays for more work ({_paid(paid)})")
    # Without a verdict, the sentence is about these recordings only.
    begins = "Faster in these recordings" if judged.verdict == "unknown" else "An improvement"
    return [f"{begins}: {'; '.join(parts)}."] if parts else []


def _paid(limits: Sequence[Kept]) -> str:
    """What grew beyond a limit, and may because steps are shorter."""
    more = [f"{exceeded_text(kept)} if they took longer" for kept in limits[:1]]
    return ", ".join(more + [FIGURES[kept.name] for kept in limits[1:]])


def _because(judged: Judged) -> str:
    if judged.verdict == "unknown":
        return reasons_text(judged)
    if judged.verdict == "regression":
        parts = [exceeded_text(figure) for figure in judged.exceeded]
        slower = judged.slower
        parts += [slower_text(figure) for figure in slower[:_NAMED]]
        if len(slower) > _NAMED:
            parts.append(f"{units.count(len(slower) - _NAMED, 'other')} slower")
        return "; ".join(parts)
    parts = []
    if judged.limits:
        kept = sum(limit.status == "kept" for limit in judged.limits)
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


def checks(judged: Judged) -> list[dict[str, Any]]:
    """Each thing that was checked, for programs and for JUnit: group, name, status and why. Raw values."""
    found = [
        *map(_limit_check, judged.limits),
        *(_skipped("limits", name, missing_text([name])) for name in judged.missing),
        *map(_time_check, judged.timed),
    ]
    if judged.reasons:
        found.append(_skipped("verdict", "verdict", reasons_text(judged)))
    return found


def _skipped(group: str, name: str, message: str) -> dict[str, Any]:
    return {"group": group, "name": name, "status": "skipped", "message": message}


def _limit_check(limit: Kept) -> dict[str, Any]:
    allowed = figure_text(limit.allowed, limit.unit)
    return {
        "group": "limits",
        "name": limit.name,
        "status": {"kept": "passed", "paid": "passed", "exceeded": "failed"}.get(limit.status, "skipped"),
        "message": f"{FIGURES[limit.name]}: {span_text(limit.candidate, limit.unit)}, allowed {allowed}",
        "baseline": None if limit.baseline is None else list(limit.baseline),
        "candidate": list(limit.candidate),
        "allowed": limit.allowed,
    }


def _time_check(figure: TimedFigure) -> dict[str, Any]:
    if figure.status == "unjudged":
        message = f"not judged: {WHYS[figure.why]}"
    else:
        message = f"{figure.status}: {change_text(figure.shift)}{interval_text(figure)}"
        if figure.status == "same" and figure.visible is not None:
            message += f"; smallest visible increase {visible_text(figure.visible)}"
    return {
        "group": {"op": "ops", "part": "parts", "step": "steps"}[figure.what],
        "name": called(figure.names or figure.other_names),
        "status": {"slower": "failed", "unjudged": "skipped"}.get(figure.status, "passed"),
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
