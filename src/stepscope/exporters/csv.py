"""CSV with a header line: the flat events, or one table. NULL is an empty field, empty text is ""."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.escapes import escaped_lines
from stepscope.exporters import EVENTS
from stepscope.exporters.lines import rows_of, write_lines

if TYPE_CHECKING:
    from stepscope.exporters import Written
    from stepscope.session.trace import OpenTrace

EXTENSIONS = (".csv",)
TEXT = True
SHOWN = escaped_lines
DEFAULT = EVENTS

_NO_FORMULA = (
    """CASE WHEN {0}[1] IN ('=', '+', '-', '@', chr(9), chr(13)) THEN '''' || {0} ELSE {0} END AS {0}"""
)


def write(trace: OpenTrace, out: Path, table: str | None) -> Written:
    """Writes the flat events, or one table."""
    return write_lines(trace, out, table, "csv")


def write_spreadsheet(trace: OpenTrace, out: Path, table: str | None) -> Written:
    """Writes the same rows, with an apostrophe before text that a spreadsheet would take for a formula."""
    sql = rows_of(trace, table or EVENTS)
    described = trace.query(f"SELECT * FROM ({sql}) LIMIT 0")
    columns = ", ".join(
        _NO_FORMULA.format(f'"{name}"') if kind == "VARCHAR" else f'"{name}"'
        for name, kind in zip(described.columns, described.types, strict=True)
    )
    return write_lines(trace, out, table, "csv", f"SELECT {columns} FROM ({sql})")
