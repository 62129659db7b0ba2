"""Asks a trace about its hosts: a statement once, however many hosts have the same question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from stepscope.engines import Statement
from stepscope.library.statements import Query, statement

Rows = list[tuple[Any, ...]]
Asked = Callable[[str], Rows]
"""Rows of a statement about one host."""

_OF_ALL = ("computing_ops", "contention", "traced_durations")
"""Statements about every host, whose rows begin with run and host. A fleet has thousands of hosts, and
planning a statement takes longer than answering it for one of them."""


class _Kept(NamedTuple):
    """Rows that were asked for before."""

    found: Rows

    def rows(self) -> Rows:
        """All rows."""
        return self.found


class Asking:
    """A query that remembers its answers for as long as one judgement takes."""

    def __init__(self, query: Query) -> None:
        self._query = query
        self._known: dict[Statement, Rows] = {}
        self._by_host: dict[str, dict[tuple[str, str], Rows]] = {}

    def __call__(self, asked: Statement) -> _Kept:
        """The rows of a statement."""
        if asked not in self._known:
            self._known[asked] = self._query(asked).rows()
        return _Kept(self._known[asked])

    def of_host(self, run_id: str, host_id: str) -> Asked:
        """Asks statements about one host by their names."""

        def asked(name: str) -> Rows:
            if name not in _OF_ALL:
                return self(statement(name, run_id=run_id, host_id=host_id)).rows()
            return self._of_all(name).get((run_id, host_id), [])

        return asked

    def _of_all(self, name: str) -> dict[tuple[str, str], Rows]:
        if name not in self._by_host:
            hosts: dict[tuple[str, str], Rows] = defaultdict(list)
            rows: Sequence[tuple[Any, ...]] = self._query(statement(name)).rows()
            for row in rows:
                hosts[row[0], row[1]].append(row[2:])
            self._by_host[name] = dict(hosts)
        return self._by_host[name]
