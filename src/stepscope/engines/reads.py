"""What a SELECT reads, from DuckDB's own parser."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from stepscope.engines.native import duckdb
from stepscope.patterns import late


class Reads(NamedTuple):
    """Tables and columns by name, and whether a star asks for all columns of something."""

    tables: frozenset[str]
    columns: frozenset[str]
    star: bool

    def joined(self, other: Reads) -> Reads:
        """What both read."""
        return Reads(self.tables | other.tables, self.columns | other.columns, self.star or other.star)


_MOST_REMEMBERED = 500
_remembered: dict[str, Reads | None] = {}
"""What texts name: a report asks thirty questions that share a dozen views."""


_told: dict[str, Reads] = {}
"""What texts name that somebody vouches for: they are taken at their word and not parsed."""

_WORD = late(r"[a-z_][a-z0-9_]*")


def tell(sql: str, tables: Iterable[str]) -> None:
    """Vouches for a SELECT that reads these tables and views, whole by none of them, and every column by a
    name that stands in it: the SQL of the library, which a linter holds to that."""
    if sql not in _told:
        _told[sql] = Reads(frozenset(tables), frozenset(_WORD.findall(sql)), False)


def told(sql: str) -> bool:
    """True for a text that somebody vouches for."""
    return sql in _told


def parse(con: duckdb.DuckDBPyConnection, sql: str) -> Reads | None:
    """What the text of a SELECT names; None for anything but one SELECT that DuckDB can take apart."""
    if (known := _told.get(sql)) is not None:
        return known
    if sql not in _remembered:
        if len(_remembered) >= _MOST_REMEMBERED:
            _remembered.clear()
        _remembered[sql] = _parse(con, sql)
    return _remembered[sql]


def _parse(con: duckdb.DuckDBPyConnection, sql: str) -> Reads | None:
    try:
        row = con.cursor().execute("SELECT json_serialize_sql(CAST($1 AS VARCHAR))", [sql]).fetchone()
    except duckdb.Error:
        return None
    tree: dict[str, Any] = json.loads(row[0]) if row else {"error": True}
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
            elif node.get("type") in ("SHOW_REF", "TABLE_FUNCTION"):
                return None
            # SELECT t FROM t is the whole row, and a natural join compares whatever both sides have.
            star = star or node.get("ref_type") == "NATURAL"
            columns.update(str(name).lower() for name in node.get("using_columns", ()) or ())
    star = star or bool(columns & rows)
    for names in qualified:
        columns.update(names[1:] if names[0] in rows else names)
    return Reads(frozenset(tables), frozenset(columns), star)
