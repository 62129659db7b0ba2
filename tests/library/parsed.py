"""SQL as DuckDB parses it, and a condition back as text."""

import functools
import json
from typing import Any

import duckdb

Tree = dict[str, Any]
_WHERE = " WHERE "


@functools.cache
def _connection() -> duckdb.DuckDBPyConnection:
    return duckdb.connect()


def _serialized(sql: str) -> Tree:
    ((text,),) = _connection().execute("SELECT json_serialize_sql($1)", [sql]).fetchall()
    tree: Tree = json.loads(text)
    return tree


def parsed(sql: str) -> Tree:
    """The node of a statement."""
    (statement,) = _serialized(sql)["statements"]
    node: Tree = statement["node"]
    return node


def condition_text(condition: Tree) -> str:
    """A condition as SQL."""
    whole = _serialized("SELECT 1 FROM t WHERE x")
    whole["statements"][0]["node"]["where_clause"] = condition
    ((sql,),) = _connection().execute("SELECT json_deserialize_sql($1)", [json.dumps(whole)]).fetchall()
    text: str = sql.split(_WHERE, 1)[1]
    return text


def is_true(condition: Tree) -> bool:
    """Whether a condition without columns is true."""
    ((found,),) = _connection().execute(f"SELECT {condition_text(condition)}").fetchall()
    return bool(found)


def _aggregates() -> frozenset[str]:
    asked = "SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type = 'aggregate'"
    return frozenset(name for (name,) in _connection().execute(asked).fetchall())


AGGREGATES = _aggregates()
