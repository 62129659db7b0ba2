"""Rows of a query: to loop over, to look at, and to hand on to data frames."""

from __future__ import annotations

import importlib
import io
import sys
from collections import namedtuple
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

from stepscope import units
from stepscope.errors import StepscopeError, UsageError
from stepscope.escapes import Visible
from stepscope.objects.page import Page
from stepscope.presenters import brief, embedded
from stepscope.presenters.answers import scaled
from stepscope.presenters.plain import plain
from stepscope.presenters.rows import distinct, human, write_table
from stepscope.report import Column, Table

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from stepscope.engines import QueryResult as Rows

_SHOWN = 20
"""Rows of a result that its repr shows."""
_IN_HTML = 200
_SHOWN_IN_HTML = 10
_WIDE = 100


class Result:
    """The rows of a query or an analysis. They are fetched when they are first needed, and kept.

    >>> import stepscope
    >>> trace = stepscope.open("tests/samples/tf_data/map_py_function.xplane.pb")
    >>> found = trace.query("SELECT name, dur_ps FROM slice ORDER BY dur_ps DESC, name")
    >>> found.columns
    ('name', 'dur_ps')
    >>> len(found) > 1000
    True
    >>> for row in found[:2]:
    ...     print(row.name, row.dur_ps)
    train 46993471000
    train 46927893000

    A row is a named tuple; `found["dur_ps"]` is a column as a list. `found.df()`, `found.pl()` and
    `found.arrow()` are data frames of pandas, Polars and PyArrow; any library that reads Arrow takes the
    result itself. `found.show(100)` prints rows.
    """

    def __init__(
        self,
        rows: Rows | None,
        *,
        table: Table | None = None,
        fields: Sequence[Column] | None = None,
        sql: str = "",
        title: str = "",
        is_open: Callable[[], bool] = lambda: True,
    ) -> None:
        """rows: what an engine gives; or table: rows that are there. fields: what is known of the columns'
        units. is_open: whether rows can still be fetched."""
        assert (rows is None) != (table is None)
        self._source = rows
        self._is_open = is_open
        self._kept: list[tuple[Any, ...]] = [] if table is None else list(table.rows)
        self._handed_out = False
        self._kind: Callable[..., Any] | None = None
        self.fields = tuple(fields) if fields is not None else table.columns if table is not None else None
        """Columns with unit, heading and meaning, where the library knows them; None for SQL of your own."""
        self.columns: tuple[str, ...] = (
            rows.columns if rows is not None else tuple(c.name for c in self.fields or ())
        )
        """Names of the columns."""
        self.types: tuple[str, ...] = (
            rows.types if rows is not None else tuple(_SQL_TYPES[c.unit] for c in self.fields or ())
        )
        """SQL types of the columns."""
        self.sql = sql
        """The statement that was run."""
        self.title = title

    # --- rows ------------------------------------------------------------------------------------

    def rows(self) -> list[tuple[Any, ...]]:
        """All rows as plain tuples; after `batches()`, those that are left.

        Times are integer picoseconds, sizes bytes, shares 0 to 1. UsageError when the trace was closed before
        they were read.
        """
        self._fetch(None)
        return list(self._kept)

    def batches(self, size: int = 10_000) -> Iterator[list[tuple[Any, ...]]]:
        """The rows in lists of at most `size`, once, for results that are larger than memory."""
        self._handed_out = True
        while True:
            if self._kept:  # fetched before, or because another query needed the engine
                batch, self._kept = self._kept[:size], self._kept[size:]
            elif self._source is None:
                return
            else:
                self._check()
                batch = next(self._source.batches(size), [])
                if not batch:
                    self._source = None
                    return
            yield batch

    def __iter__(self) -> Iterator[Any]:
        """The rows, from the first one, as named tuples."""
        at = 0
        while True:
            if at >= len(self._kept):
                self._fetch(at + 1_000)
                if at >= len(self._kept):
                    return
            yield self._named(self._kept[at])
            at += 1

    def __len__(self) -> int:
        """How many rows there are; all of them are fetched."""
        self._fetch(None)
        return len(self._kept)

    def __bool__(self) -> bool:
        """Whether there is a row."""
        self._fetch(1)
        return bool(self._kept)

    @overload
    def __getitem__(self, which: int) -> Any: ...
    @overload
    def __getitem__(self, which: slice) -> list[Any]: ...
    @overload
    def __getitem__(self, which: str) -> list[Any]: ...
    def __getitem__(self, which: int | slice | str) -> Any:
        """A row by its number, rows by a slice, or a column by its name as a list."""
        if isinstance(which, str):
            if which not in self.columns:
                raise UsageError(
                    f"The result has no column {which}",
                    seen=f"columns: {', '.join(self.columns)}",
                    todo=_similar(which, self.columns) or "choose one of them",
                )
            self._fetch(None)
            at = self.columns.index(which)
            return [row[at] for row in self._kept]
        if isinstance(which, slice):
            self._fetch(None)
            return [self._named(row) for row in self._kept[which]]
        self._fetch(which + 1 if which >= 0 else None)
        return self._named(self._kept[which])

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.columns)

    # --- for other libraries ---------------------------------------------------------------------

    def df(self) -> pandas.DataFrame:
        """A data frame of pandas. Whole numbers stay exact: a column with NULL has the type Int64."""
        pandas = _library("pandas", "a data frame of pandas")
        self._fetch(None)
        series = {}
        for at, name in enumerate(distinct(self.columns)):
            values = [row[at] for row in self._kept]
            series[name] = pandas.Series(values, dtype=_pandas_type(values))
        return pandas.DataFrame(series)

    def pl(self) -> polars.DataFrame:
        """A data frame of Polars."""
        polars = _library("polars", "a data frame of Polars")
        return polars.DataFrame(self)

    def arrow(self) -> pyarrow.Table:
        """A table of PyArrow."""
        pyarrow = _library("pyarrow", "a table of PyArrow")
        return pyarrow.table(self)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows for any library that reads Arrow, without one on this side.

        Whole numbers are int64, or decimals where they are larger; lists, structs and intervals are JSON
        text.
        """
        from stepscope.objects import arrow

        self._fetch(None)
        columns: list[Sequence[Any]] = list(zip(*self._kept, strict=True)) or [()] * len(self.columns)
        return arrow.stream(distinct(self.columns), self.types, columns, len(self._kept))

    # --- for people ------------------------------------------------------------------------------

    def show(self, rows: int = _SHOWN) -> None:
        """Prints the first rows as a table, with units where the columns are those of an analysis."""
        out = Visible(sys.stdout, styles=False) if sys.stdout.isatty() else sys.stdout
        out.write(self._text(rows))

    def __repr__(self) -> str:
        columns = f"<stepscope result: columns {', '.join(self.columns)}"
        if self._handed_out:
            return f"{columns}; its rows were handed out in batches>"
        if self._source is not None and not self._kept and not self._is_open():
            return f"{columns}; the trace was closed before they were read>"
        return self._text(_SHOWN).rstrip("\n")

    def page(self) -> Page:
        """The first 200 rows as a page for a notebook, which sorts and filters them."""
        table = self._table(_IN_HTML)
        return Page(
            plain(self.title, 200) or "rows",
            embedded.table_frame(self.title, table, self._more(len(table.rows))),
        )

    def _repr_html_(self) -> str:
        table = self._table(_SHOWN_IN_HTML)
        return brief.table_block(self.title, table, self._more(len(table.rows)), "_.page()")

    def _table(self, most: int) -> Table:
        """The first rows, under the names that SQL has for their columns."""
        head = self._head(most)
        fields = self.fields
        if fields is None:  # values as SQL gives them, under the names that SQL has for them
            numbers = [_is_number(row[i] for row in head) for i in range(len(self.columns))]
            fields = tuple(
                Column(name, "int" if number else "text", name)
                for name, number in zip(self.columns, numbers, strict=True)
            )
            head = [
                tuple(v if isinstance(v, int) and n else human(v) for v, n in zip(row, numbers, strict=True))
                for row in head
            ]
        else:
            fields = tuple(Column(c.name, c.unit, c.name, c.about) for c in fields)
        total = len(self._kept) if self._source is None else len(head)
        return Table(fields, tuple(head), total)

    def _text(self, most: int) -> str:
        out = io.StringIO()
        head = self._head(most)
        if self.fields is None:
            shown = write_table(self.columns, head, out, width=_WIDE)
        else:
            scaled_head = scaled(self.fields, head)
            shown = write_table(
                scaled_head.titles, scaled_head.rows, out, width=_WIDE, right=scaled_head.right
            )
        remarks = [self._more(len(head))]
        if shown.columns_left_out:
            remarks.append(f"{units.count(shown.columns_left_out, 'column')} found no room")
        remarks = [remark for remark in remarks if remark]
        return out.getvalue() + (f"({'; '.join(remarks)})\n" if remarks else "")

    def _more(self, shown: int) -> str:
        """What is said below the first rows."""
        if not shown:
            return "no rows"
        if self._source is not None:
            return f"the first {shown:,} rows; there are more"
        if len(self._kept) > shown:
            return f"the first {shown:,} of {len(self._kept):,} rows"
        return units.count(shown, "row")

    # --- fetching --------------------------------------------------------------------------------

    def _head(self, most: int) -> list[tuple[Any, ...]]:
        self._fetch(max(most + 1, 1_000))  # few enough rows to say how many there are
        return self._kept[:most]

    def _fetch(self, least: int | None) -> None:
        """Keeps at least so many rows, or all of them."""
        if self._source is None or (least is not None and len(self._kept) >= least):
            return
        self._check()
        if least is None:
            self._kept += self._source.rows()
            self._source = None
            return
        while self._source is not None and len(self._kept) < least:
            batch = next(self._source.batches(max(least - len(self._kept), 1_000)), [])
            self._kept += batch
            if not batch:
                self._source = None

    def finish(self) -> None:
        """Fetches what is left, because the engine is needed for something else."""
        if self._source is not None and self._is_open():
            self._kept += self._source.rows()
            self._source = None

    def _check(self) -> None:
        if not self._is_open():
            raise UsageError(
                "The trace was closed before its rows were read",
                seen=f"a result with the columns {', '.join(self.columns)}",
                todo="read the rows within the `with` block, or do not close the trace",
            )

    def _named(self, row: tuple[Any, ...]) -> Any:
        if self._kind is None:
            self._kind = namedtuple("Row", self.columns, rename=True)  # type: ignore[misc]
        return self._kind(*row)


_SQL_TYPES = {
    "text": "VARCHAR", "bool": "BOOLEAN", "ps": "BIGINT", "bytes": "BIGINT", "int": "BIGINT",
    "unix_ns": "BIGINT", "ratio": "DOUBLE", "float": "DOUBLE", "flop": "DOUBLE",
}  # fmt: skip


def _library(name: str, what: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise StepscopeError(
            f"Making {what} needs {name}",
            seen=f"it cannot be imported: {error}",
            todo=f"pip install {name}; rows() and loops need nothing",
            slug="not-installed",
        ) from error


def _pandas_type(values: Sequence[Any]) -> str | None:
    """The type of a column in which no value changes: pandas would turn integers with NULL into floats."""
    classes = {value.__class__ for value in values if value is not None}
    if classes == {int}:
        low, high = min(v for v in values if v is not None), max(v for v in values if v is not None)
        if low >= -(1 << 63) and high < 1 << 63:
            return "Int64" if None in values else "int64"
        return "object"
    if classes == {bool}:
        return "boolean" if None in values else "bool"
    return "object" if not classes and values else None


def _is_number(values: Iterator[Any]) -> bool:
    kinds = {type(value) for value in values if value is not None}
    return bool(kinds) and kinds <= {int, float}


def _similar(word: str, known: Sequence[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(word, known, 1)
    return f"did you mean {near[0]}?" if near else ""
