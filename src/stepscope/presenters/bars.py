"""Bars and curves made of characters. Lengths are drawing, not results."""

import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import Any

from stepscope import units
from stepscope.presenters.plain import shorten
from stepscope.report import Chart, Split, Table
from stepscope.step_labels import LOOKS

_EIGHTHS = " ▏▎▍▌▋▊▉"
_LEVELS = "▁▂▃▄▅▆▇█"
_RISING = " " + _LEVELS
_ABOVE = "▲"
_STACK = (("low", "█"), ("medium", "▓"), ("mild", "▒"))
_IDLE = ("dim", "░")
"""Style and character of the parts of a stacked bar; idle time looks like what it is."""
MARKS: dict[str, str] = {label: look.mark for label, look in LOOKS.items()}
"""Labels, each with the character of its part of a bar."""
_FAR_OUT = 4
"""A value this many times the median is far out: it would press all others flat."""


def bars(table: Table, chart: Chart, width: int) -> list[list[tuple[str, str]]]:
    """For each row, the parts of its bar as (style, characters); an empty style is the row's own.
    All bars share one scale, which the largest fills."""
    at = [_index(table, name) for name in chart.y]
    sizes = [[size(row[i]) for i in at] for row in table.rows]
    if chart.kind == "bar":
        sizes = [row[:1] for row in sizes]
    largest = max((sum(row) for row in sizes), default=0.0) or 1.0
    if chart.kind == "bar":
        return [[("", _bar(row[0] / largest * width))] for row in sizes]
    looks = [_look(name, i) for i, name in enumerate(chart.y)]
    return [_stack([size / largest * width for size in row], looks) for row in sizes]


def _look(name: str, at: int) -> tuple[str, str]:
    """Style and character of the part of a stacked bar that a column makes."""
    if name == "idle_ps":
        return _IDLE
    label = name.removesuffix("_ps")
    return (label, MARKS[label]) if label in MARKS else _STACK[min(at, len(_STACK) - 1)]


def split(split_: Split, width: int) -> list[tuple[str, str]]:
    """The bar of a mean step as (style, characters); it fills the width."""
    lengths = [share.share * width for share in split_.shares]
    return _stack(lengths, [(share.label, MARKS.get(share.label, "?")) for share in split_.shares])


def _bar(length: float) -> str:
    eighths = round(length * 8)
    whole, rest = divmod(eighths, 8)
    return "█" * whole + (_EIGHTHS[rest] if rest else "") or ("▏" if length > 0 else "")


def _stack(lengths: Sequence[float], looks: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    parts = []
    drawn, end = 0, 0.0
    for length, (style, character) in zip(lengths, looks, strict=True):
        end += length
        parts.append((style, character * (round(end) - drawn)))
        drawn = round(end)
    return parts


def spark(table: Table, chart: Chart, width: int) -> list[tuple[str, str]]:
    """A curve of one line for each y of the chart, with a label that tells its range. Where there are
    more points than characters, a character shows the largest of its points; unknown ones are blank. Without
    any value there is no curve."""
    drawn = []
    for name in chart.y:
        i = _index(table, name)
        unit = table.columns[i].unit
        known = [row[i] is not None for row in table.rows]
        values = [size(row[i]) for row in table.rows]
        if len(values) < 3 or not any(values):
            continue  # a curve of nothing shows nothing
        top, largest = ceiling(values), max(values)
        label = f"0 to {units.show(top, unit)}"
        if largest > top:
            label += f", {_ABOVE} up to {units.show(largest, unit)}"
        if len(chart.y) > 1:
            label = f"{table.columns[i].title}: {label}"
        label = shorten(label, width - 9)
        room = min(len(values), max(8, width - len(label) - 1))
        at = [k * len(values) // room for k in range(room)]
        ends = list(zip(at, [*at[1:], len(values)], strict=True))
        points = [max(values[a:b]) if any(known[a:b]) else None for a, b in ends]
        curve = "".join(_point(point, top) for point in points)
        drawn.append((curve, label))
    return drawn


def _point(value: float | None, top: float) -> str:
    """The character of a point of a curve; blank where it is unknown."""
    if value is None:
        return " "
    return _ABOVE if value > top else _LEVELS[round(value / (top or 1.0) * 7)]


def _index(table: Table, name: str) -> int:
    return next(i for i, column in enumerate(table.columns) if column.name == name)


def area(table: Table, chart: Chart, width: int, height: int = 4) -> list[str]:
    """A curve of several lines, filled below, its scale at the left and the ends of x under it; empty where
    there is nothing to draw."""
    x, y = _index(table, chart.x), _index(table, chart.y[0])
    values = [size(row[y]) for row in table.rows]
    top = max(values, default=0.0)
    if not top:
        return []
    scale = units.show(max(row[y] for row in table.rows), table.columns[y].unit)
    room = max(width - len(scale) - 1, 8)
    columns = [max(values[a:b]) for a, b in _stretches(len(values), room)]
    # Eighths of a line; what is not nothing is at least one.
    levels = [max(round(value / top * height * 8), 1 if value else 0) for value in columns]
    lines = []
    for line in range(height - 1, -1, -1):
        drawn = "".join(_RISING[min(max(level - line * 8, 0), 8)] for level in levels)
        left = scale if line == height - 1 else ("0" if line == 0 else "")
        lines.append(f"{left:>{len(scale)}} {drawn.rstrip()}".rstrip())
    ends = [units.show(table.rows[i][x], table.columns[x].unit) for i in (0, -1)]
    blank = " " * max(room - len(ends[0]) - len(ends[1]), 1)
    return [*lines, f"{'':{len(scale)}} {ends[0]}{blank}{ends[1]}"]


def _stretches(points: int, room: int) -> list[tuple[int, int]]:
    """`room` stretches of some points each; where there are fewer points, each is repeated."""
    at = [k * points // room for k in range(room + 1)]
    return [(a, max(b, a + 1)) for a, b in pairwise(at)]


def size(value: Any) -> float:
    """The length of what is drawn: what is unknown, not a number or negative has none."""
    is_length = isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0
    return float(value) if is_length and math.isfinite(value) else 0.0


def ceiling(values: Sequence[float]) -> float:
    """The top of the axis: the largest value, or, when a few are far out, the largest of the others.
    Those above are cut and say so."""
    present = sorted(v for v in values if v > 0)
    if not present:
        return 0.0
    bound = _FAR_OUT * median(present)
    near = [v for v in present if v <= bound]
    few = len(present) - len(near) <= max(1, len(present) // 10)
    return near[-1] if few and len(near) >= 3 else present[-1]
