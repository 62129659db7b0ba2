"""`stepscope.open()` and the Trace that it returns."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from stepscope import library, units
from stepscope.errors import UsageError
from stepscope.objects.answers import Answer, Finding, Findings
from stepscope.objects.report_views import Memory, Pipeline, Summary, WhatIf
from stepscope.objects.result import Result
from stepscope.presenters import brief
from stepscope.presenters.frame import VIEWS
from stepscope.presenters.plain import plain
from stepscope.report import Column, Table, build, memory_answer, pipeline, whatif_request
from stepscope.session import trace as session

if TYPE_CHECKING:
    from stepscope.engines import Engine, Form, Params, Statement
    from stepscope.lake.rows import SourceRow
    from stepscope.lake.schema import Schema
    from stepscope.objects.widget import View
    from stepscope.report import Report
    from stepscope.session.schedule import Progress
    from stepscope.sources.source import Skipped, Source

Path = str | PathLike[str]


class Trace:
    """Recordings opened together. `stepscope.open()` makes one.

    >>> import stepscope
    >>> trace = stepscope.open("tests/samples/capture/slow_map")
    >>> trace
    <stepscope.Trace of tests/samples/capture/slow_map: 2 sources>
    >>> trace.answer.cause
    'input'
    >>> [row.op_type for row in trace.analysis("op_types")]
    ['PyFunc', 'Cast', 'Sum']
    >>> trace.query("SELECT count(*) AS slices FROM slice")[0].slices
    2334

    Everything is computed when it is first asked for. `close()`, or the end of a `with` block, lets go of
    files and memory.
    """

    def __init__(
        self, opened: session.OpenTrace, again: Callable[[], session.OpenTrace], twice: bool
    ) -> None:
        """opened: the recordings, which this object closes. again: opens the same once more, for another
        thread. twice: that is cheap, as with a cache or a lake."""
        self._opened = opened
        self._again, self._twice = again, twice
        self._last: weakref.ref[Result] | None = None
        self._reports: dict[bool, Report] = {}

    # --- what was opened -------------------------------------------------------------------------

    @property
    def sources(self) -> tuple[Source | SourceRow, ...]:
        """What is read, in the order of source_id."""
        return self._opened.sources

    @property
    def given(self) -> tuple[str, ...]:
        """The paths, or the lake, that open() was given."""
        return self._opened.given

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """What was found but not read, and why."""
        return self._opened.skipped

    @property
    def schema(self) -> Schema:
        """The tables and columns that query() knows."""
        return self._opened.schema

    def interrupt(self) -> None:
        """Stops what runs, from another thread: a query ends with QueryError, decoding with
        KeyboardInterrupt. The next query begins anew."""
        self._opened.interrupt()

    def close(self) -> None:
        """Releases files, memory and the engine."""
        self._opened.close()

    def __enter__(self) -> Trace:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    # --- what the command line shows -------------------------------------------------------------

    def summary(self, *, all: bool = False) -> Summary:
        """Where the time went, why, and what to do: what `stepscope PATH` prints.

        all: every section and many more rows, as with `--all`.

        >>> import stepscope
        >>> summary = stepscope.open("tests/samples/capture/slow_map").summary()
        >>> summary.title
        'slow_map: 1 run, 1 host, 16 steps'
        """
        return Summary(self._report(all))

    @property
    def answer(self) -> Answer | None:
        """What takes most of a step. None where nothing can be said, or where several runs have one each: the
        summary has them all."""
        found = self._report().document.get("answer")
        return None if found is None else Answer(found, self._report().headline)

    @property
    def findings(self) -> Findings:
        """The problems that the data shows, the worst first."""
        return Findings(Finding(finding) for finding in self._report().findings)

    @property
    def steps(self) -> Result:
        """The steps, a row each: the analysis `step_list`."""
        return self.analysis("step_list")

    def pipeline(self) -> Pipeline:
        """The tf.data pipeline, or the DataLoaders: what `stepscope pipeline` prints. False in an `if` where
        there is none.

        >>> import stepscope
        >>> pipeline = stepscope.open("tests/samples/capture/slow_map").pipeline()
        >>> print(pipeline.data["verdict"])
        input_bound
        """
        return Pipeline(pipeline.build(*pipeline.read(self._session().query)))

    def memory(self) -> Memory:
        """The memory peak, what holds it, and what would lower it: what `stepscope memory` prints. False in
        an `if` where nothing is known."""
        return Memory(memory_answer.build(self._session()))

    def whatif(
        self,
        without: str | None = None,
        *,
        ops: Mapping[str, float] | None = None,
        workers: int | None = None,
    ) -> WhatIf:
        """What a step would take after a change: what `stepscope whatif` prints.

        without: a cause, such as `python`; with no change at all, what limits the steps. ops: the part that
        is left of the time of ops, by type or name. workers: threads of the stage that limits the input.

        >>> import stepscope
        >>> found = stepscope.open("tests/samples/capture/slow_map").whatif("dispatch")
        >>> at_least_ps, at_most_ps = found.bounds_ps
        >>> at_least_ps < found.recorded_ps, at_most_ps
        (True, None)

        UsageError for a cause that there is not, NothingFound where no steps can be replayed.
        """
        words = [f"{name}={left}" for name, left in (ops or {}).items()]
        asked = whatif_request.WhatIfRequest.of(without, words, workers)
        return WhatIf(whatif_request.answer(self._session(), asked, " ".join(self.given)))

    def view(self, name: str = "overview", *, height: int = 640) -> View:
        """The page of `stepscope serve` as a widget of a notebook, beginning with a view: overview, timeline,
        ops, pipeline, memory, model, graph or compare. All of it but the editor of SQL works there.

        height: pixels. Needs `pip install "stepscope[notebook]"`. Other objects draw themselves without.
        """
        if name not in VIEWS:
            raise UsageError(
                f"The page has no view {name}", seen=repr(name), todo=f"choose one of {', '.join(VIEWS)}"
            )
        try:
            from stepscope.objects.widget import View
        except ModuleNotFoundError as missing:
            if (missing.name or "").partition(".")[0] not in ("anywidget", "traitlets", "starlette"):
                raise
            raise UsageError(
                "Widgets need more packages",
                seen=f"no module {missing.name}",
                todo="pip install 'stepscope[notebook]', then restart the kernel",
            ) from missing
        return View(self._again, ", ".join(self.given), name, height, twice=self._twice)

    # --- questions -------------------------------------------------------------------------------

    def query(self, sql: str | Statement, params: Params = ()) -> Result:
        """Runs one SELECT, or the analysis that @NAME names.

        >>> import stepscope
        >>> trace = stepscope.open("tests/samples/capture/slow_map")
        >>> trace.query("SELECT op, dur_ps FROM op_slice WHERE dur_ps > $1", [10**11]).rows()
        []
        >>> trace.query("@op_types").columns[0]
        'op_type'

        QueryError when the SQL is refused, UnreadableSource when nothing can be decoded.
        """
        if isinstance(sql, str) and sql.lstrip().startswith("@"):
            return self.analysis(sql.strip()[1:].rstrip("; \n"))
        text = sql if isinstance(sql, str) else sql.sql
        return self._kept(Result(self._session().query(sql, params), sql=text, is_open=self._is_open))

    def analysis(self, name: str, **filters: Any) -> Result:
        """Runs an analysis or a finding of the library; `stepscope docs analyses` lists them.

        filters: values of columns to keep, each one value, several, or a function that tells.

        >>> import stepscope
        >>> trace = stepscope.open("tests/samples/capture/slow_map")
        >>> [row.op_type for row in trace.analysis("op_types", self_ps=lambda ps: ps > 10**9)]
        ['PyFunc']
        >>> [row.op_type for row in trace.analysis("op_types", op_type=["Sum", "Cast"])]
        ['Cast', 'Sum']
        """
        entry = library.named(name)
        fields = tuple(Column(f.name, f.unit, f.title, f.about) for f in entry.columns)  # type: ignore[arg-type]
        for column in filters:
            _check_column(column, entry)
        rows = self._session().ask(entry)
        if not filters:
            result = Result(rows, fields=fields, sql=entry.sql, title=entry.title, is_open=self._is_open)
            return self._kept(result)
        tests = [(rows.columns.index(column), _test(value)) for column, value in filters.items()]
        kept = tuple(row for row in rows.rows() if all(test(row[at]) for at, test in tests))
        return Result(None, table=Table(fields, kept, len(kept)), sql=entry.sql, title=entry.title)

    def define(self, views: Mapping[str, str | Statement]) -> None:
        """Makes SELECT statements usable by name in query()."""
        self._session().define(views)

    def copy(self, sql: str | Statement, path: str, form: Form) -> int:
        """Writes a query's rows to a file; returns their number. form: "parquet", "csv", "ndjson", or "text"
        for one column of text, written as it is.

        OutputError when the file cannot be written.
        """
        return self._session().copy(sql, path, form)

    # --- how it looks ----------------------------------------------------------------------------

    def __repr__(self) -> str:
        given = ", ".join(plain(name, 120) for name in self.given[:3])
        more = f" and {len(self.given) - 3} more" if len(self.given) > 3 else ""
        closed = "" if self._opened.is_open else "; closed"
        return f"<stepscope.Trace of {given}{more}: {units.count(len(self.sources), 'source')}{closed}>"

    def _repr_html_(self) -> str:
        return brief.report_block(self._report(), "_.view()")

    def __dir__(self) -> Iterable[str]:
        return [name for name in super().__dir__() if not name.startswith("_")]

    # --- within ----------------------------------------------------------------------------------

    def _report(self, all: bool = False) -> Report:
        if all not in self._reports:
            self._reports[all] = build(self._session(), all=all)
        return self._reports[all]

    def _is_open(self) -> bool:
        return self._opened.is_open

    def _kept(self, result: Result) -> Result:
        """The result, which is read to its end before the next question."""
        self._last = weakref.ref(result)
        return result

    def _session(self) -> session.OpenTrace:
        """What answers the next question. The last result is read to its end where somebody still has it: the
        question may need another engine, and the rows of this one would be gone."""
        last = None if self._last is None else self._last()
        if last is not None:
            last.finish()
        self._last = None
        return self._opened


def open(
    *paths: Path | Collection[Path],
    cache: bool = True,
    lake: Path | None = None,
    run: str | None = None,
    host: str | None = None,
    progress: Progress | None = None,
    engine: Callable[[], Engine] | None = None,
    runs: Collection[str] | None = None,
    hosts: Collection[str] | None = None,
) -> Trace:
    """Opens files, folders, archives, "-" or a lake, each a path or a list of paths, as one Trace.

    >>> import stepscope
    >>> stepscope.open("tests/samples/capture/slow_map")
    <stepscope.Trace of tests/samples/capture/slow_map: 2 sources>
    >>> len(stepscope.open(["tests/samples/profiler_hook/timeline-5.json", "tests/samples/chrome"]).sources)
    9

    cache: keep what is decoded in the user's cache folder, keyed by content; False answers from memory
    and keeps nothing. lake: a lake to read instead of paths. run, host: names to use instead of those
    found. engine: makes what answers SQL, in place of DuckDB (see stepscope.engines). runs, hosts: ids of
    those of a lake to read; whatever else it has is ignored. Decoding happens at the first query.
    NothingFound when there is no recording under the paths.
    """
    given = list(flat(paths))
    if not given and lake is None:
        raise UsageError("There is no path to open", seen="no path and no lake", todo="stepscope.open(PATH)")
    only = session.Only(runs, hosts)
    again = partial(
        session.open, *given, cache=cache, lake=lake, run=run, host=host, engine=engine, only=only
    )
    opened = session.open(
        *given, cache=cache, lake=lake, run=run, host=host, progress=progress, engine=engine, only=only
    )
    return Trace(opened, again, twice=cache or lake is not None)


def flat(paths: Iterable[Path | Collection[Path]]) -> Iterator[str]:
    """Paths, and those in lists of them, as text. UsageError for what is neither."""
    for path in paths:
        if isinstance(path, (str, PathLike)):
            yield fspath(path)
        elif isinstance(path, Iterable) and not isinstance(path, (bytes, Mapping)):
            yield from flat(path)
        else:
            raise UsageError(
                f"{type(path).__name__} is no path",
                seen=repr(path)[:80],
                todo="give text or a pathlib.Path, or a list of them",
            )


def _check_column(column: str, entry: library.Entry) -> None:
    from difflib import get_close_matches

    names = [field.name for field in entry.columns]
    if column not in names:
        near = get_close_matches(column, names, 1)
        raise UsageError(
            f"{entry.name} has no column {column} to filter by",
            seen=f"columns: {', '.join(names)}",
            todo=f"did you mean {near[0]}?" if near else "choose one of them",
        )


def _test(value: Any) -> Callable[[Any], bool]:
    """Whether a value of a column is wanted."""
    if callable(value):
        wanted: Callable[[Any], Any] = value
        return lambda found: found is not None and bool(wanted(found))
    if isinstance(value, (list, tuple, set, frozenset, range)):
        return lambda found: found in value
    return lambda found: bool(found == value)
