"""A table of the report on a screen: aligned, with bars, colour for what takes much of the time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from stepscope.kernel_names import distinct_names
from stepscope.presenters.bars import bars
from stepscope.presenters.cells import Grid, cells, shorten_cells
from stepscope.presenters.plain import plain
from stepscope.report import Chart, Table
from stepscope.step_labels import LOOKS

Paint = Callable[[str, str], str]
"""Gives text a style."""
_Cell = TypeVar("_Cell")

STYLES: dict[str, str] = {
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
    # What time goes to, in the colours of the page.
    **{label: look.terminal for label, look in LOOKS.items()},
}
_SHARES = ((0.4, "hot"), (0.15, "warm"), (0.02, "mild"))
_BAR, _SHORTEST_BAR = 24, 10
_HEADING = 20
"""Cells of a heading without its unit."""
_LONGEST_NAME = 4000
"""Characters of a name that are compared with other names."""


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
    natural = [max(cells(t), *(cells(row[i]) for row in texts)) for i, t in enumerate(titles)]
    columns = _Columns(table, chart, natural, room)
    _tell_apart(texts, table, columns)
    drawn = bars(table, chart, columns.bar) if chart is not None and columns.bar else [[] for _ in table.rows]
    hot = next((i for i, c in enumerate(table.columns) if c.unit == "ratio"), -1)
    lines = [columns.line(titles, paint, "dim")]
    for values, row, parts in zip(table.rows, texts, drawn, strict=True):
        heat = _heat(values[hot]) if chart is not None and chart.kind == "bar" and hot >= 0 else ""
        lines.append(columns.line(row, paint, "", heat, hot, parts))
    return lines


def _tell_apart(texts: list[list[str]], table: Table, columns: _Columns) -> None:
    """Cuts names of rows that would be cut to the same where they differ."""
    at, room = columns.label, columns.name_width
    if table.columns[at].unit != "text":
        return
    names = [plain(str(row[at])[:_LONGEST_NAME]) for row in table.rows]
    short_names = {name: shorten_cells(row[at], room) for name, row in zip(names, texts, strict=True)}
    for row, name in zip(texts, distinct_names(names, short_names.__getitem__, room), strict=True):
        row[at] = name


class _Columns:
    """The columns that are shown, with their widths; the bar is one more, behind the label."""

    def __init__(self, table: Table, chart: Chart | None, natural: Sequence[int], room: int) -> None:
        """natural: how wide each would be were nothing cut; room: cells of a whole row."""
        self.label = _label(table, chart)
        right = [c.unit not in ("text", "bool") for c in table.columns]
        is_bar = chart is not None and chart.kind in ("bar", "stacked_bar")
        widths = [min(w, max(16, room * 2 // 5)) if not right[i] else w for i, w in enumerate(natural)]
        shortest = _SHORTEST_BAR + 2 if is_bar else 0
        self.kept = _shown_columns(table, chart, self.label, widths, room - shortest, natural[self.label])
        spare = room - sum(widths[i] + 2 for i in self.kept) - 2
        bar = min(_SHORTEST_BAR, spare) if is_bar and spare >= 6 else 0
        spare -= bar + 2 if bar else -2
        spare = _widen(widths, natural, self.kept, spare)
        self.name_width = widths[self.label]
        self.bar = bar + max(min(_BAR - bar, spare), 0) if bar else 0
        self._grid = Grid(
            self._add_bar([widths[i] for i in self.kept], self.bar),
            self._add_bar([right[i] for i in self.kept], False),
        )

    def _add_bar(self, columns: list[_Cell], bar: _Cell) -> list[_Cell]:
        """What the columns have, and what the bar has behind the label."""
        if self.bar:
            columns.insert(self.kept.index(self.label) + 1, bar)
        return columns

    def line(
        self,
        row: Sequence[str],
        paint: Paint,
        style: str,
        heat: str = "",
        hot: int = -1,
        parts: Sequence[tuple[str, str]] = (),
    ) -> str:
        """A row in a style. heat: the style of its column `hot` and of its bar; parts: of the bar, each with
        a style of its own."""
        styles = self._add_bar([heat if heat and i == hot else style for i in self.kept], "bar")
        drawn = "".join(part for _, part in parts)

        def look(column: int, text: str) -> str:
            if styles[column] == "bar":
                return "".join(paint(kind or heat, part) for kind, part in parts)
            return paint(styles[column], text)

        return self._grid.row(self._add_bar([row[i] for i in self.kept], drawn), look)


def _label(table: Table, chart: Chart | None) -> int:
    """The column that labels the chart, else the first text that distinguishes rows, if no number comes
    before it."""
    names = [column.name for column in table.columns]
    if chart is not None and chart.x in names:
        return names.index(chart.x)
    first = next((i for i in range(len(names)) if _tells(table, i)), 0)
    return first if table.columns[first].unit == "text" else 0


def _tells(table: Table, i: int) -> bool:
    """Whether a column distinguishes rows. A text that is the same in every row does not, but a line needs
    its file."""
    column = table.columns[i]
    return (
        column.unit not in ("text", "bool")
        or column.name == "file"
        or len({row[i] for row in table.rows}) > 1
    )


def _widen(widths: list[int], natural: Sequence[int], kept: Sequence[int], spare: int) -> int:
    """Gives the remaining width to names that would be cut, and then to the bar."""
    for i in kept:
        more = max(min(natural[i] - widths[i], spare), 0)
        widths[i], spare = widths[i] + more, spare - more
    return spare


def _shown_columns(
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
    tells = [i for i in columns if i == label or _tells(table, i)]
    kept: list[int] = []
    for i in sorted(tells, key=rank):
        longer = max(name - widths[label], 0) if chart is not None and rank(i) == 3 else 0
        if not kept or sum(widths[k] + 2 for k in (*kept, i)) + longer <= room:
            kept.append(i)
    return [label, *(i for i in columns if i in kept and i != label)]


def _heat(share: object) -> str:
    """The style of a share of the time: large ones stand out."""
    if not isinstance(share, (int, float)):
        return ""
    return next((style for least, style in _SHARES if share >= least), "cool")
