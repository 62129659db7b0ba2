"""A table of the report on a screen: aligned, with bars, colour for what takes much of the time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from stepscope.presenters.bars import bars
from stepscope.presenters.cells import Grid, cells, shorten_cells
from stepscope.presenters.plain import plain
from stepscope.report import Chart, Table

Paint = Callable[[str, str], str]
"""Gives text a style."""

STYLES = {
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
    # Classes of work, in the colours of the page (web/src/style.css).
    "compute": "38;5;31",
    "input": "38;5;172",
    "python": "38;5;71",
    "copy": "38;5;97",
    "communication": "38;5;131",
    "wait": "38;5;179",
    "compile": "38;5;100",
    "dispatch": "38;5;103",
    "setup": "38;5;66",
    "idle": "38;5;250",
    "unknown": "38;5;246",
}
_SHARES = ((0.4, "hot"), (0.15, "warm"), (0.02, "mild"))
_BAR, _SHORTEST_BAR = 24, 10
_HEADING = 20
"""Cells of a heading without its unit."""


def painter(color: bool) -> Paint:
    """A function that wraps text in the escape codes of a style, or leaves it alone."""
    if not color:
        return lambda style, text: text
    return lambda style, text: f"\x1b[{STYLES[style]}m{text}\x1b[0m" if style in STYLES and text else text


def lay_out(table: Table, chart: Chart | None, room: int, paint: Paint) -> list[str]:
    """Heading and rows of a table, aligned, a bar behind the label; columns without room are left out."""
    scales = table.scales()
    texts = [[plain(scales[i].cell(v), 400) for i, v in enumerate(row)] for row in table.rows]
    headings = zip(table.columns, scales, strict=True)
    titles = [f"{shorten_cells(plain(c.title, 80), _HEADING)} {s.symbol}".strip() for c, s in headings]
    right = [c.unit not in ("text", "bool") for c in table.columns]
    natural = [max(cells(t), *(cells(row[i]) for row in texts)) for i, t in enumerate(titles)]

    is_bar = chart is not None and chart.kind in ("bar", "stacked_bar")
    label = next((i for i, c in enumerate(table.columns) if chart and c.name == chart.x), 0)
    widths = [min(w, max(16, room * 2 // 5)) if not right[i] else w for i, w in enumerate(natural)]
    shortest = _SHORTEST_BAR + 2 if is_bar else 0
    kept = _kept(table, chart, label, widths, room - shortest, natural[label])
    spare = room - sum(widths[i] + 2 for i in kept) - 2
    bar = min(_SHORTEST_BAR, spare) if is_bar and spare >= 6 else 0
    spare -= bar + 2 if bar else -2
    for i in kept:  # what is left goes to names that would be cut, then to the bar
        more = max(min(natural[i] - widths[i], spare), 0)
        widths[i], spare = widths[i] + more, spare - more
    bar += max(min(_BAR - bar, spare), 0) if bar else 0
    drawn = bars(table, chart, bar) if chart is not None and bar else [[] for _ in table.rows]

    hot = next((i for i, c in enumerate(table.columns) if c.unit == "ratio"), -1)

    # The bar is one more column, behind the label.
    grid = Grid(
        [w for i in kept for w in ([widths[i], bar] if bar and i == label else [widths[i]])],
        [r for i in kept for r in ([right[i], False] if bar and i == label else [right[i]])],
    )

    def line(row: Sequence[str], style: str, heat: str, parts: Sequence[tuple[str, str]]) -> str:
        shown: list[tuple[str, str | None]] = []
        for i in kept:
            shown.append((row[i], heat if heat and i == hot else style))
            if bar and i == label:
                shown.append(("".join(part for _, part in parts), None))

        def look(column: int, text: str) -> str:
            found = shown[column][1]
            if found is None:
                return "".join(paint(kind or heat, part) for kind, part in parts)
            return paint(found, text)

        return grid.row([text for text, _ in shown], look)

    lines = [line(titles, "dim", "", [])]
    for values, row, parts in zip(table.rows, texts, drawn, strict=True):
        heat = _heat(values[hot]) if chart is not None and chart.kind == "bar" and hot >= 0 else ""
        lines.append(line(row, "", heat, parts))
    return lines


def _kept(
    table: Table, chart: Chart | None, label: int, widths: Sequence[int], room: int, name: int
) -> list[int]:
    """The columns that find room, the label first. A text that is the same in every row tells nothing there;
    what the chart shows and the first share are kept before the rest, which give way to whole names, `name`
    wide."""

    def rank(i: int) -> int:
        column = table.columns[i]
        if i == label:
            return 0
        # Shares of devices and of hosts are shares of different times.
        drawn = chart is not None and (column.name in chart.y or column.name == "place")
        return 1 if drawn else 2 if column.unit == "ratio" else 3

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
        longer = max(name - widths[label], 0) if chart is not None and rank(i) == 3 else 0
        if not kept or sum(widths[k] + 2 for k in (*kept, i)) + longer <= room:
            kept.append(i)
    return [label, *(i for i in columns if i in kept and i != label)]


def _heat(share: object) -> str:
    """The style of a share of the time: what takes much of it stands out."""
    if not isinstance(share, (int, float)):
        return ""
    return next((style for least, style in _SHARES if share >= least), "cool")
