"""The base of engines that read a lake's committed Parquet and speak another SQL than DuckDB's.

Statements are written once, in DuckDB's words; sqlglot, in a pinned version, writes them for each engine. The
library keeps to a subset that gives the same rows everywhere (a linter holds it to that). What a user writes
is refused where an engine would silently give other values: see `DIFFERS`.

An engine is a subclass of `Portable` that registers tables and views and runs SQL of its own dialect.
"""

import contextlib
import difflib
import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar

from stepscope.engines import (
    Arrow,
    Condition,
    Files,
    Form,
    Params,
    PythonRows,
    Reads,
    Relation,
    Statement,
    Told,
    Work,
    statement,
)
from stepscope.engines.arrow import FetchedRows, arrow_rows
from stepscope.errors import QueryError, StepscopeError, UsageError

T = TypeVar("T")


def needed(name: str, extra: str) -> Any:
    """A package of an optional extra. UsageError, with the command that installs it, when it is missing."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise UsageError(
            f"The engine {extra} needs packages that are not installed.",
            seen=str(error),
            todo=f"pip install 'stepscope[{extra}]'",
            slug="missing-extra",
        ) from error


MEND = "mend the statement; `stepscope docs tables` lists tables"


def differs() -> Mapping[type, str]:
    """Kinds of sqlglot's expressions that other engines answer otherwise, and what to write instead."""
    from sqlglot import exp

    return {
        exp.Unnest: "positions differ between engines",
        exp.Explode: "positions differ between engines",
        exp.Greatest: "NULLs differ: use CASE",
        exp.Least: "NULLs differ: use CASE",
        exp.RegexpExtract: "no match differs",
        exp.RegexpReplace: "first or all differs",
        exp.RegexpLike: "syntax of patterns differs",
        exp.JSONExtract: "use JSON_EXTRACT_STRING on scalars",
        exp.Round: "halves differ",
        exp.IntDiv: "not everywhere: FLOOR a division of doubles, then cast",
        exp.Lambda: "no lambdas",
        exp.Pivot: "use CASE inside the aggregate",
    }


class Portable(ABC):
    """stepscope.engines.Engine over a lake, in another dialect of SQL."""

    NAME = ""
    """What to call it in messages."""
    DIALECT = ""
    """sqlglot's name for its SQL."""

    def __init__(self) -> None:
        self.whole_runs = False
        self._doubt: Callable[[StepscopeError], StepscopeError] = lambda error: error
        self.relations: dict[str, Relation] = {}
        self.views: dict[str, Statement] = {}
        self._made: set[str] = set()
        self._sealed: frozenset[str] | None = None

    def prepare(self, work: Work) -> None:
        """Says what it is made for. Before attach()."""
        self._doubt = work.doubt

    # --- what a subclass does ---

    @abstractmethod
    def register(self, relation: Relation, files: Sequence[Files], rows: Any) -> None:
        """Makes a table of Parquet files, of which only rows that fulfil their conditions count (see
        `fulfils`), and of a pyarrow.Table of more rows. Both may be empty."""

    @abstractmethod
    def register_view(self, name: str, sql: str) -> None:
        """Makes a view of SQL in the engine's own dialect, or remembers it. What it reads is there."""

    @abstractmethod
    def run(self, sql: str) -> Any:
        """The pyarrow.Table that a SELECT in the engine's own dialect gives. QueryError, or another error of
        ours, when it fails."""

    def adapted(self, tree: Any) -> Any:
        """The tree of a statement with what sqlglot does not know of the engine."""
        return tree

    # --- the protocol of engines ---

    def attach(self, relation: Relation) -> None:
        """Makes a table known; its parts are asked for when a query first reads it."""
        self.relations[relation.name] = relation

    def define(self, views: Mapping[str, Statement | str]) -> None:
        """Makes SELECT statements usable by name. A view is made when a query first names it."""
        self.views |= {name: statement(view) for name, view in views.items()}
        self._made -= views.keys()

    def seal(self, paths: Sequence[str] = ()) -> None:
        """Statements name tables and views, and nothing else: see `_checked`."""
        self._sealed = frozenset(paths)

    def reads(self, *statements: Statement) -> Reads | None:
        """Not told: a lake need not know."""
        return None

    def query(self, asked: Statement | str, params: Params = ()) -> FetchedRows:
        """Runs one SELECT. QueryError when it is refused."""
        return FetchedRows(self._table(statement(asked), params))

    def stream(self, asked: Statement | str) -> Arrow:
        """The rows of one SELECT as Arrow. QueryError when it is refused."""
        found: Arrow = self._table(statement(asked))
        return found

    def answers(
        self, asked: Sequence[Statement | str], keep: Sequence[str] = (), progress: Told | None = None
    ) -> list[list[tuple[Any, ...]]]:
        """All rows of each of several SELECTs. keep: views to compute once beforehand. progress: called as
        they are answered."""
        self.keep(keep)
        found = []
        for number, select in enumerate(asked):
            found.append(self.query(select).rows())
            if progress is not None:
                progress(number, number + 1)
        return found

    def keep(self, views: Sequence[str]) -> None:
        """Makes views, each after those it builds on. Engines that can compute them once do so."""
        self.bring(frozenset(views))

    def copy(self, asked: Statement | str, path: str, form: Form) -> int:
        """UsageError: files are written by DuckDB."""
        raise UsageError(
            f"{self.NAME} answers queries, but writes no files.",
            seen=path,
            todo="leave out --engine, since the files of the lake say the same to every engine; rows of a "
            "query can also go to a file that ends in .csv, .json, .md or .ndjson",
        )

    @abstractmethod
    def interrupt(self) -> None:
        """Stops the query that runs, from another thread, where that can be done."""

    @abstractmethod
    def close(self) -> None:
        """Releases what the engine holds. Idempotent."""

    def leave(self) -> None:
        """close(), for a process that ends."""
        self.close()

    # --- statements ---

    def written(self, asked: Statement, params: Params = ()) -> str:
        """A statement in the words of the engine; what it names is there afterwards. QueryError for what the
        engine cannot say, or would answer with other values."""
        tree = self.bind(self.parsed(asked), params)
        self.bring(named(tree) if asked.reads is None else asked.reads.tables)
        return self.worded(tree)

    def bind(self, tree: Any, params: Params) -> Any:
        """A parsed statement with literals for its parameters. QueryError when one has no value."""
        return _filled(tree, params) if params else tree

    def worded(self, tree: Any) -> str:
        """A parsed statement in the words of the engine."""
        errors: Any = importlib.import_module("sqlglot.errors")
        tree = self.adapted(tree)
        try:
            words: str = tree.sql(
                self.DIALECT, unsupported_level=errors.ErrorLevel.RAISE, max_unsupported=999
            )
        except errors.UnsupportedError as error:
            # Windows of other engines have no NULLS LAST; what windows are ordered by is never NULL.
            messages = [line for line in str(error).splitlines() if line and "NULLS LAST" not in line.upper()]
            if messages:
                raise self._refused(
                    "; ".join(messages), "say it in plain SQL, or leave out --engine"
                ) from None
            words = tree.sql(self.DIALECT, unsupported_level=errors.ErrorLevel.IGNORE)
        return words

    def bring(self, names: Collection[str]) -> None:
        """Makes the tables and views of these names; other names are of statements themselves."""
        for name in sorted(name.lower() for name in names):
            if name in self._made or name not in self.views.keys() | self.relations.keys():
                continue
            if (view := self.views.get(name)) is not None:
                self.register_view(name, self.written(view))
            else:
                self.make(self.relations[name])
            self._made.add(name)

    def guarded(self, work: Callable[[], T]) -> T:
        """What work gives. Ctrl-C stops it in the engine, too."""
        try:
            return work()
        except KeyboardInterrupt:
            with contextlib.suppress(Exception):
                self.interrupt()
            raise
        except StepscopeError:
            raise
        except Exception as error:
            raise self.failed(error) from error

    def failed(self, error: Exception) -> StepscopeError:
        """The error for one of the engine's own."""
        return self.refused(str(error))

    def refused(self, message: str) -> StepscopeError:
        """The error for what the engine itself refused."""
        return self._doubt(self._refused(message, MEND))

    def _table(self, asked: Statement, params: Params = ()) -> Any:
        return self.run(self.written(asked, params))

    def make(self, relation: Relation) -> None:
        """Makes a table of the files of the lake."""
        parts = relation.parts()
        files = [part for part in parts if isinstance(part, Files)]
        if self._sealed is not None and not {path for part in files for path in part.paths} <= self._sealed:
            raise ValueError(f"{relation.name} has files that were not there when the lake was opened")
        if any(not isinstance(part, (Files, PythonRows)) for part in parts):
            raise UsageError(
                f"{self.NAME} reads lakes only.",
                seen="recordings that are decoded as they are read",
                todo="ingest them first: stepscope ingest PATH --lake DIR",
                slug="engine-needs-a-lake",
            )
        self.register(relation, files, arrow_rows(relation, parts))

    def fulfils(self, where: Sequence[Condition]) -> str:
        """The conditions that rows of a file must fulfil, in the words of the engine; empty for none."""
        exp: Any = importlib.import_module("sqlglot.expressions")
        found = []
        for condition in where:
            listed = exp.column(condition.column, quoted=True).isin(*map(exp.convert, condition.values))
            found.append(exp.not_(listed) if condition.negated else listed)
        return exp.and_(*found).sql(self.DIALECT) if found else ""

    def parsed(self, asked: Statement) -> Any:
        """The statement, parsed and, where a user wrote it, checked."""
        sqlglot = needed("sqlglot", self.NAME.lower())
        try:
            found = [parsed for parsed in sqlglot.parse(asked.sql, read="duckdb") if parsed is not None]
        except (sqlglot.errors.SqlglotError, RecursionError) as error:
            seen = str(error).splitlines()[0] if str(error) else "too deeply nested"
            raise self._refused(seen, MEND) from None
        if len(found) != 1 or not isinstance(found[0], sqlglot.exp.Query):
            raise self._refused("not one SELECT", "give one SELECT; leave out --engine for others")
        if asked.reads is None:
            self._check(found[0])
        return found[0]

    def _check(self, tree: Any) -> None:
        """QueryError for names of anything but tables and views, and for what gives other values here."""
        exp = importlib.import_module("sqlglot.expressions")
        known = self.views.keys() | self.relations.keys()
        cte_names = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
        for table in tree.find_all(exp.Table):
            plain = isinstance(table.this, exp.Identifier) and not table.args.get("db")
            if not plain or table.name.lower() not in known | cte_names:
                near = difflib.get_close_matches(table.name.lower(), sorted(known), 2)
                hint = f"did you mean {' or '.join(near)}? " if near else ""
                raise self._refused(
                    f"there is no table {table.sql('duckdb')}", f"{hint}`stepscope docs tables` lists all"
                )
        reasons = differs()
        for node in tree.walk():
            if (reason := reasons.get(type(node)) or _unportable(node)) is not None:
                raise self._refused(
                    f"{node.sql('duckdb')}: {reason}", "say it otherwise, or leave out --engine"
                )
            if isinstance(node, exp.Anonymous) and node.name.lower() in _REACHES_OUT:
                raise self._refused(f"{node.name} runs code on the cluster", "leave it out")

    def _refused(self, message: str, todo: str) -> QueryError:
        return QueryError(f"{self.NAME} refused the SQL.", seen=message, todo=todo)


_REACHES_OUT = frozenset({"reflect", "java_method", "try_reflect"})
"""Functions of Spark that run any method of any Java class."""


def _unportable(node: Any) -> str | None:
    """Why what an expression says depends on the engine, for those where it depends on what is in them."""
    exp = importlib.import_module("sqlglot.expressions")
    if isinstance(node, exp.Cast) and node.to.is_type(*exp.DataType.INTEGER_TYPES):
        broken = node.this.find(exp.Div) or any(
            not literal.is_string and "." in literal.this for literal in node.this.find_all(exp.Literal)
        )
        if broken and not isinstance(node.this, (exp.Floor, exp.Ceil)):
            return "rounding differs: FLOOR before the cast"
    if isinstance(node, exp.Substring):
        start = str(node.args.get("start") or "0")
        return None if start.isdigit() and int(start) > 0 else "starts differ: give a number from 1 on"
    return None


def named(tree: Any) -> frozenset[str]:
    """Names of tables and views in a statement; those of its own WITH may be among them."""
    exp = importlib.import_module("sqlglot.expressions")
    return frozenset(table.name.lower() for table in tree.find_all(exp.Table))


def _filled(tree: Any, params: Params) -> Any:
    """The statement with literals for its parameters: $1 or ? by place, $name by name."""
    exp = importlib.import_module("sqlglot.expressions")
    values = (
        {name.lower(): value for name, value in params.items()}
        if isinstance(params, Mapping)
        else {str(number): value for number, value in enumerate(params, 1)}
    )
    tree = tree.copy()
    places = [node for node in tree.walk(bfs=False) if isinstance(node, (exp.Parameter, exp.Placeholder))]
    for number, place in enumerate(places, 1):
        name = place.name.lower()
        name = str(number) if name in ("", "?") else name
        if name not in values:
            raise QueryError("A parameter has no value.", seen=f"${name}", todo="give a value for each")
        place.replace(exp.convert(values[name]))
    return tree
