"""Tables without which an entry of the library has no rows, found in its SQL as DuckDB parses it.

`python -m tests.library.needs` writes library/needs.json anew.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import duckdb

from stepscope import library

PATH = Path(library.__file__).with_name("needs.json")
Ctes = dict[str, frozenset[str]]
NOTHING: frozenset[str] = frozenset()


def found() -> dict[str, list[str]]:
    """By the entry, what is to have rows for it to have some: stored tables."""
    views = {view.name: view.sql for view in library.views()}
    connection = duckdb.connect()
    asked = "SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type = 'aggregate'"
    aggregates = frozenset(row[0] for row in connection.execute(asked).fetchall())

    def parsed(sql: str) -> dict[str, Any]:
        ((text,),) = connection.execute("SELECT json_serialize_sql($1)", [sql]).fetchall()
        (statement,) = json.loads(text)["statements"]
        node: dict[str, Any] = statement["node"]
        return node

    @functools.cache
    def of_view(name: str) -> frozenset[str]:
        return of_query(parsed(views[name]), {})

    def of_query(node: dict[str, Any], outer: Ctes) -> frozenset[str]:
        ctes = dict(outer)
        for cte in node["cte_map"]["map"]:
            ctes[cte["key"]] = NOTHING  # one that reads itself
            ctes[cte["key"]] = of_query(cte["value"]["query_node"], ctes)
        if node["type"] == "SELECT_NODE":
            grouped = node["group_sets"] and all(node["group_sets"])
            if not grouped and (node["having"] or aggregated(node["select_list"])):
                return NOTHING
            return of_source(node["from_table"], ctes)
        if node["type"] == "SET_OPERATION_NODE" and node["setop_type"] == "UNION":
            return frozenset.intersection(*(of_query(one, ctes) for one in node["children"]))
        return NOTHING

    def aggregated(tree: Any) -> bool:
        if isinstance(tree, dict):
            if tree.get("class") in ("SUBQUERY", "WINDOW"):
                return False
            own = tree.get("class") == "FUNCTION" and tree["function_name"] in aggregates
            return own or any(map(aggregated, tree.values()))
        return isinstance(tree, list) and any(map(aggregated, tree))

    def of_source(source: dict[str, Any], ctes: Ctes) -> frozenset[str]:
        if source["type"] == "BASE_TABLE":
            name = source["table_name"]
            if name in ctes:
                return ctes[name]
            return of_view(name) if name in views else frozenset([name])
        if source["type"] == "SUBQUERY":
            return of_query(source["query_node"], ctes)
        if source["type"] != "JOIN":
            return NOTHING
        left, right = of_source(source["left"], ctes), of_source(source["right"], ctes)
        regular = source["ref_type"] in ("REGULAR", "CROSS")
        return {"INNER": left | right, "LEFT": left}.get(source["join_type"], NOTHING) if regular else NOTHING

    needed = {one.name: sorted(of_query(parsed(one.sql), {})) for one in library.entries()}
    return {name: tables for name, tables in sorted(needed.items()) if tables}


def text() -> str:
    """The file."""
    lines = (f" {json.dumps(name)}: {json.dumps(tables)}" for name, tables in found().items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
