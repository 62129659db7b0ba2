"""Rows without which an entry of the library has none, found in its SQL as DuckDB parses it.

A row of a SELECT is made of a row of each table that is joined. So each of these tables has a row for which
those conditions hold that can be said in its columns alone. This is followed through views and common table
expressions, where a column is an expression over columns of one row. A row of a UNION is one of a side: what
joins it is looked at with each side in its place.

`python -m tests.library.needs` writes library/needs.json anew.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from stepscope import library
from stepscope.lake.schema import schema
from stepscope.library import statements
from stepscope.report.summary import KEPT_VIEWS
from tests.library.parsed import AGGREGATES, condition_text, is_true, parsed

LONGEST = 120
PATH = Path(library.__file__).with_name("needs.json")
Tree = dict[str, Any]
Clause = frozenset["Rows"]
Columns = dict[str, dict[int, Tree]]
"""By the name of a column: what it is, as an expression over a row. Rows are numbered."""
CONSTANT = -1
"""Stands for a row where an expression needs none."""

LONG = frozenset({"slice", "counter"})
"""Tables with as many rows as a recording has events: to look at each takes as long as the statement."""
MOST_CLAUSES = 64
"""Of a UNION: more are not worth their number."""
MOST_SIDES = 12
"""Of the unions that a SELECT joins, multiplied."""
MOST_CASES = 2
"""Of a CASE: rows of which one of many things is true are seldom missing."""
MOST_TEXT = 1000
"""Of a condition: to look for such rows takes as long as the statement."""


class Rows(NamedTuple):
    """Rows of a table or view for which conditions hold."""

    table: str
    conditions: frozenset[str] = frozenset()

    def __str__(self) -> str:
        where = " AND ".join(sorted(self.conditions))
        return f"{self.table} WHERE {where}" if where else self.table

    def among(self, other: Rows) -> bool:
        """Whether there are no such rows without some of the other."""
        return self.table == other.table and self.conditions >= other.conditions


class Row(NamedTuple):
    """A row that a query's rows are made of, and what is true of it."""

    table: str
    conditions: tuple[Tree, ...] = ()


class Query(NamedTuple):
    """What is known of a query whose rows are made of one row of each of several tables."""

    rows: dict[int, Row]
    columns: Columns
    clauses: frozenset[Clause] = frozenset()
    """Rows that there must be beside, of each clause some."""
    sides: tuple[Query, ...] = ()
    """Where each row is one of several queries': these."""
    impossible: bool = False
    """Whether it never has rows."""


NOTHING = Query({}, {})
Ctes = dict[str, Query]
_numbers = itertools.count()


class Unknown(Exception):
    """An expression cannot be said over one row."""


@functools.cache
def _views() -> dict[str, str]:
    return {view.name: view.sql for view in library.views()}


@functools.cache
def _columns_of(name: str) -> tuple[str, ...]:
    if name in _views():
        return tuple(column.name for column in library.entry(name).columns)
    return tuple(column.name for column in schema().table(name).columns)


@functools.cache
def _of_view(name: str) -> Query:
    return of_query(parsed(_views()[name]), {})


def of_query(node: Tree, outer: Ctes) -> Query:
    """What is known of a parsed query."""
    ctes = dict(outer)
    for cte in node["cte_map"]["map"]:
        ctes[cte["key"]] = NOTHING  # one that reads itself
        ctes[cte["key"]] = of_query(cte["value"]["query_node"], ctes)
    if node["type"] == "SELECT_NODE":
        return _of_select(node, ctes)
    if node["type"] == "SET_OPERATION_NODE" and node["setop_type"] == "UNION":
        sides = [of_query(side, ctes) for side in node["children"]]
        return _either_of(part for side in sides for part in side.sides or (side,))
    return NOTHING


def clauses(query: Query) -> frozenset[Clause]:
    """Clauses that hold where the query has rows, without those that follow from others."""
    every = set(query.clauses)
    if query.sides:
        either: frozenset[Clause] = functools.reduce(_either, map(clauses, query.sides))
        every |= either
    for row in query.rows.values():
        texts = map(condition_text, () if row.table in LONG else row.conditions)
        if row.table not in _views() or row.table in KEPT_VIEWS:
            short = frozenset(text for text in texts if len(text) <= MOST_TEXT)
            every.add(frozenset([Rows(row.table, short)]))
    return _without_weaker(every)


def _without_weaker(every: Collection[Clause]) -> frozenset[Clause]:
    return frozenset(clause for clause in every if not any(_follows(clause, other) for other in every))


def _follows(clause: Clause, other: Clause) -> bool:
    implied = all(any(rows.among(weaker) for weaker in clause) for rows in other)
    return implied and clause != other


def _either(left: frozenset[Clause], right: frozenset[Clause]) -> frozenset[Clause]:
    both = left & right
    pairs = {_weakest(first | second) for first in left - both for second in right - both}
    either = _without_weaker(both | pairs)
    return either if len(either) <= MOST_CLAUSES else both


def _weakest(clause: Clause) -> Clause:
    return frozenset(rows for rows in clause if not any(rows.among(other) for other in clause - {rows}))


def _of_select(node: Tree, ctes: Ctes) -> Query:
    grouped = node["group_sets"] and all(node["group_sets"])
    if not grouped and (node["having"] or _aggregated(node["select_list"])):
        return NOTHING
    joined = {alias: _found(name, ctes).sides for name, alias in _surely_read(node["from_table"])}
    unions = {alias: sides for alias, sides in joined.items() if sides}
    if math.prod(map(len, unions.values())) > MOST_SIDES:
        return _with_sides(node, ctes, {})
    return _either_of(
        _with_sides(node, ctes, dict(zip(unions, chosen, strict=True)))
        for chosen in itertools.product(*unions.values())
    )


def _either_of(queries: Iterable[Query]) -> Query:
    """What is known of rows of one of several queries."""
    possible = tuple(query for query in queries if not query.impossible)
    if not possible:
        return NOTHING._replace(impossible=True)
    return possible[0] if len(possible) == 1 else NOTHING._replace(sides=possible)


def _with_sides(node: Tree, ctes: Ctes, chosen: Mapping[str, Query]) -> Query:
    """What is known of a SELECT that reads one side of each union. chosen: sides by alias."""
    scope = _Scope(ctes, chosen)
    scope.join(node["from_table"])
    if node["where_clause"]:
        scope.narrow(node["where_clause"])
    extremes = {id(tree): inner for tree in node["select_list"] if (inner := _extreme(tree)) is not None}
    of_unions = [number for number, inner in extremes.items() if scope.of_union(inner)]
    columns = {}
    for tree in node["select_list"]:
        name = tree["alias"] or (tree["column_names"][-1] if tree["class"] == "COLUMN_REF" else "")
        inner = extremes.get(id(tree))
        # Two extremes of a group may be those of two sides.
        if len(of_unions) < 2 or id(tree) not in of_unions:
            columns[name] = scope.over_each(tree) if inner is None else scope.apart(inner)
    return Query(scope.rows, columns, frozenset(scope.clauses), impossible=scope.impossible)


def _found(name: str, ctes: Ctes) -> Query:
    return ctes.get(name) or (_of_view(name) if name in _views() else NOTHING)


def _surely_read(source: Tree) -> Iterator[tuple[str, str]]:
    """Names and aliases of what each row of a FROM has a row of: of a LEFT JOIN only what is to its left."""
    if source["type"] == "BASE_TABLE":
        yield source["table_name"], source["alias"] or source["table_name"]
    elif source["type"] == "JOIN" and source["ref_type"] in ("REGULAR", "CROSS"):
        if source["join_type"] in ("INNER", "LEFT"):
            yield from _surely_read(source["left"])
        if source["join_type"] == "INNER":
            yield from _surely_read(source["right"])


def _extreme(tree: Tree) -> Tree | None:
    """What the least or the greatest of is taken: some row of the group has that value."""
    if tree["class"] == "FUNCTION" and tree["function_name"] in ("min", "max") and tree["filter"] is None:
        inner: Tree = tree["arguments"][0]["expression"]
        return inner if len(tree["arguments"]) == 1 else None
    return None


def _conditions(source: Tree) -> Iterator[Tree]:
    """The conditions of the inner joins of a FROM, but for those to the right of a LEFT JOIN."""
    if source["type"] == "JOIN" and source["ref_type"] in ("REGULAR", "CROSS"):
        if source["join_type"] in ("INNER", "LEFT"):
            yield from _conditions(source["left"])
        if source["join_type"] == "INNER":
            yield from _conditions(source["right"])
            if source["condition"]:
                yield source["condition"]


class _Scope:
    """The FROM and the WHERE of a SELECT."""

    def __init__(self, ctes: Ctes, chosen: Mapping[str, Query]) -> None:
        self.rows: dict[int, Row] = {}
        self.clauses: set[Clause] = set()
        self.impossible = False
        self._ctes, self._chosen = ctes, chosen
        self._columns: dict[str, Columns] = {}
        """By the alias of what is read."""

    def join(self, source: Tree) -> None:
        """Reads what is joined, and takes the conditions for true."""
        for name, alias in _surely_read(source):
            self._read(name, alias)
        for condition in _conditions(source):
            self.narrow(condition)

    def of_union(self, tree: Tree) -> bool:
        """Whether an expression reads a side of a union."""
        return any(part["column_names"][0] in self._chosen for part in _references(tree))

    def _read(self, name: str, alias: str) -> None:
        found = self._chosen.get(alias) or _found(name, self._ctes)
        if found.sides:
            found = NOTHING._replace(clauses=clauses(found))
        self.impossible |= found.impossible
        new = {number: next(_numbers) for number in found.rows} | {CONSTANT: CONSTANT}
        self.rows.update({new[number]: row for number, row in found.rows.items()})
        self.clauses |= found.clauses
        columns = {
            column: {new[number]: tree for number, tree in over.items()}
            for column, over in found.columns.items()
        }
        if name not in self._ctes:
            number = next(_numbers)
            self.rows[number] = Row(name)
            for column in _columns_of(name):
                itself = {"class": "COLUMN_REF", "type": "COLUMN_REF", "alias": "", "column_names": [column]}
                columns[column] = {**columns.get(column, {}), number: itself}
        self._columns[alias] = columns

    def narrow(self, condition: Tree) -> None:
        """Takes a condition of the WHERE, or of an inner join, for true."""
        if condition["type"] == "CONJUNCTION_AND":
            for part in condition["children"]:
                self.narrow(part)
        elif condition["class"] == "SUBQUERY" and condition["subquery_type"] in ("ANY", "EXISTS"):
            self.clauses |= clauses(of_query(condition["subquery"]["node"], self._ctes))
        else:
            for number, tree in self._over_each(condition, self._implied).items():
                if (surely := _in_any_case(tree)) is None:
                    continue
                if number == CONSTANT:
                    self.impossible |= not is_true(surely)
                else:
                    row = self.rows[number]
                    self.rows[number] = row._replace(conditions=(*row.conditions, surely))

    def over_each(self, tree: Tree) -> dict[int, Tree]:
        """An expression over each row that has all its columns."""
        return self._over_each(tree, self._replaced)

    def _over_each(self, tree: Tree, replaced: Callable[[Tree, int], Tree]) -> dict[int, Tree]:
        every = {number for reference in _references(tree) for number in self._over(reference)}
        found = {}
        for number in sorted(every - {CONSTANT}) or [CONSTANT]:
            with contextlib.suppress(Unknown):
                found[number] = replaced(tree, number)
        return found

    def apart(self, tree: Tree) -> dict[int, Tree]:
        """The same over rows of their own, of which nothing else is said together with it."""
        found = {}
        for number, over in self.over_each(tree).items():
            new = number if number == CONSTANT else next(_numbers)
            if number != CONSTANT:
                self.rows[new] = self.rows[number]
            found[new] = over
        return found

    def _implied(self, tree: Tree, number: int) -> Tree:
        """The part of a condition that is about one row alone; it is true where the condition is."""
        if tree["class"] != "CONJUNCTION":
            replaced: Tree = self._replaced(tree, number)
            return replaced
        parts = []
        for part in tree["children"]:
            try:
                parts.append(self._implied(part, number))
            except Unknown:
                if tree["type"] == "CONJUNCTION_OR":
                    raise
        if not parts:
            raise Unknown
        return _joined(tree["type"].removeprefix("CONJUNCTION_"), parts) if len(parts) > 1 else parts[0]

    def _over(self, reference: Tree) -> dict[int, Tree]:
        names = reference["column_names"]
        return self._columns.get(names[0], {}).get(names[1], {}) if len(names) == 2 else {}

    def _replaced(self, tree: Any, number: int) -> Any:
        """A tree whose columns are replaced with what they are over a row."""
        if isinstance(tree, list):
            return [self._replaced(part, number) for part in tree]
        if not isinstance(tree, dict):
            return tree
        if tree.get("class") == "COLUMN_REF":
            over = self._over(tree)
            if number not in over and CONSTANT not in over:
                raise Unknown
            return over[number] if number in over else over[CONSTANT]
        if tree.get("class") in ("SUBQUERY", "WINDOW", "PARAMETER", "STAR") or _is_aggregate(tree):
            raise Unknown
        try:
            return {
                name: "" if name == "alias" else self._replaced(part, number) for name, part in tree.items()
            }
        except Unknown:
            if tree.get("class") != "CASE":
                raise
            return self._cases(tree, number)

    def _cases(self, tree: Tree, number: int) -> Tree:
        """A CASE that asks for other rows as well: the values it may have, and what is then true of this."""
        cases = []
        for check in tree["case_checks"]:
            when = check["when_expr"]
            known = []
            for part in when["children"] if when["type"] == "CONJUNCTION_AND" else [when]:
                with contextlib.suppress(Unknown):
                    known.append(self._replaced(part, number))
            cases.append({"when": known, "value": self._replaced(check["then_expr"], number)})
        cases.append({"when": [], "value": self._replaced(tree["else_expr"], number)})
        return {"class": _CASES, "alias": "", "cases": cases}


_CASES = "CASES"


def _in_any_case(tree: Tree) -> Tree | None:
    """What is true of a row where one of its cases is; None where that says nothing."""
    if (cases := next(_nodes(tree, _CASES), None)) is None:
        return tree
    may: list[Tree] = []
    for case in cases["cases"]:
        then = _in_any_case(_with(tree, cases, case["value"]))
        if then is not None and next(_references(then), None) is None:
            if not is_true(then):
                continue
            then = None
        true = [part for part in (*map(_in_any_case, case["when"]), then) if part is not None]
        if not true:
            return None
        may.append(true[0] if len(true) == 1 else _joined("AND", true))
    if len(may) > MOST_CASES:
        return None
    return may[0] if len(may) == 1 else _joined("OR", may)


def _joined(word: str, parts: list[Tree]) -> Tree:
    return {"class": "CONJUNCTION", "type": f"CONJUNCTION_{word}", "alias": "", "children": parts}


def _with(tree: Any, old: Tree, new: Tree) -> Any:
    """A tree with a part replaced."""
    if tree is old:
        return new
    if isinstance(tree, list):
        return [_with(part, old, new) for part in tree]
    return {name: _with(part, old, new) for name, part in tree.items()} if isinstance(tree, dict) else tree


def _nodes(tree: Any, kind: str) -> Iterator[Tree]:
    """The nodes of a class, the outer ones first."""
    if isinstance(tree, dict) and tree.get("class") == kind:
        yield tree
    elif isinstance(tree, dict | list):
        for part in tree.values() if isinstance(tree, dict) else tree:
            yield from _nodes(part, kind)


def _references(tree: Any) -> Iterator[Tree]:
    return _nodes(tree, "COLUMN_REF")


def _is_aggregate(tree: Tree) -> bool:
    return tree.get("class") == "FUNCTION" and tree["function_name"] in AGGREGATES


def _aggregated(tree: Any) -> bool:
    if isinstance(tree, dict):
        if tree.get("class") in ("SUBQUERY", "WINDOW"):
            return False
        return _is_aggregate(tree) or any(map(_aggregated, tree.values()))
    return isinstance(tree, list) and any(map(_aggregated, tree))


def found() -> dict[str, list[list[str]]]:
    """By the name of a statement: clauses, of each of which some rows exist where it has rows."""
    entries = (*library.entries("analysis"), *library.entries("finding"), *statements.reads())
    needed = {
        entry.name: sorted(sorted(map(str, clause)) for clause in clauses(of_query(parsed(entry.sql), {})))
        for entry in entries
    }
    assert len(needed) == len(entries), "two statements of one name"
    return {name: every for name, every in sorted(needed.items()) if every}


def text() -> str:
    """The file: a statement a line, or a clause where that is longer than the lines of SQL."""
    entries = []
    for name, every in found().items():
        line = f" {json.dumps(name)}: {json.dumps(every)}"
        if len(line) >= LONGEST:
            clauses = ",\n  ".join(map(json.dumps, every))
            line = f" {json.dumps(name)}: [\n  {clauses}]"
        entries.append(line)
    return "{\n" + ",\n".join(entries) + "\n}\n"


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
