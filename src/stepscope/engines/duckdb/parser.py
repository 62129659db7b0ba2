"""Names that a SELECT reads, from DuckDB's own parser."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from stepscope.engines import Reads
from stepscope.engines.duckdb.native import duckdb

_OF_VALUES = frozenset({"range", "generate_series", "unnest", "json_each", "json_tree"})
"""Table functions whose rows are made of their arguments; others may read any table, by a name that they are
given as text."""
_CHANGES = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE"})


class ParsedSelect(NamedTuple):
    """A statement, as DuckDB parses it."""

    reads: Reads | None
    """What it reads; None for anything but one SELECT that DuckDB can parse."""
    change: str | None
    """The kind of statement, such as INSERT, that changes rows within a SELECT: its WITH may hold one."""


def _function(node: dict[str, Any]) -> str:
    """The name of the function that a reference to a table calls."""
    called = node.get("function")
    return str(called.get("function_name", "")).lower() if isinstance(called, dict) else ""


class _Names:
    """Names in the tree of a SELECT."""

    def __init__(self) -> None:
        self._tables: set[str] = set()
        self._columns: set[str] = set()
        self._rows: set[str] = set()
        """Names of tables and of what they are called here."""
        self._qualified: list[list[str]] = []
        self._star = False

    def add(self, node: dict[str, Any]) -> None:
        """Takes the names of a node, without those below it."""
        if node.get("type") == "BASE_TABLE":
            self._tables.add(str(node.get("table_name", "")).lower())
            self._rows.update(str(node.get(key, "")).lower() for key in ("table_name", "alias"))
        elif node.get("class") == "COLUMN_REF":
            names = [str(name).lower() for name in node.get("column_names", ())]
            self._qualified.append(names) if len(names) > 1 else self._columns.update(names)
        # SELECT t FROM t is the whole row, and a natural join compares every column that both sides have.
        self._star |= node.get("class") == "STAR" or node.get("ref_type") == "NATURAL"
        self._columns.update(str(name).lower() for name in node.get("using_columns", ()) or ())

    def reads(self) -> Reads:
        """What the SELECT reads."""
        star = self._star or bool(self._columns & self._rows)
        for names in self._qualified:
            self._columns.update(names[1:] if names[0] in self._rows else names)
        return Reads(frozenset(self._tables), frozenset(self._columns), star)


def _tree(con: duckdb.DuckDBPyConnection, sql: str) -> dict[str, Any] | None:
    """The tree of a statement, as DuckDB parses it; None where it is refused or too deep to read."""
    try:
        row = con.cursor().execute("SELECT json_serialize_sql(CAST($1 AS VARCHAR))", [sql]).fetchone()
    except duckdb.Error:
        return None
    try:
        return dict(json.loads(row[0])) if row else None
    except RecursionError:  # a sum of hundreds of terms; DuckDB itself can do it
        return None


def _nodes(tree: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The nodes of a tree, each before those below it."""
    todo: list[Any] = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, list):
            todo.extend(node)
        elif isinstance(node, dict):
            todo.extend(node.values())
            yield node


def parse(con: duckdb.DuckDBPyConnection, sql: str) -> ParsedSelect:
    """What the text of a statement names, and whether it changes rows."""
    tree = _tree(con, sql) or {}
    names: _Names | None = _Names()
    if tree.get("error") or len(tree.get("statements", ())) != 1:
        names = None
    change = None
    for node in _nodes(tree):
        kind, _, rest = str(node.get("type", "")).partition("_")
        if rest == "QUERY_NODE" and kind in _CHANGES:
            change = kind
        if node.get("type") == "SHOW_REF" or (
            node.get("type") == "TABLE_FUNCTION" and _function(node) not in _OF_VALUES
        ):
            names = None
        if names is not None:
            names.add(node)
    return ParsedSelect(None if names is None else names.reads(), change)
