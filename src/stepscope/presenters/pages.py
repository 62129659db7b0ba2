"""Pages of the reference in a terminal: the Markdown that reference.py writes, laid out and coloured."""

import re
import textwrap
from collections.abc import Callable, Iterator
from itertools import cycle

from stepscope.presenters.cells import Grid, cells, fit

_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
_EMPHASIS = re.compile(r"(?<!\w)\*{1,2}([^*]+)\*{1,2}(?!\w)")
_ITEM = re.compile(r"- `([^`]+)` (.*)")
_STYLES = {"title": "1", "name": "36", "dim": "2"}


def render(text: str, *, width: int = 100, color: bool = False) -> str:
    """The page for a terminal of that width."""
    width = max(40, min(width, 120))

    def paint(style: str, text: str) -> str:
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if color and text else text

    return "\n".join(_blocks(text.splitlines(), width, paint)).rstrip("\n") + "\n"


def _blocks(lines: list[str], width: int, paint: Callable[[str, str], str]) -> Iterator[str]:
    i = 0
    while i < len(lines):
        line = lines[i]
        if line.startswith("```"):
            end = next((k for k in range(i + 1, len(lines)) if lines[k].startswith("```")), len(lines))
            yield from ("    " + code for code in lines[i + 1 : end])
            i = end
        elif line.startswith("|"):
            end = next((k for k in range(i, len(lines)) if not lines[k].startswith("|")), len(lines))
            yield from _table(lines[i:end], width, paint)
            i = end - 1
        elif line.startswith("#"):
            yield paint("title", _inline(line.lstrip("# ")))
        elif item := _ITEM.fullmatch(_LINK.sub(r"\1", line)):
            name, about = item.groups()
            yield from _hanging(paint("name", name) + " " * max(1, 26 - len(name)), 28, _inline(about), width)
        elif line:
            indent = 2 if line.startswith("- ") else 0
            yield from textwrap.wrap(
                _inline(line), width, subsequent_indent=" " * indent, break_on_hyphens=False
            )
        else:
            yield ""
        i += 1


def _hanging(first: str, indent: int, text: str, width: int) -> Iterator[str]:
    wrapped = textwrap.wrap(text, max(20, width - indent), break_on_hyphens=False) or [""]
    yield f"  {first}{wrapped[0]}".rstrip()
    yield from (" " * indent + line for line in wrapped[1:])


def _table(lines: list[str], width: int, paint: Callable[[str, str], str]) -> Iterator[str]:
    rows = [[_inline(cell.strip()) for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    head, body = rows[0], rows[2:]
    widths = [max(cells(row[i]) for row in [head, *body]) for i in range(len(head))]
    widths = fit(widths, width - 2, [min(24, w) for w in widths[:-1]] + [30])
    grid = Grid(widths, [False] * len(widths))
    for row in (head, *body):

        def look(column: int, text: str, is_head: bool = row is head) -> str:
            return paint("dim", text) if is_head else paint("name", text) if column == 0 else text

        yield from ("  " + line for line in grid.lines(row, look))


def _inline(text: str) -> str:
    """Text without marks. In code a star is a star."""
    parts = _LINK.sub(r"\1", text).replace("\\|", "|").split("`")
    places = zip(parts, cycle((False, True)), strict=False)
    return "".join(part if is_code else _EMPHASIS.sub(r"\1", part) for part, is_code in places)
