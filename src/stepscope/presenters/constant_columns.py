"""What a table says alike in every row is said once, above it."""

from __future__ import annotations

from stepscope.presenters.plain import plain
from stepscope.report import Table

_PLACES = ("run_id", "host_id", "source_id")
"""Where rows come from. When they all come from there the report tells it anyway, and the SQL has it."""
_FEWEST_ROWS = 3
"""In a shorter table a repeated value does not disturb."""
_LONGEST = 200


def without_constants(table: Table) -> tuple[Table, str]:
    """The table without the columns of text that have one value, and a sentence with these values.

    Numbers stay: that they are equal may be the news. The sentence is empty when no column is dropped.
    """
    rows = table.rows
    alike = {i for i in range(len(table.columns)) if len(rows) > 1 and len({row[i] for row in rows}) == 1}
    places = {i for i in alike if table.columns[i].name in _PLACES}
    words = {i for i in alike - places if table.columns[i].unit in ("text", "bool")}
    if len(rows) < _FEWEST_ROWS:
        words = set()
    kept = [i for i in range(len(table.columns)) if i not in places | words]
    if not kept:
        return table, ""
    scales = table.scales()
    constants = []
    for i in sorted(words):
        title, value = table.columns[i].title, rows[0][i]
        value_text = "has no value" if value is None else f"= {plain(scales[i].cell(value), _LONGEST)}"
        constants.append(f"{title} {value_text}")
    columns = tuple(table.columns[i] for i in kept)
    short = Table(columns, tuple(tuple(row[i] for i in kept) for row in rows), table.total)
    # Rows that a limit left out may say something else.
    where = "In every row" if table.total <= len(rows) else "In every row shown"
    return short, f"{where}: {'; '.join(constants)}." if constants else ""
