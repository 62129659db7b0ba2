"""The summary in a terminal: one screenful, a gutter with names, sentences and bars beside it.

What does not fit is left out from the bottom of each table and said on the last line. The gutter
keeps the eye on one edge, and colour marks only what takes much of the time.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from stepscope import units
from stepscope.presenters.bars import bars, spark
from stepscope.presenters.plain import plain
from stepscope.presenters.rows import cells, shorten_cells
from stepscope.report import Chart, Finding, Note, Report, Section, Table

Paint = Callable[[str, str], str]

_CODES = {
    "title": "1",
    "name": "1",
    "high": "1;31",
    "medium": "33",
    "low": "36",
    "info": "2",
    "dim": "2",
    "command": "36",
    "hot": "31",
    "warm": "33",
    "mild": "32",
    "cool": "2",
}
_SHARES = ((0.4, "hot"), (0.15, "warm"), (0.02, "mild"))
_ROWS_AT_FIRST, _ROWS_AT_MOST, _FINDINGS = 3, 12, 3
_LONGEST = 4000  # characters of a sentence; a name in it may be absurdly long


def painter(color: bool) -> Paint:
    """A function that wraps text in the escape codes of a style, or leaves it alone."""
    if not color:
        return lambda style, text: text
    return lambda style, text: f"\x1b[{_CODES[style]}m{text}\x1b[0m" if style in _CODES and text else text


@dataclass
class _Block:
    """A name in the gutter and the lines beside it: sentences that stand and rows that may go."""

    name: str
    style: str
    sentences: list[str]
    heading: str = ""
    rows: list[str] = field(default_factory=list)
    total: int = 0  # rows of the answer, those that were never handed over as well
    shown: int = 0

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
    `everything` is no limit."""
    width = max(40, min(width, 140))
    paint = painter(color)
    gutter = min(14, max([8, *(cells(plain(s.title)) for s in report.sections)]) + 2)
    room = width - gutter

    head = [
        paint("title", plain(report.title, width)),
        *(w for s in report.headline for w in _wrap(s, width)),
        "",
    ]
    # Commands are there to be copied, so they are never cut; the terminal wraps them.
    commands = [paint("command", plain(c)) for c in report.next_commands]
    tail = _beside(_Block("Next", "name", commands), gutter, paint) if commands else []
    wrapped = sum((gutter + cells(plain(c)) - 1) // width for c in report.next_commands)
    wrapped += 0 if room >= 60 else 1  # the line that says what is left out
    limit = None if everything or height is None else height - len(head) - len(tail) - wrapped - 3

    blocks = _blocks(report, room, paint, everything, brief=False)
    if limit is not None and _least(blocks) > limit:
        blocks = _blocks(report, room, paint, everything, brief=True)
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


def _blocks(report: Report, room: int, paint: Paint, everything: bool, brief: bool) -> list[_Block]:
    findings, notes = _chosen(report, everything, brief)
    blocks = [_finding(finding, room, paint, everything, brief) for finding in findings]
    blocks += [_section(section, room, paint, everything, brief) for section in report.sections]
    if notes:
        blocks.append(_Block("Evidence", "medium", [line for note in notes for line in _note(note, room)]))
    return blocks


def _chosen(report: Report, everything: bool, brief: bool) -> tuple[Sequence[Finding], Sequence[Note]]:
    """The findings and notes that a screen has room for: the gravest first, as the report orders them."""
    if everything:
        return report.findings, report.notes
    notes = [note for note in report.notes if note.effect not in ("info", "recorder")]
    if brief:
        return [f for f in report.findings if f.severity in ("high", "medium")][:2], notes[:1]
    return report.findings[:_FINDINGS], notes[:2]


def _least(blocks: Sequence[_Block]) -> int:
    """Lines that the blocks need when each table shows its first rows."""
    rows = [min(len(block.rows), _ROWS_AT_FIRST) for block in blocks]
    return sum(len(b.sentences) + (n + 1 if n else 0) for b, n in zip(blocks, rows, strict=True))


def _share_out(blocks: Sequence[_Block], limit: int | None, everything: bool) -> bool:
    """Gives tables their rows: the first a few, then each one more in turn as long as lines are left.
    True when lines are left for blanks between the blocks."""
    most = max((len(b.rows) for b in blocks), default=0) if everything else _ROWS_AT_MOST
    tables = [block for block in blocks if block.rows]
    rounds = [(_ROWS_AT_FIRST, tables[:1]), *((rows, tables) for rows in range(1, most + 1))]
    for rows, turn in rounds:
        for block in turn:
            before = block.shown
            block.shown = max(before, min(rows, len(block.rows)))
            if limit is not None and sum(len(b.lines()) for b in blocks) > limit:
                block.shown = before
    return limit is None or sum(len(b.lines()) for b in blocks) + len(blocks) <= limit


def _beside(block: _Block, gutter: int, paint: Paint) -> list[str]:
    name = shorten_cells(plain(block.name), gutter - 2)
    first = paint(block.style, name) + " " * (gutter - cells(name))
    return [(first if i == 0 else " " * gutter) + line for i, line in enumerate(block.lines())]


_GLUED = re.compile(r"(?<=\d) (?=(?:%|[pnµm]?s|B|[KMGT]iB)\b|%)")


def _wrap(text: str, width: int) -> list[str]:
    # A number stays with its unit: textwrap does not break at a no-break space.
    glued = _GLUED.sub("\N{NO-BREAK SPACE}", plain(text, _LONGEST))
    lines = textwrap.wrap(glued, width, break_on_hyphens=False)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]


def _finding(finding: Finding, room: int, paint: Paint, everything: bool, brief: bool) -> _Block:
    lines = _wrap(f"{finding.title.rstrip('.')}. {finding.impact}", room)
    lines += [f"{' ' if i else '→'} {line}" for i, line in enumerate(_wrap(finding.action, room - 2))]
    if finding.weakened_by and not brief:
        lines += [
            paint("dim", line) for line in _wrap(f"weakened by: {', '.join(finding.weakened_by)}", room)
        ]
    block = _Block(finding.severity, finding.severity, lines)
    if everything and finding.evidence.rows:
        block.heading, *block.rows = _rows(finding.evidence, None, room, paint)
        block.total = finding.evidence.total
    return block


def _section(section: Section, room: int, paint: Paint, everything: bool, brief: bool) -> _Block:
    answer = section.answer[:1] if brief else section.answer
    block = _Block(section.title, "name", [line for sentence in answer for line in _wrap(sentence, room)])
    table, chart = section.table, section.chart
    if table is None or not table.rows:
        return block
    is_curve = chart is not None and chart.kind in ("line", "strip")
    if chart is not None and is_curve:
        drawn = spark(table, chart, room)
        block.sentences += [f"{paint('mild', curve)} {paint('dim', label)}" for curve, label in drawn]
    # A curve shows all its rows already, and a single row says no more than the sentence above it.
    if everything or not (is_curve or (table.total == 1 and section.answer)):
        block.heading, *block.rows = _rows(table, chart, room, paint)
        block.total = table.total
    return block


def _note(note: Note, room: int) -> list[str]:
    weakens = f" Weakens: {', '.join(note.weakens)}." if note.weakens else ""
    return _wrap(f"{note.effect}: {note.detail.rstrip('.')} ({note.slug}, {note.path}).{weakens}", room)


def _rows(table: Table, chart: Chart | None, room: int, paint: Paint) -> list[str]:
    """Heading and rows of a table, aligned, a bar behind the label; columns without room are left out."""
    scales = units.scales([c.unit for c in table.columns], table.rows)
    texts = [[plain(scales[i].cell(v), 400) for i, v in enumerate(row)] for row in table.rows]
    titles = [f"{c.title} {s.symbol}".strip() for c, s in zip(table.columns, scales, strict=True)]
    right = [c.unit not in ("text", "bool") for c in table.columns]
    widths = [max(cells(t), *(cells(row[i]) for row in texts)) for i, t in enumerate(titles)]

    is_bar = chart is not None and chart.kind in ("bar", "stacked_bar")
    label = next((i for i, c in enumerate(table.columns) if chart and c.name == chart.x), 0)
    widths = [min(w, max(16, room * 2 // 5)) if not right[i] else w for i, w in enumerate(widths)]
    kept = _kept(table, chart, label, widths, room - (10 if is_bar else 0))
    spare = room - sum(widths[i] + 2 for i in kept) - 2
    bar = min(24, spare) if is_bar and spare >= 6 else 0
    drawn = bars(table, chart, bar) if chart is not None and bar else [[] for _ in table.rows]

    hot = next((i for i, c in enumerate(table.columns) if c.unit == "ratio"), -1)

    def line(row: Sequence[str], style: str, heat: str, parts: Sequence[tuple[str, str]]) -> str:
        done = []
        for i in kept:
            text = shorten_cells(row[i], widths[i])
            blank = " " * (widths[i] - cells(text))
            colored = paint(heat if heat and i == hot else style, text)
            done.append(blank + colored if right[i] else colored + blank)
            if bar and i == label:
                length = sum(len(part) for _, part in parts)
                done.append("".join(paint(kind or heat, part) for kind, part in parts) + " " * (bar - length))
        return "  ".join(done).rstrip()

    lines = [line(titles, "dim", "", [])]
    for values, row, parts in zip(table.rows, texts, drawn, strict=True):
        heat = _heat(values[hot]) if chart is not None and chart.kind == "bar" and hot >= 0 else ""
        lines.append(line(row, "", heat, parts))
    return lines


def _kept(table: Table, chart: Chart | None, label: int, widths: Sequence[int], room: int) -> list[int]:
    """The columns that find room, the label first. A text that is the same in every row tells nothing there;
    what the chart shows and the first share are kept before the rest."""

    def rank(i: int) -> int:
        column = table.columns[i]
        return (
            0 if i == label else 1 if chart and column.name in chart.y else 2 if column.unit == "ratio" else 3
        )

    columns = range(len(table.columns))
    tells = [
        i
        for i in columns
        if i == label
        or table.columns[i].unit not in ("text", "bool")
        or len({row[i] for row in table.rows}) > 1
    ]
    kept: list[int] = []
    for i in sorted(tells, key=rank):
        if not kept or sum(widths[k] + 2 for k in (*kept, i)) <= room:
            kept.append(i)
    return [label, *(i for i in columns if i in kept and i != label)]


def _heat(share: object) -> str:
    """The style of a share of the time: what takes much of it stands out."""
    if not isinstance(share, (int, float)):
        return ""
    return next((style for least, style in _SHARES if share >= least), "cool")


def _left_out(report: Report, blocks: Sequence[_Block]) -> str:
    names = [block.name for block in blocks]
    sections = sum(section.title not in names for section in report.sections)
    findings = len(report.findings) - sum(name in _CODES for name in names)
    rows = sum(block.total - block.shown for block in blocks)
    counts = ((findings, "finding"), (sections, "section"), (rows, "row"))
    parts = [units.count(number, noun) for number, noun in counts if number]
    return f"left out: {', '.join(parts)}; --all shows them" if parts else ""
