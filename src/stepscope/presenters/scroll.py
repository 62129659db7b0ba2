"""A report in a terminal from top to bottom, at full width: for answers that may be longer than a screen.

The summary fits a screen and leaves out what does not (see terminal.py); here everything is shown.
"""

import io

from stepscope.presenters.cells import shorten_cells, wrap
from stepscope.presenters.grid import Paint, lay_out, painter
from stepscope.presenters.gutter import curve_lines, notes_by_kind
from stepscope.presenters.outline import diff_lines, tree_lines
from stepscope.presenters.plain import plain
from stepscope.report import Report, ReportFinding, Section

_INDENT = "  "
_LONGEST = 4000
"""Characters of a sentence; a name in it may be absurdly long."""


def render(report: Report, *, width: int = 100, color: bool = False) -> str:
    """The whole report as text."""
    page = _ScrollPage(max(40, min(width, 140)), painter(color))
    page.line("dim", report.title)
    for sentence in report.headline:
        page.sentence(sentence, "", "name")
    for finding in report.findings:
        page.finding(finding)
    for number, section in enumerate(report.sections):
        # Sentences that explain the first ones need no heading, unless that is the question they answer.
        bare = (
            not number and section.kind == "prose" and not section.parts and not section.title.endswith("?")
        )
        page.section(section, heading=not bare)
    for note in notes_by_kind(report.other_notes):
        page.sentence(note)
    if report.next_commands:
        page.heading("Next")
        # Commands are there to be copied, so they are never cut.
        for command in report.next_commands:
            page.out.write(f"{_INDENT}{page.paint('command', plain(command))}\n")
    return page.out.getvalue()


class _ScrollPage:
    """What is written so far."""

    def __init__(self, width: int, paint: Paint) -> None:
        self.out = io.StringIO()
        self.width, self.paint = width, paint

    def line(self, style: str, text: str) -> None:
        """One line, cut where the screen ends."""
        self.out.write(self.paint(style, shorten_cells(plain(text, _LONGEST), self.width)) + "\n")

    def heading(self, text: str) -> None:
        """A name above what follows."""
        self.out.write("\n")
        self.line("name", text)

    def sentence(self, text: str, indent: str = _INDENT, style: str = "") -> None:
        """A paragraph, as many lines as it takes."""
        for line in wrap(plain(text, _LONGEST), self.width - len(indent), cut=False):
            self.out.write(self.paint(style, indent + line) + "\n")

    def finding(self, finding: ReportFinding) -> None:
        """Severity and title, then what it costs and what to do."""
        self.out.write("\n")
        title = plain(f"{finding.severity}: {finding.title}", _LONGEST)
        self.line(finding.severity, title)
        for text in (finding.impact, f"→ {finding.action}"):
            self.sentence(text)
        if finding.evidence.rows:
            self._indented(lay_out(finding.cases, None, self.width - len(_INDENT), self.paint))

    def section(self, section: Section, *, heading: bool = True) -> None:
        """A section and those inside it."""
        if section.subject:
            self.out.write("\n")
            self.line("dim", section.subject)
            self.line("name", section.title)
        elif heading:
            self.heading(section.title)
        for sentence in section.answer:
            self.sentence(sentence)
        self._indented(self._body(section))
        for finding in section.findings:
            self.finding(finding)
        for part in section.parts:
            self.section(part)

    def _body(self, section: Section) -> list[str]:
        room = self.width - len(_INDENT)
        if section.tree is not None:
            note = wrap(plain(section.tree.note), room) if section.tree.note else []
            return tree_lines(section.tree, room, self.paint) + [self.paint("dim", line) for line in note]
        if section.diff is not None:
            return diff_lines(section.diff, room, self.paint)
        table, chart = section.table, section.chart
        if table is None or not table.rows:
            return []
        if chart is not None and section.kind == "curve":
            return curve_lines(table, chart, room, self.paint)
        return lay_out(table, chart, room, self.paint)

    def _indented(self, lines: list[str]) -> None:
        self.out.writelines(f"{_INDENT}{line}\n" for line in lines)
