"""Rows of the console as a Parquet file. The process that runs the SQL may write no file; the server may."""

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stepscope import _core
from stepscope.presenters.rows import distinct

_KINDS = {
    **dict.fromkeys(
        ("BIGINT", "INTEGER", "SMALLINT", "TINYINT", "UINTEGER", "USMALLINT", "UTINYINT"), "BIGINT"
    ),
    **dict.fromkeys(("DOUBLE", "FLOAT"), "DOUBLE"),
    "BOOLEAN": "BOOLEAN",
}
"""Types of columns by those of DuckDB; all others become text."""


def file_of(columns: Sequence[str], types: Sequence[str], body: bytes) -> bytes:
    """The file. body: a JSON array of rows, each an array. Values of other types than _KINDS has are written
    as their text, nested ones as JSON."""
    rows: list[list[Any]] = json.loads(body)
    names = distinct(columns)
    kinds = [_KINDS.get(kind, "VARCHAR") for kind in types]
    store = _core.build()
    store.replace(
        "result", {name: [_value(row[at], kinds[at]) for row in rows] for at, name in enumerate(names)}
    )
    with tempfile.TemporaryDirectory(prefix="stepscope-parquet-") as folder:
        path = Path(folder, "result.parquet")
        described = [(name, kind, None, 0) for name, kind in zip(names, kinds, strict=True)]
        _core.write_parquet([(str(path), store, "result", described)], threads=1)
        return path.read_bytes()


def _value(value: Any, kind: str) -> Any:
    if value is None or isinstance(value, str):
        return value
    if kind == "VARCHAR":
        return json.dumps(value)
    return float(value) if kind == "DOUBLE" else value
