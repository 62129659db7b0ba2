"""A second engine: Apache DataFusion over the committed Parquet files of a lake.

It shares no code with DuckDB: it has its own reader of Parquet, planner and operators. It reads only files
that the manifests list, with the types of schema.sql; a table without files is empty. It runs only what
sqlglot wrote for it, with the adaptations in `adapted()`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import datafusion
import pyarrow as pa
import sqlglot
from sqlglot import exp

from stepscope.engines import Arrow, Files, Form, Params, Reads, Relation, Statement, statement
from stepscope.errors import QueryError, StepscopeError, UsageError

DIALECT = "postgres"
"""Of those that sqlglot writes, the one that DataFusion's parser is nearest to."""

TYPES = {
    "BIGINT": pa.int64(),
    "INTEGER": pa.int32(),
    "DOUBLE": pa.float64(),
    "VARCHAR": pa.string(),
    "BOOLEAN": pa.bool_(),
}
_NAMES = {arrow: name for name, arrow in TYPES.items()} | {pa.string_view(): "VARCHAR"}


def adapted(sql: str) -> str:
    """A SELECT of the library in the words of DataFusion.

    One adaptation: DataFusion has no functions for JSON, so that JSON_EXTRACT_STRING calls `json_text` below.
    """
    tree = sqlglot.parse_one(sql, read="duckdb")
    for found in list(tree.find_all(exp.JSONExtractScalar)):
        path = exp.Literal.string(found.expression.sql("duckdb").strip("'"))
        found.replace(exp.Anonymous(this="json_text", expressions=[found.this, path]))
    return tree.sql(DIALECT, unsupported_level=sqlglot.ErrorLevel.RAISE)


def _json_text(texts: pa.Array, paths: pa.Array) -> pa.Array:
    """The scalar at a path like $.a.b as text; NULL where there is none."""
    found: list[str | None] = []
    for text, path in zip(texts.to_pylist(), paths.to_pylist(), strict=True):
        value = None if text is None else json.loads(text)
        for key in path.removeprefix("$.").split("."):
            value = value.get(key) if isinstance(value, dict) else None
        found.append(value if value is None or isinstance(value, str) else json.dumps(value))
    return pa.array(found, pa.string())


class Answer:
    """The rows of a query, which are all there."""

    def __init__(self, table: pa.Table) -> None:
        self.columns = tuple(table.schema.names)
        self.types = tuple(_NAMES.get(kind, str(kind)) for kind in table.schema.types)
        self._left = list(zip(*(column.to_pylist() for column in table.columns), strict=True))

    def rows(self) -> list[tuple[Any, ...]]:
        left, self._left = self._left, []
        return left

    def batches(self, size: int = 10_000) -> Iterator[list[tuple[Any, ...]]]:
        while self._left:
            batch, self._left = self._left[:size], self._left[size:]
            yield batch


class DataFusion:
    """stepscope.engines.Engine on DataFusion. Only for lakes."""

    def __init__(self) -> None:
        self.writes = False
        self.doubt: Callable[[StepscopeError], StepscopeError] = lambda error: error
        # Filters made while a least or greatest value is computed lost rows of views over many files. With
        # DataFusion 55.0.0 every view, analysis and finding gives equal rows on the samples without this as
        # well; it stays until that is shown for the statements in reads, too.
        settings = {"datafusion.optimizer.enable_aggregate_dynamic_filter_pushdown": "false"}
        self._context = datafusion.SessionContext(datafusion.SessionConfig(settings))
        self._context.register_udf(
            datafusion.udf(_json_text, [pa.string(), pa.string()], pa.string(), "immutable", "json_text")
        )
        self.relations: dict[str, Relation] = {}
        self._views: dict[str, Statement] = {}
        self._made: set[str] = set()
        self._sealed: frozenset[str] | None = None

    def attach(self, relation: Relation) -> None:
        self.relations[relation.name] = relation

    def define(self, views: Mapping[str, Statement | str]) -> None:
        self._views |= {name: statement(view) for name, view in views.items()}
        self._made -= views.keys()

    def seal(self, paths: Sequence[str] = ()) -> None:
        self._sealed = frozenset(paths)

    def reads(self, *statements: Statement) -> Reads | None:
        """Not told: a lake need not know."""
        return None

    def query(self, asked: Statement | str, params: Params = ()) -> Answer:
        if params:
            raise UsageError("No parameters.", seen=f"{len(params)}", todo="write the values into the SQL")
        sql = statement(asked).sql
        self._bring(sql)
        try:
            frame = self._context.sql(adapted(sql))
            batches = frame.collect()
            # Batches know better than the frame which columns may be NULL.
            schema = batches[0].schema if batches else frame.schema()
            return Answer(pa.Table.from_batches(batches, schema=schema))
        except Exception as error:
            refused = QueryError("DataFusion refused the SQL.", seen=str(error), todo="look at the SQL")
            raise self.doubt(refused) from error

    def stream(self, asked: Statement | str) -> Arrow:
        sql = statement(asked).sql
        self._bring(sql)
        return pa.Table.from_batches(self._context.sql(adapted(sql)).collect())

    def answers(
        self, asked: Sequence[Statement | str], keep: Sequence[str] = ()
    ) -> list[list[tuple[Any, ...]]]:
        self.keep(keep)
        return [self.query(one).rows() for one in asked]

    def keep(self, views: Sequence[str]) -> None:
        for name in views:
            self._bring(f"SELECT * FROM {name}")
            rows = self._context.table(name).cache()
            self._context.deregister_table(name)
            self._context.register_view(name, rows)

    def copy(self, asked: Statement | str, path: str, form: Form) -> int:
        raise UsageError("This engine only reads.", seen=path, todo="open the lake without engine=")

    def interrupt(self) -> None:
        """DataFusion's own threads stop at Ctrl-C; nothing stops them from another thread."""

    def close(self) -> None:
        self._context = datafusion.SessionContext()

    def leave(self) -> None:
        self.close()

    def _bring(self, sql: str) -> None:
        """Makes the tables and views that a statement names."""
        tree = sqlglot.parse_one(sql, read="duckdb")
        for name in sorted({table.name.lower() for table in tree.find_all(exp.Table)}):
            if name in self._made or name not in self._views.keys() | self.relations.keys():
                continue
            self._made.add(name)
            if (view := self._views.get(name)) is not None:
                self._bring(view.sql)
                self._context.sql(f"CREATE OR REPLACE VIEW {name} AS {adapted(view.sql)}")
            else:
                self._register(self.relations[name])

    def _register(self, relation: Relation) -> None:
        schema = pa.schema([pa.field(name, TYPES[kind]) for name, kind in relation.columns])
        paths: list[str] = []
        for part in relation.parts():
            assert isinstance(part, Files), f"{relation.name} is not in the lake"
            paths += part.paths
        assert self._sealed is not None
        assert set(paths) <= self._sealed
        for number, path in enumerate(paths):
            assert Path(path).is_file()
            self._context.register_parquet(f"{relation.name}__{number}", path, schema=schema)
        if not paths:
            empty = pa.RecordBatch.from_pylist([], schema=schema)
            self._context.register_record_batches(f"{relation.name}__0", [[empty]])
        keys = {f'"{key}"' for key in relation.key}
        names = [f'"{name}"' for name, _ in relation.columns]
        rows = " UNION ALL ".join(
            f"SELECT {', '.join(names)} FROM {relation.name}__{number}" for number in range(len(paths) or 1)
        )
        if keys:
            least = (name if name in keys else f"MIN({name}) AS {name}" for name in names)
            rows = f"SELECT {', '.join(least)} FROM ({rows}) AS parts GROUP BY {', '.join(sorted(keys))}"
        self._context.sql(f"CREATE OR REPLACE VIEW {relation.name} AS {rows}")
