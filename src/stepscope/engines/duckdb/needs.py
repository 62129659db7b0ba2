"""Which of the rows that statements need there are.

Planning a statement of the library takes longer than answering it, and half of those that a report asks have
no rows. One look at the small tables says so of most of them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable
from functools import partial
from typing import TYPE_CHECKING

from stepscope.engines import NeededRows, Statement, are_unmet
from stepscope.engines.duckdb.native import duckdb
from stepscope.engines.duckdb.tables import EngineTables, quote
from stepscope.engines.duckdb.views import EngineViews

if TYPE_CHECKING:
    from collections.abc import Callable

    from stepscope.engines.duckdb.statement_threads import Run


class KnownNeeds:
    """Needs of which it is known whether there are such rows."""

    def __init__(self, tables: EngineTables, views: EngineViews) -> None:
        self._tables, self._views = tables, views
        self._met: dict[NeededRows, bool] = {}

    def is_empty(self, asked: Statement) -> bool:
        """Whether a statement is known to have no rows."""
        return are_unmet(asked.needs, self._is_unmet)

    def _is_unmet(self, need: NeededRows) -> bool:
        return self._tables.lacks(need.table) or self._met.get(need) is False

    def looking(self, statements: Iterable[Statement], keep: Iterable[str] = ()) -> Callable[[Run], None]:
        """What looks for the rows that statements need, in tables and views whose rows are few. keep: views
        that will be stored by then."""
        few = self._views.kept.union(self._tables.short(), keep)
        every = {need for asked in statements for clause in asked.needs for need in clause}
        wanted: dict[str, list[NeededRows]] = {}
        for need in sorted(every - self._met.keys()):
            if need.table in few and not self._tables.lacks(need.table):
                wanted.setdefault(need.table, []).append(need)
        return partial(self._look, wanted)

    def _look(self, wanted: dict[str, list[NeededRows]], run: Run) -> None:
        if not wanted:
            return
        selects = (
            f"SELECT '{table}', [{', '.join(map(_found, needs))}] FROM {quote(table)}"
            for table, needs in wanted.items()
        )
        # What cannot be looked for is left to the statements, which say what is wrong.
        with contextlib.suppress(duckdb.Error):
            for table, found in run(" UNION ALL ".join(selects)):
                self._met.update(zip(wanted[table], found, strict=True))

    def forget(self, tables: Collection[str]) -> None:
        """Tables or views have other rows from now on."""
        self._met = {need: met for need, met in self._met.items() if need.table not in tables}


def _found(need: NeededRows) -> str:
    return f"COALESCE(BOOL_OR({need.where}), false)" if need.where else "COUNT(*) > 0"
