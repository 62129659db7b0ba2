"""Sentences about ranks."""

from collections.abc import Iterable, Mapping

from stepscope import units
from stepscope.report.parts import Rows

_MOST_RUNS = 3


def sentences(answers: Mapping[str, Rows]) -> Iterable[str]:
    """Of each run: who meets in collectives, whom they wait for, and how far clocks can be trusted."""
    rows = answers["ranks"]
    runs = sorted({row["run_id"] for row in rows})
    for run in runs[:_MOST_RUNS]:
        run_ranks = [row for row in rows if row["run_id"] == run]
        where = f" of {run}" if len(runs) > 1 else ""
        yield f"{_who(run_ranks)}{where}{_meet(run_ranks)}."
        yield from _waits(run_ranks, where)
        yield from _clocks(run_ranks)
    if len(runs) > _MOST_RUNS:
        yield f"{units.count(len(runs) - _MOST_RUNS, 'more run')} in the table."


def _who(rows: Rows) -> str:
    """Ranks, or devices that one process drives: those have one clock. Where some meet, those that do."""
    rows = [row for row in rows if row["collectives"]] or rows
    together = len({row["host_id"] for row in rows}) == 1 and all(
        "/device:" in row["participant"] for row in rows
    )
    return f"{units.count(len(rows), 'device')} of one host" if together else units.count(len(rows), "rank")


def _meet(rows: Rows) -> str:
    most = max(row["collectives"] for row in rows)
    if not most:
        return "; no collective was seen on more than one of them"
    return f" meet in up to {units.count(most, 'collective')}"


def _waits(rows: Rows, where: str) -> Iterable[str]:
    caused = sum(row["caused_ps"] or 0 for row in rows)
    if not caused:
        return
    top = max(rows, key=lambda row: row["caused_ps"] or 0)
    waited = sum(row["wait_ps"] or 0 for row in rows)
    yield (
        f"They wait {units.show(waited, 'ps')} in all for the last to arrive{where}; "
        f"{units.show(top['caused_ps'] / caused, 'ratio')} of what the last ranks cost is due to "
        f"{top['participant']}."
    )


def _clocks(rows: Rows) -> Iterable[str]:
    if not any(row["collectives"] for row in rows):
        return
    errors = [row["residual_ps"] for row in rows]
    known = [error for error in errors if error is not None]
    if known and len(known) == len(errors) and any(known):
        yield f"Aligned by the ends of collectives, clocks agree within {units.show(max(known), 'ps')}."
    elif len(known) < len(errors):
        yield "How far the clocks of some ranks are apart is unknown."
