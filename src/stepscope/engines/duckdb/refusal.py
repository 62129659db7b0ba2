"""Turns DuckDB's errors into stepscope's, with a guess at what was meant."""

import re
from collections.abc import Mapping

from stepscope.engines.duckdb.native import duckdb
from stepscope.errors import LimitReached, QueryError, StepscopeError

SPILL = "stepscope-spill-"
"""How the names of folders begin to which a query spills what memory does not hold."""
_TABLE = re.compile(r'Table with name "?([^"\s]+)"? does not exist')
_COLUMN = re.compile(
    r'(?:Referenced column|column named|Referenced table) "([^"]+)"|does not have a column named "([^"]+)"'
)
_FUNCTION = re.compile(r"Function with name (\S+) does not exist")
_SUGGESTED = re.compile(r'"([^"]+)"')


def refusal(error: duckdb.Error, known: Mapping[str, tuple[str, ...]]) -> StepscopeError:
    """The error to raise. known: tables and views with their columns."""
    text = str(error)
    first, _, rest = text.partition("\n")
    kind, _, message = first.partition(": ")
    message = (message or kind).strip()
    if isinstance(error, duckdb.InterruptException):
        return QueryError("The query was stopped.", seen="an interrupt", todo="run it again, or ask for less")
    # What does not fit into memory goes to a folder first, which a confined process may not make.
    if isinstance(error, duckdb.OutOfMemoryException) or SPILL in message:
        return LimitReached(
            "The query needs more memory than it may use.",
            seen=message,
            todo="ask for fewer rows or columns, or raise STEPSCOPE_MEMORY_BYTES",
        )
    place = re.search(r"^(LINE \d+: .*)$", rest, re.MULTILINE)
    seen = (
        f"{message} ({place[1].strip()})" if place and isinstance(error, duckdb.ParserException) else message
    )
    return QueryError("DuckDB refused the SQL.", seen=seen, todo=_advice(text, known))


def _advice(text: str, known: Mapping[str, tuple[str, ...]]) -> str:
    if match := _TABLE.search(text):
        near = _suggestion(match[1], known)
        return f"{near}; `stepscope docs tables` lists all" if near else "`stepscope docs tables` lists them"
    if match := _COLUMN.search(text):
        columns = {column for columns in known.values() for column in columns}
        suggested = re.search(r"Candidate bindings: (.*)", text)
        bound = [name.split(".")[-1] for name in _SUGGESTED.findall(suggested[1])] if suggested else []
        wanted = match[1] or match[2]
        near = _suggestion(wanted, {**dict.fromkeys(bound, ()), **dict.fromkeys(sorted(columns), ())})
        return (
            f"{near}; DESCRIBE TABLE_NAME lists the columns of a table"
            if near
            else ("DESCRIBE TABLE_NAME lists the columns of a table")
        )
    if _FUNCTION.search(text):
        suggested = re.search(r"Did you mean (.*)", text)
        return f"did you mean {suggested[1].strip(' ?')}?" if suggested else "DuckDB's manual lists functions"
    if "disabled by configuration" in text or "has been locked" in text:
        return "queries reach no files and no network; give the files as paths of the command"
    return "mend the statement; `stepscope docs tables` lists tables and columns"


def _suggestion(wanted: str, names: Mapping[str, object]) -> str:
    import difflib

    lower = wanted.lower()
    names = {name: None for name in names if name.lower() != lower}
    found = [name for name in names if name.lower().startswith(lower) or lower in name.lower().split("_")]
    found += [name for name in difflib.get_close_matches(lower, names, 3, 0.6) if name not in found]
    return f"did you mean {' or '.join(found[:3])}?" if found else ""
