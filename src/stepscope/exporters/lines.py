"""Lines for other programs: the flat events, or any one table, as NDJSON or CSV."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.engines import rows_of as all_rows
from stepscope.exporters import EVENTS, Written, events

if TYPE_CHECKING:
    from stepscope.engines import Form
    from stepscope.session.trace import OpenTrace


def write_lines(
    trace: OpenTrace, out: Path, table: str | None, form: Form, sql: str | None = None
) -> Written:
    """Writes one table, row by row; sql: the SELECT of its rows, when it is not rows_of()."""
    name = table or EVENTS
    rows = trace.copy(sql or rows_of(trace, name), str(out), form)
    return Written(str(out), {name: rows})


def rows_of(trace: OpenTrace, table: str) -> str:
    """The SELECT that gives a table of the schema, or the flat events."""
    return events.sql(trace) if table == EVENTS else all_rows(table).sql
