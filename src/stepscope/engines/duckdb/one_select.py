"""The check that a query is one SELECT."""

from collections.abc import Callable

from stepscope.engines.duckdb.native import duckdb
from stepscope.engines.duckdb.parser import ParsedSelect
from stepscope.errors import QueryError, StepscopeError, UsageError


def check_select(
    con: duckdb.DuckDBPyConnection,
    sql: str,
    parsed: Callable[[str], ParsedSelect],
    refused: Callable[[duckdb.Error], StepscopeError],
) -> None:
    """Refuses anything but one SELECT, or DESCRIBE, SHOW or EXPLAIN of one. parsed: parses a statement.
    refused: makes our error of one that DuckDB raised."""
    try:
        statements = con.extract_statements(sql)
    except duckdb.Error as error:
        raise refused(error) from error
    if len(statements) > 1 and not any(part.query for part in statements):
        return  # PIVOT to DuckDB 1.5: what it makes of a statement has no text of its own
    if len(statements) != 1:
        raise UsageError(
            "A query is one statement.",
            seen=f"{len(statements)} statements",
            todo="run them one after the other",
        )
    try:
        kind = statements[0].type.name
    except ValueError:  # one that DuckDB's Python package has no name for, such as UPDATE EXTENSIONS
        kind = "unknown"
    if kind == "EXPLAIN":
        inner = sql.split(None, 1)[1] if len(sql.split(None, 1)) > 1 else ""
        inner = inner[len("analyze") :] if inner.lower().startswith("analyze") else inner
        if not inner.lstrip().startswith("("):
            check_select(con, inner, parsed, refused)
            return
    kind = parsed(sql).change or kind
    # PIVOT is several statements to DuckDB 2, and one to its user.
    if kind not in ("SELECT", "MULTI"):
        raise QueryError(
            "Queries only read.",
            seen=f"a statement of kind {kind}",
            todo="use SELECT; `stepscope export` writes rows to files",
        )
