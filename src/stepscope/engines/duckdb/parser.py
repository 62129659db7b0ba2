"""What a SELECT reads, from DuckDB's own parser."""

from __future__ import annotations

import json
from typing import Any

from stepscope.engines import Reads
from stepscope.engines.duckdb.native import duckdb

_OF_VALUES = frozenset({"range", "generate_series", "unnest", "json_each", "json_tree"})
"""Table functions whose rows are made of their arguments; others may read any table, by a name that they are
given as text."""


def _function(node: dict[str, Any]) -> str:
    """The name of the function that a reference to a table calls."""
    called = node.get("function")
    return str(called.get("function_name", "")).lower() if isinstance(called, dict) else ""


def parse(con: duckdb.DuckDBPyConnection, sql: str) -> Reads | None:
    """What the text of a SELECT names; None for anything but one SELECT that DuckDB can parse."""
    try:
        row = con.cursor().execute("SELECT json_serialize_sql(CAST($1 AS VARCHAR))", [sql]).fetchone()
    except duckdb.Error:
        return None
    try:
        tree: dict[str, Any] = json.loads(row[0]) if row else {"error": True}
    except RecursionError:  # a sum of hundreds of terms; DuckDB itself can do it
        return None
    if tree.get("error") or len(tree.get("statements", ())) != 1:
        return None
    tables: set[str] = set()
    columns: set[str] = set()
    rows: set[str] = set()
    qualified: list[list[str]] = []
    star = False
    todo: list[Any] = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, list):
            todo.extend(node)
        elif isinstance(node, dict):
            todo.extend(node.values())
            if node.get("type") == "BASE_TABLE":
                tables.add(str(node.get("table_name", "")).lower())
                rows.update((str(node.get("table_name", "")).lower(), str(node.get("alias", "")).lower()))
            elif node.get("class") == "COLUMN_REF":
                names = [str(name).lower() for name in node.get("column_names", ())]
                qualified.append(names) if len(names) > 1 else columns.update(names)
            elif node.get("class") == "STAR":
                star = True
            elif node.get("type") == "SHOW_REF" or (
                node.get("type") == "TABLE_FUNCTION" and _function(node) not in _OF_VALUES
            ):
                return None
            # SELECT t FROM t is the whole row, and a natural join compares every column that both sides have.
            star = star or node.get("ref_type") == "NATURAL"
            columns.update(str(name).lower() for name in node.get("using_columns", ()) or ())
    star = star or bool(columns & rows)
    for names in qualified:
        columns.update(names[1:] if names[0] in rows else names)
    return Reads(frozenset(tables), frozenset(columns), star)
