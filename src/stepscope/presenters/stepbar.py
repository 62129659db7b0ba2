"""Where a step goes, as one bar across the screen: the page's picture, in characters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from stepscope import units
from stepscope.presenters.cells import cells, shorten_cells
from stepscope.presenters.grid import Paint
from stepscope.presenters.plain import plain
from stepscope.report import Section

NAME = "step_parts"
"""The section that it draws."""
MEAN = "mean"
_SUFFIX = "_ps"
_MOST_BARS = 3
_LEAST = 0.005
"""Parts below this of a step are added up."""
_CHARACTERS = {"idle": "░", "unknown": "░", "wait": "▒", "dispatch": "▓", "copy": "▒", "compile": "▓"}
"""Neighbours differ without colour too; the others are full blocks, told apart by their order."""


class Part(NamedTuple):
    """What a class of work takes of a step."""

    name: str
    title: str
    ps: int


def step_lines(section: Section, room: int, paint: Paint) -> list[str]:
    """A bar and its legend for each host's mean step, those of the first hosts."""
    table, chart = section.table, section.chart
    if table is None or chart is None:
        return []
    names = [column.name for column in table.columns]
    titles = {column.name: column.title for column in table.columns}
    means = [dict(zip(names, row, strict=True)) for row in table.rows]
    means = [row for row in means if row.get(chart.x) == MEAN]
    lines: list[str] = []
    for row in means[:_MOST_BARS]:
        parts = [Part(name.removesuffix(_SUFFIX), titles[name], int(row.get(name) or 0)) for name in chart.y]
        parts = sorted((part for part in parts if part.ps), key=lambda part: -part.ps)
        if not parts:
            continue
        if len(means) > 1:
            host = plain(f"{row.get('run_id')} {row.get('host_id')}")
            lines.append(paint("dim", shorten_cells(host, room)))
        lines += [_bar(parts, room, paint), *_legend(parts, room, paint)]
    if len(means) > _MOST_BARS:
        lines.append(paint("dim", f"and {units.count(len(means) - _MOST_BARS, 'more host')}"))
    return lines


def _looks(parts: Sequence[Part]) -> list[str]:
    """The character of each part: no two neighbours have the same."""
    found: list[str] = []
    for part in parts:
        wanted = _CHARACTERS.get(part.name, "█")
        others = [one for one in "█▒▓░" if not found or one != found[-1]]
        found.append(wanted if wanted in others else others[0])
    return found


def _bar(parts: Sequence[Part], room: int, paint: Paint) -> str:
    whole = sum(part.ps for part in parts)
    drawn, end, line = 0, 0, ""
    for part, character in zip(parts, _looks(parts), strict=True):
        end += part.ps
        until = round(end * room / whole)
        line += paint(part.name, character * (until - drawn))
        drawn = until
    return line


def _legend(parts: Sequence[Part], room: int, paint: Paint) -> list[str]:
    whole = sum(part.ps for part in parts)
    words: list[tuple[str, str]] = []
    for part, character in zip(parts, _looks(parts), strict=True):
        if part.ps >= _LEAST * whole:
            text = f"{part.title.lower()} {units.show(part.ps, 'ps')}"
            words.append((f"{character} {text}", f"{paint(part.name, character)} {text}"))
    few = [part for part in parts if part.ps < _LEAST * whole]
    if few:
        text = f"{', '.join(part.title.lower() for part in few)} <0.5 %"
        words.append((text, paint("dim", text)))
    lines, used = [""], 0
    for text, shown in words:
        wide = cells(text)
        if used and used + 3 + wide > room:
            lines.append("")
            used = 0
        lines[-1] += ("   " if used else "") + shown
        used += (3 if used else 0) + wide
    return lines
