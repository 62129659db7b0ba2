"""The views of an engine: which of them exist in its database, and what statements read through them."""

import contextlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping

from stepscope.engines import Reads, Statement, statement
from stepscope.engines.duckdb.native import duckdb
from stepscope.engines.duckdb.parser import ParsedSelect, parse
from stepscope.engines.duckdb.tables import quote

Run = Callable[[str], object]
"""Runs a statement."""

_MOST_READS = 500
"""Statements of which an engine remembers what they read: a report asks thirty that share a dozen views."""


class EngineViews:
    """Views by name. One is made when a query first names it."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self._con = con
        self.statements: dict[str, Statement] = {}
        self.made: set[str] = set()
        """Those that exist."""
        self.kept: set[str] = set()
        """Those of them whose rows are stored."""
        self._parsed: dict[str, ParsedSelect] = {}
        self._reads: dict[tuple[Statement, ...], Reads] = {}

    def define(self, views: Mapping[str, Statement | str]) -> None:
        """Makes SELECT statements usable by name."""
        self.statements.update({name: statement(view) for name, view in views.items()})
        self.made -= views.keys()
        self.kept -= views.keys()
        self._reads.clear()

    def reads(self, *statements: Statement) -> Reads | None:
        """What SELECTs read, views followed to their tables; None when the parser cannot tell."""
        if statements in self._reads:
            return self._reads[statements]
        found = Reads(frozenset(), frozenset(), False)
        todo, done = list(statements), set[str]()
        while todo:
            parsed = self._named(todo.pop())
            if parsed is None:
                return None
            todo.extend(self.statements[name] for name in parsed.tables - done if name in self.statements)
            done |= parsed.tables
            # A star over nothing but views asks for no more than the views name.
            star = parsed.star and not (parsed.tables and parsed.tables <= self.statements.keys())
            found = found.joined(parsed._replace(star=star))
        if len(self._reads) < _MOST_READS:
            self._reads[statements] = found
        return found

    def parsed(self, sql: str) -> ParsedSelect:
        """The text of a statement, parsed once."""
        if sql not in self._parsed:
            if len(self._parsed) >= _MOST_READS:
                self._parsed.clear()
            self._parsed[sql] = parse(self._con, sql)
        return self._parsed[sql]

    def _named(self, asked: Statement) -> Reads | None:
        """What a statement names itself."""
        return self.parsed(asked.sql).reads if asked.reads is None else asked.reads

    def needed(self, asked: Statement) -> list[str]:
        """Views that a statement names and that do not exist yet."""
        waiting = self.statements.keys() - self.made
        if not waiting:
            return []
        parsed = self._named(asked)
        return sorted(waiting if parsed is None else parsed.tables & waiting)

    def unmade(self, asked: Statement) -> list[str]:
        """Views that a statement reads and that do not exist yet, each after those it builds on."""
        under = ((*self.unmade(self.statements[name]), name) for name in self.needed(asked))
        return list(dict.fromkeys(itertools.chain.from_iterable(under)))

    def make(self, names: Iterable[str], run: Run) -> None:
        """Creates those of some views that do not exist yet."""
        for name in names:
            if name not in self.made:
                self.made.add(name)
                run(f"CREATE OR REPLACE VIEW {quote(name)} AS {self.statements[name].sql}")

    def store(self, name: str, run: Run) -> None:
        """Stores a view's rows in a table from which it reads them; nothing where they are stored. What the
        view reads is attached already."""
        if name in self.kept:
            return
        view = self.statements[name]
        self.make(self.unmade(view), run)
        self.made.add(name)
        self.kept.add(name)
        table = quote(f"kept {name}")
        run(f"CREATE OR REPLACE TABLE {table} AS {view.sql}")
        run(f"CREATE OR REPLACE VIEW {quote(name)} AS FROM {table}")

    @contextlib.contextmanager
    def unmade_when_it_fails(self) -> Iterator[None]:
        """A view may fail for lack of memory, or because it was stopped. It is made again when a query names
        it."""
        made, kept = set(self.made), set(self.kept)
        try:
            yield
        except BaseException:
            self.made, self.kept = made, kept
            raise
