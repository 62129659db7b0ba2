"""What statements read: tables, attached when one first names them, and views, made then."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from stepscope.engines import Statement
from stepscope.engines.duckdb.native import duckdb
from stepscope.engines.duckdb.needs import KnownNeeds
from stepscope.engines.duckdb.tables import EngineTables, quote
from stepscope.engines.duckdb.views import EngineViews
from stepscope.errors import StepscopeError

if TYPE_CHECKING:
    from stepscope.engines.duckdb import DuckDB


class EngineCatalog:
    """The tables and views of an engine."""

    def __init__(self, engine: DuckDB, con: duckdb.DuckDBPyConnection) -> None:
        self.tables = EngineTables(engine, con)
        self.views = EngineViews(con)
        self.needs = KnownNeeds(self.tables, self.views)
        self._con = con
        self._columns_of_views: dict[str, tuple[str, ...]] = {}
        """For advice."""

    def define(self, views: Mapping[str, Statement | str]) -> None:
        """Makes SELECT statements usable by name."""
        self.views.define(views)
        self.needs.forget(views.keys())

    def answerable(self, statements: Sequence[Statement]) -> tuple[list[Statement], list[Statement]]:
        """Those to ask, and those without rows."""
        reads = self.views.reads(*(select for select in statements if select.needs))
        if reads is not None:
            self.tables.find_parts(sorted(reads.tables & self.tables.relations.keys()))
        empty = [select for select in statements if self.needs.is_empty(select)]
        return [select for select in statements if select not in empty], empty

    def reads_made_tables(self, asked: Statement) -> bool:
        """Whether a statement reads a table that is made by queries over other tables."""
        reads, relations = self.views.reads(asked), self.tables.relations
        tables = relations if reads is None else reads.tables & relations.keys()
        return any(relations[name].asks for name in tables)

    def attach(self, *statements: Statement) -> None:
        """Attaches the tables that statements read."""
        found, relations = self.views.reads(*statements), self.tables.relations
        if found is None:
            text = "\n".join(select.sql for select in statements).lower()
            likely = [name for name, relation in relations.items() if not relation.costly or name in text]
            self.tables.attach(likely, None)
        else:
            self.tables.attach(sorted(found.tables & relations.keys()), None if found.star else found.columns)

    def make_views(self, asked: Statement, refused: Callable[[duckdb.Error], StepscopeError]) -> None:
        """Creates the views that a statement needs, each after those it builds on. Where it is not known what
        it reads: those whose tables are attached."""
        known = self.views.reads(asked) is not None
        for name in self.views.needed(asked):
            if not known and self._lacks_tables(name):
                continue
            with self.views.unmade_when_it_fails():
                try:
                    under = self.views.unmade(self.views.statements[name])
                    self.views.make([*under, name], self._con.execute)
                except duckdb.Error as error:
                    raise refused(error) from error

    def columns(self) -> dict[str, tuple[str, ...]]:
        """The columns of tables and of views that exist, for advice."""
        for name in self.views.made - self._columns_of_views.keys():
            with contextlib.suppress(duckdb.Error):  # a view that does not work has nothing to advise
                described = self._con.execute(f"DESCRIBE {quote(name)}").fetchall()
                self._columns_of_views[name] = tuple(row[0] for row in described)
        return {**dict.fromkeys(self.views.statements, ()), **self._columns_of_views, **self.tables.names()}

    def _lacks_tables(self, view: str) -> bool:
        """Whether a view reads a table that is not attached."""
        reads = self.views.reads(self.views.statements[view])
        return reads is not None and self.tables.waiting(reads.tables)
