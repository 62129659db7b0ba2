"""Rows of a query as table, JSON, CSV or Markdown, written while they arrive.

JSON and CSV are for machines: exact, escaped only as the format requires. table and md are for people:
hidden characters are shown as escapes, and long cells are cut at the edge of a terminal.
"""

import datetime
import json
import math
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from itertools import chain, islice
from typing import Any, NamedTuple, TextIO

from stepscope.presenters.cells import Grid, cells, fit, room_of_name
from stepscope.presenters.plain import plain

FORMAT = 1
"""Version of the JSON form: {"format": 1, "rows": [{column: value}, …]}."""

Row = Sequence[Any]
_MEASURED = 10_000
"""Rows that decide the widths of a table. Later ones may be wider, so that memory stays bounded."""
_NARROWEST = 8
"""Cells that a column of text keeps."""


def distinct(columns: Sequence[str]) -> list[str]:
    """Column names made distinct as DuckDB does it (a, a_1): JSON objects would lose the first."""
    seen: set[str] = set()
    names = []
    for column in columns:
        name, number = column, 0
        while name in seen:
            number += 1
            name = f"{column}_{number}"
        seen.add(name)
        names.append(name)
    return names


# --- JSON ----------------------------------------------------------------------------------------


def write(
    form: str, columns: Sequence[str], rows: Iterable[Row], out: TextIO, *, spreadsheet: bool = False
) -> int:
    """Writes csv, json, md or ndjson; the number of rows. spreadsheet: as of write_csv."""
    if form == "csv":
        return write_csv(columns, rows, out, spreadsheet=spreadsheet)
    writers = {"json": write_json, "md": write_markdown, "ndjson": write_ndjson}
    return writers[form](columns, rows, out)


def write_json(columns: Sequence[str], rows: Iterable[Row], out: TextIO) -> int:
    """Writes {"format": 1, "rows": […]}, a row a line. Integers are exact whatever their size; NaN and
    infinities are null; decimals are numbers, times are ISO 8601, blobs are hexadecimal."""
    keys = [json.dumps(name) + ": " for name in distinct(columns)]
    out.write(f'{{"format": {FORMAT}, "rows": [')
    number = 0
    for number, row in enumerate(rows, 1):
        cells = ", ".join(key + json_value(value) for key, value in zip(keys, row, strict=True))
        out.write(f"{',' if number > 1 else ''}\n{{{cells}}}")
    out.write("\n]}\n" if number else "]}\n")
    return number


def write_ndjson(columns: Sequence[str], rows: Iterable[Row], out: TextIO) -> int:
    """Writes an object a line, with values as write_json has them."""
    keys = [json.dumps(name) + ": " for name in distinct(columns)]
    number = 0
    for row in rows:
        number += 1
        cells = ", ".join(key + json_value(value) for key, value in zip(keys, row, strict=True))
        out.write(f"{{{cells}}}\n")
    return number


_encode = json.JSONEncoder().encode


def json_value(value: Any) -> str:
    """One value as JSON text."""
    if isinstance(value, str):
        return _encode(value).replace("\x7f", "\\u007f")  # the one control character that it leaves
    if type(value) is int:
        return str(value)
    if value is None or isinstance(value, (bool, int)):
        return _encode(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else "null"
    if isinstance(value, Decimal):
        return f"{value:f}" if value.is_finite() else "null"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_encode(_text(k))}: {json_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(json_value, value)) + "]"
    return _encode(_text(value))


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value).hex()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, (dict, list, tuple)):
        return json_value(value)
    return str(value)


# --- CSV -----------------------------------------------------------------------------------------


FORMULA = tuple("=+-@\t\r")
"""How text begins that a spreadsheet takes for a formula."""


def write_csv(columns: Sequence[str], rows: Iterable[Row], out: TextIO, *, spreadsheet: bool = False) -> int:
    """Writes RFC 4180: a heading, lines that end in CR LF, quotes doubled. NULL is an empty field and the
    empty string is \"\", so that the two stay apart. spreadsheet: text that would be a formula gets an
    apostrophe in front; numbers, negative ones too, stay numbers."""
    if spreadsheet:
        columns, rows = _unformulated(columns), map(_unformulated, rows)
    out.write(",".join(map(_csv_field, columns)) + "\r\n")
    number = 0
    for row in rows:
        number += 1
        # A line of nothing would be skipped by readers, so the NULL of a single column is quoted.
        out.write((",".join(map(_csv_field, row)) or '""') + "\r\n")
    return number


def _unformulated(row: Row) -> list[Any]:
    return ["'" + cell if isinstance(cell, str) and cell.startswith(FORMULA) else cell for cell in row]


def _csv_field(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    text = repr(value) if isinstance(value, float) else _text(value)
    needs_quotes = not text or text[0] == " " or text[-1] == " " or any(c in text for c in ',"\r\n')
    return '"' + text.replace('"', '""') + '"' if needs_quotes else text


# --- table and Markdown --------------------------------------------------------------------------


class ShownRows(NamedTuple):
    """What a table shows: its rows, and the columns that found no room."""

    rows: int
    columns_left_out: int


def write_table(
    columns: Sequence[str],
    rows: Iterable[Row],
    out: TextIO,
    *,
    width: int | None = None,
    most: int | None = None,
    right: Sequence[bool] | None = None,
    style: Callable[[str, str], str] | None = None,
) -> ShownRows:
    """Writes aligned columns. width: where the terminal ends; None cuts nothing. most: rows to write
    before stopping. right: columns that are aligned right; None means those of numbers. style(kind, text)
    colours a heading, a rule or a NULL.

    Text gives way to a narrow terminal, numbers never do; columns without room are left out."""
    rows = iter(rows) if most is None else islice(rows, most)
    head = list(islice(rows, _MEASURED))
    titles = [plain(column) for column in columns]
    right = right or [_is_numeric(row[i] for row in head) for i in range(len(columns))]
    texts = [[human(value) for value in row] for row in head]
    widths = _widths(titles, texts, right, width)
    paint = style or (lambda kind, text: text)

    grid = Grid(widths, right)

    def write(texts: Sequence[str], kind: str, values: Row | None = None) -> None:
        def look(i: int, text: str) -> str:
            return paint("null" if values is not None and values[i] is None else kind, text)

        out.write(grid.row(texts, look, cut=width is not None) + "\n")

    write(titles, "heading")
    # Not by write(): how wide these are is known without the tables of wide characters.
    out.write("  ".join(paint("rule", "─" * most_cells) for most_cells in widths) + "\n")
    for row, values in zip(texts, head, strict=True):
        write(row, "cell", values)
    number = len(head)
    for values in rows:
        number += 1
        write([human(value) for value in values], "cell", values)
    return ShownRows(number, len(titles) - len(widths))


def _widths(
    titles: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool], room: int | None
) -> list[int]:
    """How wide columns are; those of numbers are not narrowed."""
    widths = [max([cells(title), *(cells(row[i]) for row in rows)]) for i, title in enumerate(titles)]
    if room is None:
        return widths
    first = max(room_of_name(room), _NARROWEST)
    least = [width if right[i] else _NARROWEST if i else first for i, width in enumerate(widths)]
    return fit(widths, room, least)


def write_markdown(columns: Sequence[str], rows: Iterable[Row], out: TextIO) -> int:
    """Writes a Markdown table; numbers are aligned right, what Markdown reads as markup is escaped."""
    rows = iter(rows)
    first = list(islice(rows, 1))
    numeric = [bool(first) and _is_numeric([value]) for value in (first[0] if first else columns)]
    out.write("| " + " | ".join(markdown(column) for column in columns) + " |\n")
    out.write("|" + "|".join(" ---: " if right else " --- " for right in numeric) + "|\n")
    number = 0
    for row in chain(first, rows):
        number += 1
        out.write("| " + " | ".join(markdown(human(value)) for value in row) + " |\n")
    return number


_MARKUP = str.maketrans({c: "\\" + c for c in "\\`*{}[]|~$#"} | {"<": "&lt;", ">": "&gt;", "&": "&amp;"})


def markdown(text: str) -> str:
    """`text` as Markdown that shows exactly it, on one line. Underscores inside words are left alone."""
    escaped = plain(text).translate(_MARKUP)
    if "_" not in escaped:
        return escaped
    marks = [
        "\\_" if c == "_" and not (0 < i < len(escaped) - 1 and escaped[i - 1].isalnum()) else c
        for i, c in enumerate(escaped)
    ]
    return "".join(marks)


def human(value: Any) -> str:
    """A value of a query for people: as it is, but floats with at most nine digits."""
    if value is None:
        return "NULL"
    if isinstance(value, float):
        return f"{value:.9g}"
    return plain(_text(value))


def _is_numeric(values: Iterable[Any]) -> bool:
    kinds = {type(value) for value in values if value is not None}
    return bool(kinds) and kinds <= {int, float, Decimal}
