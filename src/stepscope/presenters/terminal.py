"""The summary in a terminal: a gutter with names, sentences and bars beside it.

The first screen answers (see first_screen.py); here is everything, for `--all`. Colour means a class of work,
or marks what takes much of the time.
"""

from stepscope.presenters import first_screen
from stepscope.presenters.cells import cells, shorten_cells
from stepscope.presenters.grid import Paint, lay_out, painter
from stepscope.presenters.gutter import GutterBlock, curve_lines, notes_by_kind, stacked, wrap
from stepscope.presenters.outline import diff_lines, tree_lines
from stepscope.presenters.plain import plain
from stepscope.report import Report, ReportFinding, Section

_NARROWEST, _WIDEST = 40, 240
_TEXT = 120
"""Columns of a sentence: longer lines are hard to read."""


def render(
    report: Report,
    *,
    width: int = 100,
    height: int | None = None,
    color: bool = False,
    everything: bool = False,
) -> str:
    """The report as text. height: lines of the screen, one of which the prompt will take; None for a file or
    a pipe. everything: all of it, however long."""
    width = max(_NARROWEST, min(width, _WIDEST))
    paint = painter(color)
    if not everything:
        return first_screen.render(report, width, height, paint)
    gutter = min(14, max([8, *(cells(plain(section.title)) for section in report.sections)]) + 2)
    room = width - gutter
    lines = [paint("title", plain(report.title, width))]
    lines += [line for sentence in report.headline for line in wrap(sentence, min(width, _TEXT))]
    blocks = [_finding(report_finding, room, paint) for report_finding in report.findings]
    for section in report.sections:
        for part in section.walk():
            blocks.append(_section(part, room, paint))
            blocks += [_finding(finding, room, paint) for finding in part.findings]
    evidence = GutterBlock("Evidence", "medium")
    for note in notes_by_kind(report.other_notes):
        evidence.say(note, min(room, _TEXT))
    # Commands are there to be copied, so they are never cut; the terminal wraps them.
    commands = GutterBlock(
        "Next", lines=[paint("command", plain(command)) for command in report.next_commands]
    )
    shown = [block for block in (*blocks, evidence, commands) if block.lines]
    return "\n".join([*lines, "", *stacked(shown, gutter, paint, airy=True)]) + "\n"


def _finding(finding: ReportFinding, room: int, paint: Paint) -> GutterBlock:
    block = GutterBlock(finding.severity, finding.severity)
    text = min(room, _TEXT)
    block.say(f"{finding.title.rstrip('.')}. {finding.impact}", text)
    block.say(finding.action, text, mark="→ ")
    if finding.weakened_by:
        weak = wrap(f"weakened by: {', '.join(finding.weakened_by)}", text)
        block.lines += [paint("dim", line) for line in weak]
    if finding.evidence.rows:
        block.lines += lay_out(finding.cases, None, room, paint)
    return block


def _section(section: Section, room: int, paint: Paint) -> GutterBlock:
    block = GutterBlock(section.title)
    if section.subject:
        block.lines.append(paint("dim", shorten_cells(plain(section.subject, 400), room)))
    for sentence in section.answer:
        block.say(sentence, min(room, _TEXT))
    if section.tree is not None:
        block.lines += tree_lines(section.tree, room, paint)
    if section.diff is not None:
        block.lines += diff_lines(section.diff, room, paint)
    table, chart = section.table, section.chart
    if table is None or not table.rows:
        return block
    if chart is not None and chart.kind in ("line", "strip", "area"):
        block.lines += curve_lines(table, chart, room, paint)
    block.lines += lay_out(table, chart, room, paint)
    return block
