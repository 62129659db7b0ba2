"""Files asked by SQL, and tables in a connection asked as instruments ask a trace."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb

import stepscope
from stepscope.engines import Arrow, Statement


def ask(path: Path | str | Sequence[Path], sql: str, cache: bool = False) -> list[tuple[Any, ...]]:
    """Rows of a file or a folder, or of some together."""
    paths = [path] if isinstance(path, (str, Path)) else path
    with stepscope.open(*paths, cache=cache) as trace:
        return trace.query(sql).rows()


class Asked:
    """Runs statements: called for rows, `stream` for Arrow."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def __call__(self, asked: Statement) -> Any:
        found = self._connection.cursor().execute(asked.sql)
        return type("Answer", (), {"rows": staticmethod(found.fetchall)})

    def stream(self, asked: Statement) -> Arrow:
        return self._connection.sql(asked.sql)
