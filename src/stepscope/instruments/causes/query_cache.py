"""Asks a trace about its hosts: a statement once, however many hosts have the same question."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from stepscope.code_lines import is_framework_or_library
from stepscope.engines import Statement
from stepscope.instruments.causes.layers import layer_of_scope
from stepscope.library.statements import Query, statement

QueryRows = list[tuple[Any, ...]]
AskHost = Callable[[str], QueryRows]
"""Rows of a statement about one host."""

_ABOUT_ALL = (
    "computing_ops", "contention", "copying_ops", "eager_ops", "launching_hosts", "scopes_of_ops",
    "storing_ops", "top_kinds_of_ops", "traced_durations",
)  # fmt: skip
"""Statements about every host, whose rows begin with run and host. A fleet has thousands of hosts, and
planning a statement takes longer than answering it for one of them."""
_MOST_NAMES = 1000
"""Names that a statement lists; of more, all ops are looked at."""


class _CachedRows(NamedTuple):
    """Rows that were asked for before."""

    found: QueryRows

    def rows(self) -> QueryRows:
        """All rows."""
        return self.found

    def batches(self) -> Iterator[QueryRows]:
        """All rows at once."""
        yield self.found


class QueryCache:
    """A query that remembers its answers for as long as one judgement takes."""

    def __init__(self, query: Query) -> None:
        self._query = query
        self._rows: dict[Statement, QueryRows] = {}
        self._by_host: dict[str, dict[tuple[str, str], QueryRows]] = {}
        self._lines: dict[str, Mapping[str, str]] = {}
        self._called: dict[tuple[str, str], set[str]] | None = None

    def __call__(self, asked: Statement) -> _CachedRows:
        """The rows of a statement."""
        if asked not in self._rows:
            self._rows[asked] = self._query(asked).rows()
        return _CachedRows(self._rows[asked])

    def host_query(self, run_id: str, host_id: str) -> AskHost:
        """Asks statements about one host by their names."""

        def ask(name: str) -> QueryRows:
            if name not in _ABOUT_ALL:
                return self(statement(name, run_id=run_id, host_id=host_id)).rows()
            return self._rows_by_host(name).get((run_id, host_id), [])

        return ask

    def _rows_by_host(self, name: str) -> dict[tuple[str, str], QueryRows]:
        if name not in self._by_host:
            hosts: dict[tuple[str, str], QueryRows] = defaultdict(list)
            for row in self._query(statement(name)).rows():
                hosts[row[0], row[1]].append(row[2:])
            self._by_host[name] = dict(hosts)
        return self._by_host[name]

    def ops_called_as_layers(self, run_id: str, host_id: str) -> set[str]:
        """Names of ops of a host that compute and are called as a layer of it is."""
        if self._called is None:
            hosts = self._rows_by_host("scopes_of_ops").values()
            layers = {layer for rows in hosts for _, scope, _ in rows if (layer := layer_of_scope(scope))}
            if len(layers) > _MOST_NAMES:
                rows = [(*row[:2], row[4]) for row in self(statement("computing_ops")).rows()]
            else:
                rows = self(statement("ops_called", names=sorted(layers))).rows() if layers else []
            self._called = defaultdict(set)
            for run, host, op in rows:
                if op in layers:
                    self._called[run, host].add(op)
        return self._called.get((run_id, host_id), set())

    def lines_of_ops(self, run_id: str) -> Mapping[str, str]:
        """Lines of the program of a run, by the op or instruction that they made. What several lines made, in
        graphs of their own, is left out."""
        if run_id not in self._lines:
            made = self(statement("lines_of_ops", run_id=run_id)).rows()
            compiled = self(statement("lines_of_instructions", run_id=run_id)).rows()
            found: dict[str, set[str]] = defaultdict(set)
            for op, file, line, *_ in (*made, *compiled):
                if file is not None and line is not None and not is_framework_or_library(file):
                    found[op].add(f"{file}:{line}")
            self._lines[run_id] = {op: lines.pop() for op, lines in found.items() if len(lines) == 1}
        return self._lines[run_id]
