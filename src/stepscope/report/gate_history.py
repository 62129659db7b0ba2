"""The report of many recordings in order of time: since when a figure is what it is."""

from collections.abc import Sequence

from stepscope import units
from stepscope.instruments.compare.budgets import Budget
from stepscope.instruments.compare.history import LEAST_RECORDINGS, History, find
from stepscope.instruments.compare.recordings import RecordedRun
from stepscope.report.gate_figures import FIGURES, change_text, figure_text, how_many
from stepscope.report.gate_sections import recordings_section
from stepscope.report.parts import Column, Report, Section, Table


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
                figure_text(round(change.before, 6), change.unit),
                figure_text(round(change.after, 6), change.unit),
                change_text(change.after / change.before - 1),
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
        "check_history", "History", "When did a figure change?", answer, Table.whole(columns, rows)
    )


def history_report(past: Sequence[RecordedRun], allowed: Budget) -> Report:
    """The report of a history without a candidate."""
    history = find(past, allowed)
    section = history_section(history)
    verdict = "unknown" if not _enough(history) else "changes" if history.changes else "no_changes"
    return Report(
        f"{how_many(history.recordings)} in their order",
        section.answer,
        (section, recordings_section((), ()) if not history.recordings else _listed(history)),
        document={"verdict": verdict},
    )


def _enough(history: History) -> bool:
    return len(history.recordings) >= LEAST_RECORDINGS


def _listed(history: History) -> Section:
    section = recordings_section(history.recordings, ())
    assert section.table is not None
    columns = section.table.columns[1:]
    rows = tuple(row[1:] for row in section.table.rows)
    return Section(section.name, section.title, section.question, table=Table.whole(columns, rows))
