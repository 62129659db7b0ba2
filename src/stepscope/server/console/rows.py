"""Rows of a query as JSON for the page, until there are enough of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from stepscope.presenters.rows import json_value

if TYPE_CHECKING:
    from stepscope.engines import QueryResult

_BATCH = 256
_EXACT = 1 << 53
"""JavaScript's integers are exact below this; larger ones become text."""


class Fitted(NamedTuple):
    """Rows as JSON arrays, joined by commas. cut: whether there are more."""

    text: str
    number: int
    cut: bool


def fit(result: QueryResult, most_rows: int, most_bytes: int) -> Fitted:
    """Fetches rows until there are `most_rows`, or `most_bytes` of JSON."""
    rows: list[str] = []
    size = 0
    for batch in result.batches(min(_BATCH, most_rows + 1)):
        for row in batch:
            text = f"[{','.join(map(cell, row))}]"
            size += len(text) + 1
            if len(rows) == most_rows or size > most_bytes:
                return Fitted(",".join(rows), len(rows), True)
            rows.append(text)
    return Fitted(",".join(rows), len(rows), False)


def cell(value: Any) -> str:
    """One value as JSON. Whole numbers that JavaScript would round are text."""
    if type(value) is str:
        return json.dumps(value)
    if type(value) is int and abs(value) >= _EXACT:
        return f'"{value}"'
    if isinstance(value, (list, tuple)):
        return f"[{','.join(map(cell, value))}]"
    if isinstance(value, dict):
        return f"{{{','.join(f'{json.dumps(str(key))}:{cell(item)}' for key, item in value.items())}}}"
    return json_value(value)
