"""A second engine: Apache DataFusion over the committed Parquet files of a lake.

It shares no code with DuckDB: it has its own reader of Parquet, planner and operators. It reads only files
that the manifests list, with the types of schema.sql; a table without files is empty. It runs only what
sqlglot wrote for it, with the adaptations in `adapted()`.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import datafusion
import pyarrow as pa
import sqlglot
from sqlglot import exp

from stepscope.engines import Files, Relation
from stepscope.engines.arrow import arrow_schema
from stepscope.engines.portable import Portable


def _json(tree: Any) -> Any:
    """A SELECT of the library in the words of DataFusion.

    Two adaptations: DataFusion has no functions for JSON, so that JSON_EXTRACT_STRING calls `json_text`
    below; and sqlglot has no TRY_CAST for its dialect, and would write CAST.
    """
    tree = tree.copy()
    for tried in list(tree.find_all(exp.TryCast)):
        name = f"try_{tried.to.sql().lower()}"
        tried.replace(exp.Anonymous(this=name, expressions=[tried.this.copy()]))
    for found in list(tree.find_all(exp.JSONExtractScalar)):
        path = exp.Literal.string(found.expression.sql("duckdb").strip("'"))
        found.replace(exp.Anonymous(this="json_text", expressions=[found.this, path]))
    return tree


def adapted(sql: str) -> str:
    """A SELECT of the library, as DataFusion gets it."""
    return DataFusion().worded(sqlglot.parse_one(sql, read="duckdb"))


def _json_text(texts: pa.Array, paths: pa.Array) -> pa.Array:
    """The scalar at a path like $.a."b c"[0] as text; NULL where there is none."""
    found: list[str | None] = []
    for text, path in zip(texts.to_pylist(), paths.to_pylist(), strict=True):
        value = None if text is None else json.loads(text)
        for key in path.removeprefix("$.").replace("[", ".[").split("."):
            if key.startswith("["):
                at = int(key.strip("[]"))
                value = value[at] if isinstance(value, list) and at < len(value) else None
            else:
                value = value.get(key.strip('"')) if isinstance(value, dict) else None
        found.append(value if value is None or isinstance(value, str) else json.dumps(value))
    return pa.array(found, pa.string())


def _tried(kind: pa.DataType, number: type) -> Callable[[pa.Array], pa.Array]:
    """TRY_CAST to a type: NULL for text that does not parse as one of its numbers."""

    def cast(texts: pa.Array) -> pa.Array:
        found = []
        for text in texts.to_pylist():
            try:
                found.append(None if text is None else number(text))
            except ValueError:
                found.append(None)
        return pa.array(found, kind)

    return cast


class DataFusion(Portable):
    """stepscope.engines.Engine on DataFusion. Only for lakes."""

    NAME = "DataFusion"
    DIALECT = "postgres"  # of those that sqlglot writes, the one that DataFusion's parser is nearest to

    def __init__(self) -> None:
        super().__init__()
        # Filters made while a least or greatest value is computed lost rows of views over many files. With
        # DataFusion 55.0.0 every view, analysis and finding gives equal rows on the samples without this as
        # well; it stays until that is shown for the statements in reads, too.
        settings = {"datafusion.optimizer.enable_aggregate_dynamic_filter_pushdown": "false"}
        self._context = datafusion.SessionContext(datafusion.SessionConfig(settings))
        self._context.register_udf(
            datafusion.udf(_json_text, [pa.string(), pa.string()], pa.string(), "immutable", "json_text")
        )
        for kind, name, number in ((pa.int64(), "bigint", int), (pa.float64(), "double", float)):
            cast = datafusion.udf(_tried(kind, number), [pa.string()], kind, "immutable", f"try_{name}")
            self._context.register_udf(cast)

    def adapted(self, tree: Any) -> Any:
        return _json(tree)

    def run(self, sql: str) -> pa.Table:
        try:
            frame = self._context.sql(sql)
            batches = frame.collect()
        except Exception as error:
            raise self.refused(str(error)) from error
        # Batches know better than the frame which columns may be NULL.
        return pa.Table.from_batches(batches, schema=batches[0].schema if batches else frame.schema())

    def interrupt(self) -> None:
        """DataFusion's own threads stop at Ctrl-C; nothing stops them from another thread."""

    def close(self) -> None:
        self._context = datafusion.SessionContext()

    def register_view(self, name: str, sql: str) -> None:
        """Computes its rows once: DataFusion would plan and run a view anew wherever it is named, and read a
        table of a hundred files anew as well."""
        if self._context.table_exist(name):
            self._context.deregister_table(name)
        self._context.register_view(name, self._context.sql(sql).cache())

    def register(self, relation: Relation, files: Sequence[Files], rows: pa.Table) -> None:
        schema = arrow_schema(relation)
        where: list[str] = []
        for part in files:
            for path in part.paths:
                assert Path(path).is_file()
                self._context.register_parquet(f"{relation.name}__{len(where)}", path, schema=schema)
                where.append(f" WHERE {self.fulfils(part.where)}" if part.where else "")
        if rows.num_rows or not where:
            batches = rows.to_batches() or [pa.RecordBatch.from_pylist([], schema=schema)]
            self._context.register_record_batches(f"{relation.name}__{len(where)}", [batches])
            where.append("")
        keys = {f'"{key}"' for key in relation.key}
        names = [f'"{name}"' for name, _ in relation.columns]
        parts = " UNION ALL ".join(
            f"SELECT {', '.join(names)} FROM {relation.name}__{number}{only}"
            for number, only in enumerate(where)
        )
        if keys:
            least = (name if name in keys else f"MIN({name}) AS {name}" for name in names)
            parts = f"SELECT {', '.join(least)} FROM ({parts}) AS parts GROUP BY {', '.join(sorted(keys))}"
        self.register_view(relation.name, parts)
