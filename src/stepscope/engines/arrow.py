"""Rows to and from Arrow, for engines that have their rows in a pyarrow.Table."""

import importlib
from collections.abc import Iterator, Sequence
from typing import Any

from stepscope.engines import Part, PythonRows, Relation

_SQL_TYPES = {
    "int64": "BIGINT",
    "int32": "INTEGER",
    "double": "DOUBLE",
    "string": "VARCHAR",
    "large_string": "VARCHAR",
    "string_view": "VARCHAR",
    "bool": "BOOLEAN",
}
"""SQL types by the names of Arrow's."""


class FetchedRows:
    """The rows of a query, which are all there."""

    def __init__(self, table: Any) -> None:
        """table: a pyarrow.Table."""
        self.columns: tuple[str, ...] = tuple(table.schema.names)
        self.types: tuple[str, ...] = tuple(
            _SQL_TYPES.get(str(kind), str(kind)) for kind in table.schema.types
        )
        self._left: list[tuple[Any, ...]] = list(
            zip(*(column.to_pylist() for column in table.columns), strict=True)
        )

    def rows(self) -> list[tuple[Any, ...]]:
        """All rows that are left."""
        left, self._left = self._left, []
        return left

    def batches(self, size: int = 10_000) -> Iterator[list[tuple[Any, ...]]]:
        """The rows that are left, in lists of at most `size`."""
        while self._left:
            batch, self._left = self._left[:size], self._left[size:]
            yield batch


def arrow_schema(relation: Relation) -> Any:
    """The columns of a table as a pyarrow.Schema."""
    pa: Any = importlib.import_module("pyarrow")
    kinds = {
        "BIGINT": pa.int64(),
        "INTEGER": pa.int32(),
        "DOUBLE": pa.float64(),
        "VARCHAR": pa.string(),
        "BOOLEAN": pa.bool_(),
    }
    return pa.schema([pa.field(name, kinds[kind]) for name, kind in relation.columns])


def arrow_rows(relation: Relation, parts: Sequence[Part]) -> Any:
    """The rows of a table that are Python values, as a pyarrow.Table."""
    pa: Any = importlib.import_module("pyarrow")
    schema = arrow_schema(relation)
    rows = [row for part in parts if isinstance(part, PythonRows) for row in part.rows]
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(schema)
    arrays = [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)]
    return pa.table(arrays, schema=schema)
