"""Blocks of a screen: a name in the gutter, sentences and rows beside it."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from stepscope import units
from stepscope.presenters import cells as columns
from stepscope.presenters.bars import area, spark
from stepscope.presenters.cells import cells, shorten_cells
from stepscope.presenters.grid import Paint
from stepscope.presenters.plain import plain
from stepscope.report import Chart, Note, Table

_LONGEST = 4000  # characters of a sentence; a name in it may be absurdly long
_GLUED = re.compile(r"(?<=\d) (?=(?:%|[pnµm]?s|B|[KMGT]iB)\b|%)")
_BETWEEN = re.compile(r"(?<=[.!?]) (?=[^a-z])")
"""Where a sentence ends: names and abbreviations go on in lower case."""


@dataclass
class GutterBlock:
    """A name and the lines beside it."""

    name: str
    style: str = "name"
    lines: list[str] = field(default_factory=list)
    left: int = 0
    """Rows of the answer that are not among the lines."""
    shown: int = 0
    """Sentences of the answer that are among the lines."""
    unshown: int = 0
    """Sentences that are not."""
    close: bool = False
    """Whether it follows the block before it without a blank."""

    def say(self, text: str, room: int, mark: str = "") -> None:
        """Adds a text in as many lines as it takes; the first begins with the mark."""
        lines = wrap(text, room - len(mark))
        self.lines += [(mark if i == 0 else " " * len(mark)) + line for i, line in enumerate(lines)]


def wrap(text: str, width: int) -> list[str]:
    """A text on lines of `width` columns; numbers keep their units."""
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in columns.wrap(_glued(text), width) if line]


def sentences(text: str) -> list[str]:
    """A text as its sentences, the names and numbers in it whole."""
    return [part for part in _BETWEEN.split(text.strip()) if part]


def _glued(text: str) -> str:
    return _GLUED.sub("\N{NO-BREAK SPACE}", plain(text, _LONGEST))


def named_lines(block: GutterBlock, gutter: int, paint: Paint) -> Iterator[str]:
    """The lines of a block, its name before the first one."""
    name = shorten_cells(plain(block.name), gutter - 2)
    first = paint(block.style, name) + " " * (gutter - cells(name))
    for i, line in enumerate(block.lines):
        yield (first if i == 0 else " " * gutter) + line


def stacked(blocks: Iterable[GutterBlock], gutter: int, paint: Paint, *, airy: bool) -> list[str]:
    """Blocks below each other. airy: with a blank before each that does not belong to the one above."""
    lines: list[str] = []
    for block in blocks:
        lines += [""] if airy and lines and not block.close else []
        lines += named_lines(block, gutter, paint)
    return lines


def curve_lines(table: Table, chart: Chart, room: int, paint: Paint) -> list[str]:
    """A curve over the rows of a table, with what it reaches."""
    if chart.kind == "area":
        return [paint("mild", line) for line in area(table, chart, room)]
    return [f"{paint('mild', curve)} {paint('dim', label)}" for curve, label in spark(table, chart, room)]


def notes_by_kind(notes: Sequence[Note]) -> list[str]:
    """A sentence for each kind of note."""
    kinds: dict[tuple[str, str], list[Note]] = {}
    for note in notes:
        kinds.setdefault((note.effect, note.slug), []).append(note)
    return [_joined(alike) for alike in kinds.values()]


def _joined(notes: Sequence[Note]) -> str:
    first = notes[0]
    more = f" and {units.count(len(notes) - 1, 'more source')}" if len(notes) > 1 else ""
    weakens = f" Weakens: {'; '.join(first.weakens)}." if first.weakens else ""
    return f"{first.effect}: {first.detail.rstrip('.')} ({first.slug}, {first.path}{more}).{weakens}"
