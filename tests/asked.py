"""Tables in a connection, asked as instruments ask a trace."""

from __future__ import annotations

from typing import Any

import duckdb

from stepscope.engines import Arrow, Statement


class Asked:
    """Runs statements: called for rows, `stream` for Arrow."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def __call__(self, asked: Statement) -> Any:
        found = self._connection.cursor().execute(asked.sql)
        return type("Answer", (), {"rows": staticmethod(found.fetchall)})

    def stream(self, asked: Statement) -> Arrow:
        return self._connection.sql(asked.sql)
