"""The summary in a terminal: one screenful, a gutter with names, sentences and bars beside it.

What does not fit is left out: first blanks, then rows from the bottom of each table, then the ends of long
sentences, then sections; the last line says so. Colour marks only what takes much of the time.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field

from stepscope import units
from stepscope.presenters import stepbar
from stepscope.presenters.bars import area, spark
from stepscope.presenters.cells import cells, shorten_cells
from stepscope.presenters.grid import STYLES, Paint, lay_out, painter
from stepscope.presenters.outline import diff_lines, tree_lines
from stepscope.presenters.plain import plain
from stepscope.report import Chart, Finding, Note, Report, Section, Table

_ROWS_AT_FIRST, _ROWS_AT_MOST = 3, 5
_WIDEST = 240  # of a table, for the names in it
_READABLE = 120  # of a sentence
_LONGEST = 4000  # characters of a sentence; a name in it may be absurdly long


@dataclass(frozen=True)
class _Measure:
    """How much is said: findings and notes at most, sentences of an answer, lines of a sentence, and
    tables with bars that must show their first rows."""

    findings: int
    notes: int
    sentences: int | None
    lines: int | None
    tables: int


_EVERYTHING = _Measure(10**6, 10**6, None, None, 0)
_MEASURES = (_Measure(3, 2, 2, 2, 3), _Measure(3, 1, 1, 2, 2), _Measure(2, 1, 1, 1, 1))
"""From a large screen to a small one."""
_LATER = frozenset(
    {"runs_and_hosts", "ops", "waits", "pipeline_stages", "concurrency", "more_pipelines", "more_allocators"}
)
"""Sections that a first screen leaves out: what they say of the whole, the headline and the findings say."""
_SOURCES = "completeness"


@dataclass
class _Block:
    """A name in the gutter and the lines beside it: sentences that stay and rows that may go."""

    name: str
    style: str
    sentences: list[str]
    heading: str = ""
    rows: list[str] = field(default_factory=list)
    total: int = 0  # rows of the answer, those that were never handed over as well
    shown: int = 0
    cut: bool = False  # a sentence ends in …
    drawn: bool = False  # there is a curve among the sentences, or bars in the rows

    def lines(self) -> list[str]:
        return self.sentences + ([self.heading, *self.rows[: self.shown]] if self.shown else [])


def render(
    report: Report,
    *,
    width: int = 100,
    height: int | None = None,
    color: bool = False,
    everything: bool = False,
) -> str:
    """The report as text. height: lines of the screen, one of which the prompt will take; None or
    `everything` lifts the limit."""
    width = max(40, min(width, _WIDEST))
    paint = painter(color)
    gutter = min(14, max([8, *(cells(plain(s.title)) for s in report.sections)]) + 2)
    room = width - gutter

    head = [paint("title", plain(report.title, width))]
    head += [*(line for sentence in report.headline for line in _wrap(sentence, min(width, _READABLE))), ""]
    # Commands are there to be copied, so they are never cut; the terminal wraps them.
    commands = [paint("command", plain(command)) for command in report.next_commands]
    tail = _beside(_Block("Next", "name", commands), gutter, paint) if commands else []
    wrapped = sum((gutter + cells(plain(c)) - 1) // width for c in report.next_commands)
    wrapped += 0 if room >= 80 else 1  # the line that says what is left out
    limit = None if everything or height is None else height - len(head) - len(tail) - wrapped - 3

    blocks = _fitting(report, room, paint, limit, everything)
    airy = _share_out(blocks, limit, everything)
    blocks = [block for block in blocks if block.lines()]

    lines = head
    for i, block in enumerate(blocks):
        lines += [""] if airy and i else []
        lines += _beside(block, gutter, paint)
    left_out = "" if everything else _left_out(report, blocks)
    lines += ["", *tail] if tail or left_out else []
    lines += [" " * gutter + paint("dim", line) for line in _wrap(left_out, room)]
    return "\n".join(lines) + "\n"


def _fitting(report: Report, room: int, paint: Paint, limit: int | None, everything: bool) -> list[_Block]:
    """The blocks in the fullest measure that fits."""
    if everything:
        return _blocks(report, room, paint, _EVERYTHING)
    blocks: list[_Block] = []
    for measure in _MEASURES:
        blocks = _blocks(report, room, paint, measure)
        if limit is None or _least(blocks, measure) <= limit:
            return blocks
    # Sections that draw nothing go first, the last of them first; what is missing is always said.
    droppable = [block for block in blocks if block.style == "name" and not block.drawn][:-1]
    while droppable and limit is not None and _least(blocks, _MEASURES[-1]) > limit:
        blocks.remove(droppable.pop())
    return blocks


def _blocks(report: Report, room: int, paint: Paint, measure: _Measure) -> list[_Block]:
    everything = measure is _EVERYTHING
    notes = [note for note in report.notes if everything or note.effect not in ("info", "recorder")]
    sections = list(report.sections) if everything else _first(report.sections)
    # The picture of the step belongs to the headline; the findings explain it.
    blocks = [_section(one, room, paint, measure) for one in sections if one.name == stepbar.NAME]
    blocks += [_finding(one, room, paint, measure) for one in report.findings[: measure.findings]]
    for section in sections:
        for one in section.walk() if section.name != stepbar.NAME else ():
            block = _section(one, room, paint, measure)
            if section.name == _SOURCES and not notes:
                block.rows.clear()  # sources that lost nothing
            blocks.append(block)
            blocks += [_finding(finding, room, paint, measure) for finding in one.findings]
    if notes:
        evidence = _Block("Evidence", "medium", [])
        kinds: dict[tuple[str, str], list[Note]] = {}
        for note in notes:
            kinds.setdefault((note.effect, note.slug), []).append(note)
        for alike in list(kinds.values())[: measure.notes]:
            _say(evidence, notes_as_one(alike), room, measure)
        blocks.append(evidence)
    return blocks


def _first(sections: Sequence[Section]) -> list[Section]:
    """Those of a first screen: what one draws, another need not draw again."""
    names = {section.name for section in sections}
    later = _LATER if "op_types" in names else _LATER - {"ops"}
    found = [section for section in sections if section.name not in later]
    return found if len(found) > 1 else list(sections)


def _least(blocks: Sequence[_Block], measure: _Measure) -> int:
    """Lines that the blocks need when the first tables with bars show their first rows."""
    tables = [min(len(b.rows), _ROWS_AT_FIRST) + 1 for b in blocks if b.rows and b.drawn]
    return sum(len(block.sentences) for block in blocks) + sum(tables[: measure.tables])


def _share_out(blocks: Sequence[_Block], limit: int | None, everything: bool) -> bool:
    """Gives tables their rows: the first a few, then each one more in turn as long as lines are left.
    True when lines are left for blanks between the blocks."""
    most = max((len(b.rows) for b in blocks), default=0) if everything else _ROWS_AT_MOST
    tables = sorted((block for block in blocks if block.rows), key=lambda block: not block.drawn)
    blanks = len(blocks) - 1
    least = sum(len(b.sentences) + (_ROWS_AT_FIRST + 1 if b.rows else 0) for b in blocks)
    airy = limit is None or least <= limit - blanks
    if limit is not None and airy:
        limit -= blanks  # blanks are worth more than the last rows
    rounds = [(_ROWS_AT_FIRST, tables[:1]), *((rows, tables) for rows in range(1, most + 1))]
    for rows, turn in rounds:
        for block in turn:
            before = block.shown
            block.shown = max(before, min(rows, len(block.rows)))
            if limit is not None and sum(len(b.lines()) for b in blocks) > limit:
                block.shown = before
    return airy


def _beside(block: _Block, gutter: int, paint: Paint) -> list[str]:
    name = shorten_cells(plain(block.name), gutter - 2)
    first = paint(block.style, name) + " " * (gutter - cells(name))
    return [(first if i == 0 else " " * gutter) + line for i, line in enumerate(block.lines())]


_GLUED = re.compile(r"(?<=\d) (?=(?:%|[pnµm]?s|B|[KMGT]iB)\b|%)")


def _wrap(text: str, width: int, most: int | None = None) -> list[str]:
    # A number stays with its unit: textwrap does not break at a no-break space.
    glued = _GLUED.sub("\N{NO-BREAK SPACE}", plain(text, _LONGEST))
    lines = textwrap.wrap(glued, width, max_lines=most, placeholder=" …", break_on_hyphens=False)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]


def _say(block: _Block, text: str, room: int, measure: _Measure, mark: str = "") -> None:
    """Adds a sentence to a block, in as many lines as there may be; the first begins with the mark."""
    lines = _wrap(text, min(room, _READABLE) - len(mark), measure.lines)
    block.cut |= measure.lines is not None and len(lines) == measure.lines and lines[-1].endswith(" …")
    block.sentences += [(mark if i == 0 else " " * len(mark)) + line for i, line in enumerate(lines)]


def _finding(finding: Finding, room: int, paint: Paint, measure: _Measure) -> _Block:
    block = _Block(finding.severity, finding.severity, [])
    _say(block, f"{finding.title.rstrip('.')}. {finding.impact}", room, measure)
    _say(block, finding.action, room, measure, "→ ")
    if finding.weakened_by and measure.lines is None:
        weak = _wrap(f"weakened by: {', '.join(finding.weakened_by)}", room)
        block.sentences += [paint("dim", line) for line in weak]
    if measure is _EVERYTHING and finding.evidence.rows:
        block.heading, *block.rows = lay_out(finding.evidence, None, room, paint)
        block.total = finding.evidence.total
    return block


def _section(section: Section, room: int, paint: Paint, measure: _Measure) -> _Block:
    block = _Block(section.title, "name", [])
    if section.subject:
        block.sentences.append(paint("dim", shorten_cells(plain(section.subject, 400), room)))
    for sentence in section.answer[: measure.sentences]:
        _say(block, sentence, room, measure)
    if section.tree is not None or section.diff is not None:
        drawn = [] if section.tree is None else tree_lines(section.tree, room, paint)
        drawn += [] if section.diff is None else diff_lines(section.diff, room, paint)
        block.heading, *block.rows = drawn
        block.total, block.drawn = len(block.rows), section.tree is not None
        return block
    table, chart = section.table, section.chart
    if table is None or not table.rows:
        return block
    if section.name == stepbar.NAME and (bar := stepbar.step_lines(section, min(room, _READABLE), paint)):
        block.sentences, block.drawn, chart = [*bar, *block.sentences], True, None
        if measure is not _EVERYTHING:
            return block
    is_curve = chart is not None and chart.kind in ("line", "strip", "area")
    if chart is not None and is_curve:
        curve = curve_lines(table, chart, room, paint)
        block.sentences += curve
        block.drawn = bool(curve)
    # A curve shows all its rows already, and a single row says no more than the sentence above it.
    if measure is _EVERYTHING or not (is_curve or (table.total == 1 and section.answer)):
        block.heading, *block.rows = lay_out(table, chart, room, paint)
        block.total = table.total
        block.drawn |= chart is not None
    return block


def curve_lines(table: Table, chart: Chart, room: int, paint: Paint) -> list[str]:
    """A curve over the rows of a table, with what it reaches."""
    if chart.kind == "area":
        return [paint("mild", line) for line in area(table, chart, room)]
    return [f"{paint('mild', curve)} {paint('dim', label)}" for curve, label in spark(table, chart, room)]


def notes_as_one(notes: Sequence[Note]) -> str:
    """Notes of one kind as one sentence."""
    first = notes[0]
    more = f" and {units.count(len(notes) - 1, 'more source')}" if len(notes) > 1 else ""
    weakens = f" Weakens: {'; '.join(first.weakens)}." if first.weakens else ""
    return f"{first.effect}: {first.detail.rstrip('.')} ({first.slug}, {first.path}{more}).{weakens}"


def _left_out(report: Report, blocks: Sequence[_Block]) -> str:
    names = [block.name for block in blocks]
    sections = sum(section.title not in names for section in report.sections)
    findings = len(report.findings) - sum(name in STYLES for name in names)
    rows = sum(block.total - block.shown for block in blocks)
    counts = ((findings, "finding"), (sections, "section"), (rows, "row"))
    parts = [units.count(number, noun) for number, noun in counts if number]
    parts += ["what follows an …"] if any(block.cut for block in blocks) else []
    return f"left out: {', '.join(parts)}; --all shows them" if parts else ""
