"""Charts of the HTML report as SVG, without a library: bars by name, and curves over steps.

Bars are one small SVG a row with widths in percent, and curves are drawn in a stretched box, so that a
chart fits any width while its text stays as large as the page's. Each mark has a <title>: its value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from itertools import pairwise
from typing import Any

from stepscope import units
from stepscope.presenters.axis import ceiling, size, ticks
from stepscope.presenters.plain import plain
from stepscope.report import Chart, Table

_BARS = 25
"""Rows of a bar chart; the table below it has them all."""
_POINTS = 1500
"""Points of a curve; where there are more, the largest of neighbours stands for them."""
_NAME = 32
"""Characters of a name next to its bar; names of devices and ops differ at both ends."""
_HEIGHT = 160
_COLORS = 6  # classes c0 … c5 of page.css


def draw(table: Table, chart: Chart) -> str:
    """The chart as HTML; empty when there is nothing to draw."""
    at = [_index(table, name) for name in chart.y]
    x = _index(table, chart.x)
    at = [i for i in at if any(size(row[i]) for row in table.rows)]  # a series of nothing shows nothing
    if not at:
        return ""
    chart = replace(chart, y=tuple(table.columns[i].name for i in at))
    bars = chart.kind in ("bar", "stacked_bar")
    body = _bars(table, chart, x, at) if bars else _curves(table, chart, x, at)
    legend = _legend(table, chart, at) if len(at) > 1 and chart.kind != "bar" else ""
    caption = f"<figcaption>{_text(chart.title)}</figcaption>"
    return f'<figure class="chart">{caption}{legend}{body}</figure>\n'


def _bars(table: Table, chart: Chart, x: int, at: Sequence[int]) -> str:
    shown = table.rows[:_BARS]
    at = at[:1] if chart.kind == "bar" else at
    largest = max(sum(size(row[i]) for i in at) for row in shown) or 1.0
    scales = units.scales([c.unit for c in table.columns], shown)
    lines = []
    for row in shown:
        name = _label(row[x])
        label = _text(name)
        values = "; ".join(f"{table.columns[i].title} {scales[i].text(row[i])}" for i in at)
        title = f"<title>{label}: {escape(values)}</title>"
        marks, left = [], 0.0
        for number, i in enumerate(at):
            width = size(row[i]) / largest * 100
            color = _color(chart.y[number], number)
            marks.append(f'<rect class="{color}" x="{left:.3f}%" width="{width:.3f}%" height="14"/>')
            left += width
        lines.append(
            f'<div class="row"><span class="label" title="{label}">{_text(name, _NAME)}</span>'
            f'<svg class="track" height="14" role="img">{title}{"".join(marks)}</svg>'
            f'<span class="value">{escape(scales[at[0]].text(row[at[0]]))}</span></div>'
        )
    more = table.total - len(shown)
    caption = (
        f'<p class="quiet">{units.count(more, "more row")} in the table or left out</p>' if more > 0 else ""
    )
    return f'<div class="bars">{"".join(lines)}</div>{caption}'


def _curves(table: Table, chart: Chart, x: int, at: Sequence[int]) -> str:
    unit = table.columns[at[0]].unit
    rows = table.rows
    values = [[size(row[i]) for row in rows] for i in at]
    top = max(ceiling(line) for line in values) or 1.0
    marks = ticks(top, unit)
    room = max(top, marks.places[-1]) * 1.04
    grid = "".join(
        f'<line class="grid" x1="0" x2="100%" y1="{_y(p, room):.1f}" y2="{_y(p, room):.1f}"/>'
        for p in marks.places
    )
    labels = "".join(
        f'<text x="100%" y="{_y(p, room):.1f}" dy="-3">{escape(label)}</text>'
        for p, label in zip(marks.places, marks.labels, strict=True)
    )
    draw_series = {"strip": _strip, "area": _area}.get(chart.kind, _line)
    series = "".join(
        draw_series(table, x, i, line, room, number)
        for number, (i, line) in enumerate(zip(at, values, strict=True))
    )
    cut = [(v, row[x]) for line in values for v, row in zip(line, rows, strict=True) if v > room]
    note = ""
    if cut:
        worst, where = max(cut, key=lambda pair: pair[0])
        name = _text(f"{table.columns[x].title} {where}")
        note = (
            f'<p class="quiet">{units.count(len(cut), "mark")} higher than the chart, '
            f"up to {escape(units.show(int(worst), unit))} ({name})</p>"
        )
    kind = table.columns[x].unit
    ends = (units.show(rows[0][x], kind), table.columns[x].title, units.show(rows[-1][x], kind))
    below = "".join(f"<span>{_text(end)}</span>" for end in ends)
    title = f"<title>{_text(chart.title)}</title>"
    return (
        f'<div class="plot"><svg class="marks" height="{_HEIGHT}" aria-hidden="true">{labels}</svg>'
        f'<svg class="area" height="{_HEIGHT}" role="img">{title}{grid}{series}</svg>'
        f'<div class="ends">{below}</div></div>{note}'
    )


def _strip(table: Table, x: int, i: int, values: Sequence[float], room: float, number: int) -> str:
    """A thin bar a point."""
    pieces = _pieces(len(values))
    slot = 100 / len(pieces)
    drawn = []
    for place, (begin, end) in enumerate(pieces):
        value = max(values[begin:end])
        row = begin + values[begin:end].index(value)
        y = _y(min(value, room), room)
        look = "cut" if value > room else f"c{number % _COLORS}"
        drawn.append(
            f'<rect class="{look}" x="{place * slot:.3f}%" width="{slot * 0.85:.3f}%" y="{y:.1f}" '
            f'height="{_HEIGHT - y:.1f}">{_title(table, x, i, row)}</rect>'
        )
    return "".join(drawn)


def _line(table: Table, x: int, i: int, values: Sequence[float], room: float, number: int) -> str:
    """A line through the points, broken where x starts anew: there another host or source begins."""
    pieces = _pieces(len(values))
    slot = 100 / max(1, len(pieces))
    parts: list[list[str]] = [[]]
    dots = []
    for place, (begin, end) in enumerate(pieces):
        value = max(values[begin:end])
        row = begin + values[begin:end].index(value)
        if begin and _goes_back(table.rows[begin - 1][x], table.rows[begin][x]):
            parts.append([])
        at, y = (place + 0.5) * slot, _y(min(value, room), room)
        parts[-1].append(f"{at:.3f},{y:.1f}")
        if len(pieces) <= 300:
            look = "cut" if value > room else f"c{number % _COLORS}"
            title = _title(table, x, i, row)
            dots.append(f'<circle class="{look}" cx="{at:.3f}%" cy="{y:.1f}" r="3">{title}</circle>')
    lines = "".join(
        f'<polyline class="s{number % _COLORS}" points="{" ".join(part)}"/>' for part in parts if part
    )
    stretched = f'viewBox="0 0 100 {_HEIGHT}" width="100%" height="{_HEIGHT}" preserveAspectRatio="none"'
    return f"<svg {stretched}>{lines}</svg>" + "".join(dots)


def _area(table: Table, x: int, i: int, values: Sequence[float], room: float, number: int) -> str:
    """Steps filled down to the axis."""
    pieces = _pieces(len(values))
    slot = 100 / max(1, len(pieces))
    corners = [f"0,{_HEIGHT}"]
    for place, (begin, end) in enumerate(pieces):
        y = _y(min(max(values[begin:end]), room), room)
        corners += [f"{place * slot:.3f},{y:.1f}", f"{(place + 1) * slot:.3f},{y:.1f}"]
    corners.append(f"100,{_HEIGHT}")
    look = number % _COLORS
    title = f"<title>{_text(table.columns[i].title)}</title>"
    stretched = f'viewBox="0 0 100 {_HEIGHT}" width="100%" height="{_HEIGHT}" preserveAspectRatio="none"'
    points = " ".join(corners)
    return f'<svg {stretched}><polygon class="c{look} fill" points="{points}">{title}</polygon></svg>'


def _pieces(points: int) -> list[tuple[int, int]]:
    number = min(points, _POINTS)
    edges = [k * points // number for k in range(number + 1)]
    return list(pairwise(edges))


def _goes_back(before: Any, after: Any) -> bool:
    numbers = isinstance(before, (int, float)) and isinstance(after, (int, float))
    return bool(numbers and after <= before)


def _title(table: Table, x: int, i: int, row: int) -> str:
    name, value = table.columns[x], table.columns[i]
    shown = units.show(table.rows[row][i], value.unit)
    return f"<title>{_text(f'{name.title} {_label(table.rows[row][x])}: {value.title} {shown}', 200)}</title>"


def _legend(table: Table, chart: Chart, at: Sequence[int]) -> str:
    entries = ""
    for number, (name, i) in enumerate(zip(chart.y, at, strict=True)):
        mark = f'<rect class="{_color(name, number)}" width="10" height="10"/>'
        title = _text(table.columns[i].title)
        entries += f'<span><svg width="10" height="10">{mark}</svg> {title}</span>'
    return f'<p class="legend">{entries}</p>'


def _color(name: str, number: int) -> str:
    """The class of a part: idle time is grey, whatever its place."""
    return "idle" if "idle" in name else f"c{number % _COLORS}"


def _y(value: float, room: float) -> float:
    return _HEIGHT * (1 - value / room)


def _label(value: Any) -> str:
    return units.NOTHING if value is None else str(value)


def _text(text: str, most: int = 120) -> str:
    return escape(plain(text, most))


def _index(table: Table, name: str) -> int:
    return next(i for i, column in enumerate(table.columns) if column.name == name)
