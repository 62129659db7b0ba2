"""BigQuery as the engine: a dataset that a lake was exported to answers the same statements.

Views of the library go along with each statement, as common table expressions: nobody has to make them in
the dataset. Before a query runs, a dry run says how many bytes it reads, which is what it costs. Every
request and every job has a time limit.

The table `stepscope_export` says what was exported, see stepscope.exporters.bigquery. A dataset that
lacks runs of the lake, or has them as they were before, is refused; runs of other lakes are left out.
"""

import contextlib
import importlib
import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from stepscope.engines import Files, Params, Relation, Statement
from stepscope.engines.portable import MEND, Portable, named, needed
from stepscope.errors import LakeError, LimitReached, QueryError, StepscopeError, UsageError

EXPORTED = "stepscope_export"
"""The table of a dataset with one row for each run that was exported, each time."""
REQUEST_S = 60.0
"""How long one request may take, and how long it is tried again."""
JOB_S = 600.0
"""How long a query or load may take."""

_DATASET = re.compile(r"([a-z][a-z0-9.:-]{4,100}[a-z0-9])\.([A-Za-z_][A-Za-z0-9_]{0,200})")


class BigQuery(Portable):
    """stepscope.engines.Engine on BigQuery. Only for lakes that were exported to a dataset."""

    NAME = "BigQuery"
    DIALECT = "bigquery"

    def __init__(
        self,
        dataset: str,
        runs: Mapping[str, str],
        *,
        client: Any = None,
        max_bytes: int | None = None,
        cost: Callable[[int], None] | None = None,
        job_s: float = JOB_S,
    ) -> None:
        """dataset: PROJECT.DATASET. runs: digests of the sources of each run to read, see
        stepscope.lake.derived_tables. max_bytes: LimitReached for a query that reads more. cost: called
        before each query with the bytes that it reads. client: a google.cloud.bigquery.Client.

        UsageError when the package or credentials are missing."""
        super().__init__()
        self.whole_runs = True
        needed("pyarrow", "bigquery")
        needed("sqlglot", "bigquery")
        self.project, self.name = split(dataset)
        self._dataset = dataset
        self._client = connect(self.project) if client is None else client
        self._runs = dict(runs)
        self._max_bytes = max_bytes
        self._cost = cost
        self._job_s = job_s
        self._sql: dict[str, Any] = {}
        """Parsed statements of views that were named, and of tables of which only some rows are wanted."""
        self._others: bool | None = None
        """Whether the dataset has runs that the lake lacks; None before that was looked up."""
        self._running: Any = None

    def make(self, relation: Relation) -> None:
        """Takes a table of the dataset: the rows of the lake's runs, where there are others."""
        if not self._has_others():
            return
        exp: Any = importlib.import_module("sqlglot.expressions")
        table = exp.to_table(f"{self.project}.{self.name}.{relation.name}", dialect="bigquery")
        rows = exp.select(*(exp.column(name, table="every") for name, _ in relation.columns)).from_(
            table.as_("every")
        )
        wanted = [exp.Literal.string(run_id) for run_id in sorted(self._runs)] or [exp.Literal.string("")]
        self._sql[relation.name] = rows.where(exp.column("run_id", table="every").isin(*wanted))

    def register(self, relation: Relation, files: Sequence[Files], rows: Any) -> None:
        """The rows are in the dataset already."""

    def register_view(self, name: str, sql: str) -> None:
        """Nothing is made in the dataset: see written()."""

    def bring(self, names: Collection[str]) -> None:
        """Looks up views, and what they read, for statements that name them."""
        for name in sorted(name.lower() for name in names):
            if name in self._made:
                continue
            if (view := self.views.get(name)) is not None:
                self._made.add(name)
                self._sql[name] = self.parsed(view)
                self.bring(named(self._sql[name]))
            elif name in self.relations:
                self._made.add(name)
                self.make(self.relations[name])

    def written(self, asked: Statement, params: Params = ()) -> str:
        """A statement in GoogleSQL, with the views that it reads."""
        self._check_runs()
        tree = self.bind(self.parsed(asked), params).copy()
        self.bring(named(tree))
        ordered: list[str] = []
        exp: Any = importlib.import_module("sqlglot.expressions")
        cte_names = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
        self._reached(named(tree), ordered)
        if clash := sorted(cte_names & set(ordered)):
            raise QueryError(
                "BigQuery refused the SQL.",
                seen=f"{clash[0]} is a view, and a name of the statement's WITH",
                todo="call it otherwise",
            )
        parts = [_flat(name, self._sql[name].copy()) for name in ordered]
        have = _ctes(tree)
        ctes = [cte for part in parts for cte in part.ctes] + (have.expressions if have else [])
        if ctes:
            # Only the outermost WITH may be recursive, so that those of views become part of it.
            recursive = any(part.recursive for part in parts) or bool(have and have.recursive)
            _set_with(tree, exp.With(expressions=ctes, recursive=recursive))
        return self.worded(tree)

    def _reached(self, names: Collection[str], ordered: list[str]) -> None:
        """Adds views of these names, each after those that it builds on."""
        for name in sorted(names):
            if name in self._sql and name not in ordered:
                if name not in self.relations:
                    self._reached(named(self._sql[name]), ordered)
                ordered.append(name)

    def run(self, sql: str) -> Any:
        """The rows of a SELECT, once a dry run said what it costs."""
        bigquery = needed("google.cloud.bigquery", "bigquery")
        where = f"{self.project}.{self.name}"
        dry = bigquery.QueryJobConfig(default_dataset=where, dry_run=True, use_query_cache=False)
        bound = bigquery.QueryJobConfig(default_dataset=where, job_timeout_ms=int(self._job_s * 1000))
        if self._max_bytes is not None:
            bound.maximum_bytes_billed = self._max_bytes

        def work() -> Any:
            reads = int(self._client.query(sql, dry, **limits()).total_bytes_processed or 0)
            if self._max_bytes is not None and reads > self._max_bytes:
                raise LimitReached(
                    "The query reads more than it may.",
                    seen=f"{reads:,} bytes by a dry run, and --max-bytes {self._max_bytes:,}",
                    todo="name fewer columns, or raise --max-bytes; nothing was read, so nothing is charged",
                )
            if self._cost is not None:
                self._cost(reads)
            self._running = self._client.query(sql, bound, **limits(), job_retry=None)
            rows = self._running.result(timeout=self._job_s, retry=limits()["retry"], job_retry=None)
            return rows.to_arrow(create_bqstorage_client=False)

        return self.guarded(work)

    def interrupt(self) -> None:
        """Cancels the job that runs."""
        if (job := self._running) is not None:
            with contextlib.suppress(Exception):  # it may have ended meanwhile
                job.cancel(**limits())

    def close(self) -> None:
        """Closes connections. Idempotent."""
        self._client.close()

    def _check_runs(self) -> None:
        """LakeError unless the dataset has the runs of the lake as they are."""
        self._has_others()

    def _has_others(self) -> bool:
        if self._others is None:
            exported_runs = self.guarded(lambda: exported(self._client, self._dataset))
            lacking = sorted(run for run, digest in self._runs.items() if exported_runs.get(run) != digest)
            if lacking:
                old = lacking[0] in exported_runs
                raise LakeError(
                    "The dataset does not have what the lake has.",
                    seen=f"{self._dataset} has run {lacking[0]} as it was before"
                    if old
                    else f"{self._dataset} lacks run {lacking[0]}",
                    todo=f"stepscope export LAKE -o bigquery://{self._dataset}",
                    slug="not-exported",
                )
            self._others = bool(exported_runs.keys() - self._runs.keys())
        return self._others

    def failed(self, error: Exception) -> StepscopeError:
        """The error for one of Google's client."""
        return failed(error, self._dataset)


class _Flat(NamedTuple):
    """A view as common table expressions: those of its own WITH, then itself."""

    ctes: list[Any]
    recursive: bool


def _ctes(tree: Any) -> Any:
    return tree.args.get("with_") or tree.args.get("with")


def _set_with(tree: Any, found: Any) -> None:
    tree.set("with_" if "with_" in tree.arg_types else "with", found)


def _flat(name: str, tree: Any) -> _Flat:
    """A view without a WITH of its own: what that named is called after the view, too."""
    exp: Any = importlib.import_module("sqlglot.expressions")
    inner = _ctes(tree)
    ctes = inner.expressions if inner else []
    names = {cte.alias.lower(): f"{name}__{cte.alias.lower()}" for cte in ctes}
    for table in list(tree.find_all(exp.Table)):
        if not table.args.get("db") and (renamed := names.get(table.name.lower())):
            if not table.alias:
                table.set("alias", exp.TableAlias(this=exp.to_identifier(table.name)))
            table.set("this", exp.to_identifier(renamed))
    for cte in ctes:
        cte.args["alias"].set("this", exp.to_identifier(names[cte.alias.lower()]))
    if inner:
        _set_with(tree, None)
    view = exp.CTE(this=tree, alias=exp.TableAlias(this=exp.to_identifier(name)))
    return _Flat([*ctes, view], bool(inner and inner.recursive))


def split(dataset: str) -> tuple[str, str]:
    """Project and name of a dataset. UsageError unless it is PROJECT.DATASET."""
    found = _DATASET.fullmatch(dataset.removeprefix("bigquery://"))
    if found is None:
        raise UsageError(
            "The dataset of BigQuery does not make sense.",
            seen=repr(dataset),
            todo="PROJECT.DATASET, such as my-project.profiles",
        )
    return found[1], found[2]


def limits() -> dict[str, Any]:
    """Time limits of a request, as parameters of Google's client."""
    retry = importlib.import_module("google.cloud.bigquery.retry")
    return {"timeout": REQUEST_S, "retry": retry.DEFAULT_RETRY.with_timeout(REQUEST_S)}


def connect(project: str) -> Any:
    """A client with the credentials of the environment; none for an emulator (BIGQUERY_EMULATOR_HOST).

    UsageError when the package or the credentials are missing."""
    bigquery = needed("google.cloud.bigquery", "bigquery")
    exceptions = importlib.import_module("google.auth.exceptions")
    credentials = None
    if os.environ.get("BIGQUERY_EMULATOR_HOST"):
        credentials = importlib.import_module("google.auth.credentials").AnonymousCredentials()
    try:
        return bigquery.Client(project=project, credentials=credentials)
    except exceptions.GoogleAuthError as error:
        raise _no_credentials(error) from error


def exported(client: Any, dataset: str) -> dict[str, str]:
    """The digest of each run that a dataset has, as it was exported last; of one that is being exported anew,
    or was not exported to its end, an empty one."""
    exceptions = importlib.import_module("google.api_core.exceptions")
    project, name = split(dataset)
    try:
        rows = client.list_rows(client.get_table(f"{project}.{name}.{EXPORTED}", **limits()), **limits())
        markers = [(row["number"], row["run_id"], row["made_of"], row["whole"]) for row in rows]
    except exceptions.NotFound:
        return {}
    return {run: made_of if whole else "" for _, run, made_of, whole in sorted(markers)}


def failed(error: Exception, dataset: str) -> StepscopeError:
    """The error of ours for one of Google's client."""
    text = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
    seen = re.sub(r"^\d{3} (GET|POST|PUT|DELETE) \S+: ", "", text)[:400]
    kind = type(error).__name__
    if "bytes billed" in seen:  # the job is charged for more than the dry run said
        return LimitReached(
            "The query reads more than it may.",
            seen=seen,
            todo="name fewer columns, or raise --max-bytes; nothing is charged",
        )
    if type(error).__module__.startswith("google.auth"):
        return _no_credentials(error)
    if "Timeout" in kind or kind in ("RetryError", "ConnectionError", "ServiceUnavailable"):
        return QueryError(
            "BigQuery did not answer in time.",
            seen=f"{kind}: {seen}",
            todo="try again; what was asked may still run: the console of the project lists its jobs",
            slug="no-bigquery",
        )
    if kind in ("Forbidden", "Unauthorized", "NotFound"):
        return QueryError(
            "BigQuery refuses access.",
            seen=seen,
            todo=f"check that {dataset} is there and that your account may read it and run jobs",
            slug="no-bigquery",
        )
    return QueryError("BigQuery refused the SQL.", seen=seen, todo=MEND)


def _no_credentials(error: Exception) -> UsageError:
    return UsageError(
        "BigQuery needs credentials.",
        seen=str(error).splitlines()[0],
        todo="gcloud auth application-default login, or set GOOGLE_APPLICATION_CREDENTIALS",
        slug="no-bigquery",
    )


_SQL_TYPES = {
    "BIGINT": "INT64",
    "INTEGER": "INT64",
    "DOUBLE": "FLOAT64",
    "VARCHAR": "STRING",
    "BOOLEAN": "BOOL",
}


def fields(columns: Sequence[tuple[str, str, str]]) -> list[Any]:
    """Columns (name, SQL type, meaning) as a schema of BigQuery. All may be NULL: so files say."""
    bigquery = needed("google.cloud.bigquery", "bigquery")
    return [
        bigquery.SchemaField(name, _SQL_TYPES[kind], description=about[:1024])
        for name, kind, about in columns
    ]


def delete_run(client: Any, table: str, run_id: str, **job: Any) -> Any:
    """Begins to delete the rows of a run from a table (PROJECT.DATASET.TABLE); the job. job: its id and
    location."""
    bigquery = needed("google.cloud.bigquery", "bigquery")
    run = bigquery.ScalarQueryParameter("run_id", "STRING", run_id)
    bound = bigquery.QueryJobConfig(query_parameters=[run], job_timeout_ms=int(JOB_S * 1000))
    sql = f"DELETE FROM `{table}` WHERE run_id = @run_id"
    return client.query(sql, bound, **limits(), **job, job_retry=None)
