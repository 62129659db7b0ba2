"""The first screen of a summary: where a mean step goes, the findings, the steps and five ops.

It fits a screen of 80 columns and 40 lines, and smaller ones with less. What is left out is named in the last
line, and `--all` shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from stepscope import units
from stepscope.presenters.bars import MARKS, split
from stepscope.presenters.cells import SENTENCE_WIDTH, cells, shorten_cells
from stepscope.presenters.grid import Paint, lay_out
from stepscope.presenters.gutter import GutterBlock, curve_lines, notes_by_kind, sentences, stacked, wrap
from stepscope.presenters.outline import diff_lines, tree_lines
from stepscope.presenters.plain import plain, shorten
from stepscope.presenters.screen_sizes import ADVICE, BRIEF, LARGE, SMALL, TITLE, WHOLE, Measure
from stepscope.report import Report, ReportFinding, Section, Split

_SCREEN = 40
_FIRST = ("answers", "step_parts", "step_list", "ranks", "ops", "op_types")
_MOST_BARS = 3
"""Hosts whose mean steps are drawn; a table has those of more."""
_ENOUGH = 3
"""Sections that make a screen; where fewer of the first ones exist, others follow them."""
_LONGEST = 4000
"""Characters of a sentence."""
_MOST_ROWS = 500
"""Rows of a table that widths and bars are made for."""


def render(report: Report, width: int, height: int | None, paint: Paint) -> str:
    """The first screen. height: its lines, one of which the prompt takes; None for a file or a pipe."""
    limit = (height or _SCREEN) - 1
    laid_out: _LaidOut = {}
    pages = (_ScreenPage(report, width, measure, laid_out) for measure in LARGE)
    page = next((page for page in pages if page.height() <= limit), None)
    if page is None:
        page = _pressed(report, width, limit, laid_out)
    airy = _ScreenPage(report, width, replace(page.measure, airy=True), laid_out)
    airy.dropped = page.dropped
    page = airy if airy.height() <= limit else page
    return "\n".join(page.lines(paint)) + "\n"


def _pressed(report: Report, width: int, limit: int, laid_out: _LaidOut) -> _ScreenPage:
    """The largest page that fits without some of the sections; they go from the last on."""
    page = _ScreenPage(report, width, LARGE[-1], laid_out)
    sections = [section.name for section in page.sections if not section.splits]
    while sections and page.height() > limit:
        page.dropped.add(sections.pop())
    for measure in SMALL if page.height() > limit else ():
        page = _ScreenPage(report, width, measure, laid_out)
        page.dropped = {section.name for section in page.sections if not section.splits}
        if page.height() <= limit:
            break
    for name in [
        section.name for section in page.sections if section.name in page.dropped and page.has_what_matters
    ]:
        page.dropped.discard(name)
        if page.height() > limit:
            page.dropped.add(name)
    return page


def _bare(style: str, text: str) -> str:
    return text


_LaidOut: TypeAlias = dict[tuple[int, Paint], list[str]]
"""Heading and rows by section and paint."""


class _ScreenPage:
    """The screen in one measure."""

    def __init__(self, report: Report, width: int, measure: Measure, laid_out: _LaidOut) -> None:
        """laid_out: the rows of sections, which are the same in every measure."""
        self._report, self._width, self.measure = report, width, measure
        self._laid_out = laid_out
        self.sections = _shown(report)
        self.dropped: set[str] = set()
        self._gutter = min(14, max([8, *(cells(plain(_name(section))) for section in self.sections)]) + 2)
        self._room = width - self._gutter

    @property
    def has_what_matters(self) -> bool:
        """Whether the bar and two findings are there, before which no table comes."""
        bar = self.measure.bar or not any(section.splits for section in self.sections)
        return bar and len(self._findings()) >= len(self._report.findings[:2])

    def height(self) -> int:
        """Lines on the screen: commands are there to be copied, so they are never cut, and the terminal
        wraps them."""
        return sum(max(1, -(-cells(line) // self._width)) for line in self.lines(_bare))

    def lines(self, paint: Paint) -> list[str]:
        """All lines from the title to what is left out."""
        head = GutterBlock("")
        for sentence in self._report.headline[: self.measure.headline]:
            head.say(_short(sentence, self._width), min(self._width, SENTENCE_WIDTH))
        blocks = [block for block in self._blocks(paint) if block.lines]
        airy = self.measure.airy
        head.unshown = len(self._report.headline) - self.measure.headline
        asked = self._report.next_commands[: self.measure.commands]
        commands = [paint("command", plain(command)) for command in asked]
        tail = GutterBlock("Next" if commands else "", lines=commands)
        left_out = self._left_out([*blocks, head])
        tail.lines += [paint("dim", line) for line in wrap(left_out, min(self._room, SENTENCE_WIDTH))]
        lines = [paint("title", plain(self._report.title, self._width)), *head.lines, ""]
        lines += stacked(blocks, self._gutter, paint, airy=airy)
        lines += [""] if blocks and tail.lines and airy else []
        return lines + stacked([tail], self._gutter, paint, airy=False)

    def _blocks(self, paint: Paint) -> list[GutterBlock]:
        """What is between the headline and the commands: the bar, findings, then the other sections."""
        measure, room = self.measure, self._room
        sections = [section for section in self.sections if section.name not in self.dropped]
        bars = [_bars(section, room, paint) for section in sections if section.splits and measure.bar]
        shown = zip(self._findings(), measure.findings, strict=False)
        findings = [_finding(finding, room, how) for finding, how in shown]
        for block in findings[1:]:
            block.close = True
        rest = [
            _section(section, room, paint, measure, self._rows) for section in sections if not section.splits
        ]
        evidence = GutterBlock("Evidence", "medium")
        for note in self._notes():
            first, *more = sentences(note)
            evidence.say(_short(first, room), min(room, SENTENCE_WIDTH))
            evidence.unshown += len(more)
        return [*bars, *findings, *rest, evidence]

    def _rows(self, section: Section, paint: Paint) -> list[str]:
        key = (id(section), paint)
        if key not in self._laid_out:
            self._laid_out[key] = _rows(section, self._room, paint)
        return self._laid_out[key]

    def _findings(self) -> Sequence[ReportFinding]:
        return self._report.findings[: len(self.measure.findings)]

    def _notes(self) -> list[str]:
        weighty = [note for note in self._report.other_notes if note.effect not in ("info", "recorder")]
        return notes_by_kind(weighty)[: self.measure.notes]

    def _left_out(self, blocks: Sequence[GutterBlock]) -> str:
        """What `--all` shows beside this, in a sentence; empty when that is nothing."""
        shown = {
            section.name for section in self.sections if self.measure.bar or not section.splits
        } - self.dropped
        names = [section.title for section in self._report.sections if section.name not in shown]
        findings = len(self._report.findings) - len(self._findings())
        rows = sum(block.left for block in blocks)
        unshown = sum(max(block.unshown, 0) for block in blocks)
        parts = [units.count(findings, "finding")] if findings else []
        parts += [plain(name, 40) for name in names]
        parts += [units.count(rows, "row")] if rows else []
        parts += [units.count(unshown, "sentence")] if unshown else []
        return f"left out: {', '.join(parts)}; --all shows them" if parts else ""


def _shown(report: Report) -> list[Section]:
    """The sections that a first screen has: those that matter most, and others where these are few."""
    names = [section.name for section in report.sections]
    many = {section.name for section in report.sections if len(section.splits) > _MOST_BARS}
    hidden = many | ({"op_types"} if "ops" in names else set())
    first = [name for name in _FIRST if name in names and name not in hidden]
    more = [name for name in names if name not in (*_FIRST, "completeness")]
    first += more[: max(_ENOUGH - len(first), 0)]
    chosen = {*first, "completeness"}
    return [section for section in report.sections if section.name in chosen]


def _name(section: Section) -> str:
    return "Step" if section.splits else section.title


def _bars(section: Section, room: int, paint: Paint) -> GutterBlock:
    """The mean step of each host as a bar, and below it what its parts are."""
    block = GutterBlock(_name(section))
    for split_ in section.splits:
        if split_.of:
            block.lines.append(paint("dim", shorten_cells(plain(split_.of), room)))
        bar = split(split_, max(min(room - cells(split_.long) - 2, 100), 8))
        block.lines.append("".join(paint(*part) for part in bar) + f"  {split_.long}")
        block.lines += _legend(split_, room, paint)
    return block


def _legend(split_: Split, room: int, paint: Paint) -> list[str]:
    """The parts of a bar, each with its character, name and share; as many to a line as fit."""
    lines, used = [""], 0
    for share in split_.shares:
        text = f"{MARKS.get(share.label, '?')} {share.word} {units.show(share.share, 'ratio')}"
        if used and used + 3 + len(text) > room:
            lines.append("")
            used = 0
        lines[-1] += ("   " if used else "") + paint(share.label, text)
        used += (3 if used else 0) + len(text)
    return lines


def _finding(finding: ReportFinding, room: int, how: str) -> GutterBlock:
    block = GutterBlock(finding.severity, finding.severity)
    text = min(room, SENTENCE_WIDTH)
    impact, action = sentences(finding.impact), sentences(finding.action)
    says = {WHOLE: impact, BRIEF: impact[:1]}.get(how, [])
    does = {WHOLE: action, ADVICE: action, TITLE: []}.get(how, action[:1])
    block.say(_short(" ".join([f"{finding.title.rstrip('.')}.", *says]), room), text)
    if does:
        block.say(_short(" ".join(does), room), text, "→ ")
    block.unshown = len(impact) + len(action) - len(says) - len(does)
    return block


def _short(text: str, room: int) -> str:
    """A sentence whose names take a line at most: they are cut, and the sentence is not."""
    return " ".join(shorten(word, room) for word in plain(text, _LONGEST).split(" "))


def _section(
    section: Section,
    room: int,
    paint: Paint,
    measure: Measure,
    rows_of: Callable[[Section, Paint], list[str]],
) -> GutterBlock:
    block = GutterBlock(_name(section))
    if section.subject:
        block.lines.append(paint("dim", shorten_cells(plain(section.subject, 400), room)))
    _add_sentences(block, section.answer, room, measure)
    block.left = sum(_size(part) for part in section.parts)
    rows = rows_of(section, paint)
    table, chart = section.table, section.chart
    if table is not None and chart is not None and chart.kind in ("line", "strip", "area"):
        # A curve shows all rows already.
        curve = curve_lines(table, chart, room, paint)
        block.lines += curve
        rows = [] if curve or section.answer else rows
    if section.name == "completeness" or (table is not None and table.total == 1 and section.answer):
        rows = []  # the sentences say it
    block.lines += rows[: measure.rows + 1]
    if rows:
        block.left += max(_size(section) - measure.rows, 0)
    return block


def _add_sentences(block: GutterBlock, sentences: Sequence[str], room: int, measure: Measure) -> None:
    """As many of the sentences as there is room for."""
    for sentence in sentences:
        lines = wrap(_short(sentence, room), min(room, SENTENCE_WIDTH))
        if len(lines) > measure.wide or block.shown == measure.sentences:
            block.unshown += 1
        else:
            block.shown += 1
            block.lines += lines


def _rows(section: Section, room: int, paint: Paint) -> list[str]:
    """A heading and rows, of a long table the first: the screen shows five, but a fleet has a row a host."""
    if section.tree is not None:
        return tree_lines(section.tree, room, paint)
    if section.diff is not None:
        return diff_lines(section.diff, room, paint)
    if section.table is None or not section.table.rows:
        return []
    table = section.table
    return lay_out(replace(table, rows=table.rows[:_MOST_ROWS]), section.chart, room, paint)


def _size(section: Section) -> int:
    """Rows that an answer has, those as well that were never handed over."""
    if section.table is not None:
        return section.table.total
    if section.tree is not None:
        return len(section.tree.nodes)
    return len(section.diff.changes) if section.diff is not None else 0
