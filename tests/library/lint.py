"""Holds a SELECT to the subset of SQL that gives the same rows on DuckDB, Spark and BigQuery.

What is refused either fails on one of them or, worse, silently gives other values. Needs sqlglot, in
the pinned version, and only in tests.
"""

import functools
from collections.abc import Iterator, Mapping

import sqlglot
from sqlglot import exp
from sqlglot.errors import ErrorLevel, UnsupportedError

from stepscope.engines.portable import differs

REFUSED: Mapping[type[exp.Expression], str] = {
    **differs(),  # what users may not write for other engines either
    exp.Star: "name the columns",
    exp.Filter: "use CASE inside the aggregate",
    exp.Qualify: "filter around the window",
    exp.Map: "no MAP",
    exp.Substring: "starts differ",
    exp.Distinct: "use GROUP BY, or COUNT(DISTINCT column)",
    exp.Placeholder: "no parameters",
}
_WHOLE = ("BIGINT", "INT", "INTEGER")


def problems(sql: str, columns_of: Mapping[str, set[str]]) -> list[str]:
    """What breaks the subset; empty when nothing does. columns_of: columns of tables and views."""
    tree = _tree(sql)
    found = [*_nodes(tree), *_orders(tree, sql), *_windows(tree), *_aliases(tree, columns_of)]
    for dialect in ("spark", "bigquery"):
        try:
            tree.sql(dialect=dialect, unsupported_level=ErrorLevel.RAISE, max_unsupported=99)
        except UnsupportedError as error:
            # Their windows have no NULLS LAST; the columns that windows are ordered by are never NULL.
            lines = [line for line in str(error).splitlines() if line and "NULLS LAST" not in line.upper()]
            found += [f"{dialect}: {line}" for line in lines]
    return found


@functools.cache
def _tree(sql: str) -> exp.Expression:
    """A SELECT, parsed once for all that is asked of it; nobody changes it."""
    return sqlglot.parse_one(sql, read="duckdb")


def _nodes(tree: exp.Expression) -> Iterator[str]:
    for node in tree.walk():
        reason = REFUSED.get(type(node))
        counts = isinstance(node, exp.Distinct) and isinstance(node.parent, exp.Count)
        counted = isinstance(node, exp.Star) and isinstance(node.parent, exp.Count)
        if reason and not counts and not counted:
            yield f"{type(node).__name__}: {reason}"
        if isinstance(node, exp.Div) and not _is_double(node.this):
            yield f"division of what may be whole numbers: {node.sql()}"
        if isinstance(node, exp.Group) and any(not isinstance(e, exp.Column) for e in node.expressions):
            yield f"GROUP BY names columns only: {node.sql()}"
        if isinstance(node, exp.Column) and not node.table and node.find_ancestor(exp.Order) is None:
            yield f"{node.sql()}: say of which table"
        if (
            isinstance(node, exp.Cast)
            and node.to.sql("duckdb").upper() in _WHOLE
            and _may_be_broken(node.this)
        ):
            yield f"rounding differs: FLOOR before the cast, {node.sql()}"
        if isinstance(node, exp.JSONExtractScalar) and not _is_scalar_path(node):
            yield f"a path like $.a.'b c'[0]: {node.sql()}"
        if isinstance(node, exp.Like) and "\\" in node.expression.sql():
            yield f"a backslash in LIKE is an escape on two engines only: {node.sql()}"


def _is_double(node: exp.Expression) -> bool:
    if isinstance(node, exp.Paren):
        return _is_double(node.this)
    if isinstance(node, exp.Cast):
        return node.to.is_type(exp.DataType.Type.DOUBLE)
    if isinstance(node, exp.Mul):
        return _is_double(node.this) or _is_double(node.expression)
    if isinstance(node, exp.Literal):
        return "." in node.sql()
    # Columns that hold doubles say so in their name or come from the schema's one DOUBLE column.
    named = node.this if isinstance(node, exp.Sum) else node
    return isinstance(named, exp.Column) and named.name in ("mean_dur_ps", "value")


def _may_be_broken(node: exp.Expression) -> bool:
    return bool(node.find(exp.Div)) and not isinstance(node, exp.Floor)


def _is_scalar_path(node: exp.JSONExtractScalar) -> bool:
    wrapped = node.find_ancestor(exp.Nullif) is not None
    _, *keys = node.expression.expressions if isinstance(node.expression, exp.JSONPath) else [None, None]
    return bool(wrapped) and all(
        isinstance(key, (exp.JSONPathKey, exp.JSONPathSubscript))
        and str(key.this).replace("_", "").replace(" ", "").isalnum()
        for key in keys
    )


def _orders(tree: exp.Expression, sql: str) -> Iterator[str]:
    for limit in tree.find_all(exp.Limit):
        if limit.parent is None or limit.parent.args.get("order") is None:
            yield f"which rows a limit leaves needs an order: {limit.sql()}"
    # The tree cannot tell what was written from what is DuckDB's default, so the text is asked.
    if sql.count("NULLS LAST") != len(list(tree.find_all(exp.Ordered))):
        yield "ORDER BY: each column with NULLS LAST"
    for order in tree.find_all(exp.Ordered):
        if isinstance(order.this, exp.Literal):
            yield f"ORDER BY by place: {order.sql()}"


def _windows(tree: exp.Expression) -> Iterator[str]:
    ranks = (exp.RowNumber, exp.Lag, exp.Lead)
    for window in tree.find_all(exp.Window):
        spec = window.args.get("spec")
        if window.args.get("order") is None:
            continue
        if not isinstance(window.this, ranks) and (spec is None or spec.args.get("kind") != "ROWS"):
            yield f"a window with an order needs a frame of ROWS: {window.sql()}"


def _aliases(tree: exp.Expression, columns_of: Mapping[str, set[str]]) -> Iterator[str]:
    """Aliases that are also columns of what the SELECT reads: engines resolve them differently."""
    known = dict(columns_of)
    for cte in tree.find_all(exp.CTE):
        known[cte.alias] = {e.alias_or_name for e in cte.this.selects}
    for select in tree.find_all(exp.Select):
        inputs = [j.this for j in select.args.get("joins") or ()]
        if select.args.get("from_") or select.args.get("from"):
            inputs.append((select.args.get("from_") or select.args["from"]).this)
        read: set[str] = set()
        for table in inputs:
            if table.name not in known:
                yield f"unknown table {table.name}"
            read |= known.get(table.name, set())
        for picked in select.selects:
            plain = isinstance(picked.unalias(), exp.Column) and picked.unalias().name == picked.alias_or_name
            if picked.alias_or_name in read and not plain:
                yield f"{picked.alias_or_name} is a column of what is read: call it otherwise"


def tables(sql: str) -> set[str]:
    """Names of the tables and views that a SELECT reads."""
    tree = _tree(sql)
    defined = {cte.alias for cte in tree.find_all(exp.CTE)}
    return {table.name for table in tree.find_all(exp.Table)} - defined
