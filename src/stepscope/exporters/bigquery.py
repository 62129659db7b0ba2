"""Exports a lake to a dataset of BigQuery: a load job for each run and table, with the types of schema.sql.

A run is uploaded as one file a table: its small files are merged on the way. A lake that also lies in Cloud
Storage is loaded from there (`files_at`), by the names of its committed files, in hive mode: the parts run=…
and host=… of their paths become columns `run` and `host`.

The table `stepscope_export` tells what is there: a row when the export of a run begins, another when it is
whole. Jobs have names that follow from what they load, and BigQuery runs no job of a name twice; so an export
that was killed goes on where it stopped, and no row is loaded twice.
"""

import hashlib
import importlib
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from stepscope import config
from stepscope.engines import bigquery, rows_of
from stepscope.engines.portable import needed
from stepscope.errors import StepscopeError
from stepscope.exporters import Written
from stepscope.lake import derived_tables, marker_file, reader
from stepscope.lake.reader import Lake, TableFile
from stepscope.lake.schema import schema
from stepscope.session import lake_derivation
from stepscope.session.lake_tables import LakeTables
from stepscope.session.open_trace import OpenTrace
from stepscope.session.table_makers import VERSIONS

_MOST_URIS = 10_000
"""Most files of one load job."""
_ATTEMPTS = 5
"""How often a failed job is started again: each attempt needs another name."""
# Datasets from before the first release lack made_by: see stepscope.lake.marker_file.
_TOLD = (
    ("number", "BIGINT", "order of the rows: the last one of a run is true"),
    ("run_id", "VARCHAR", "the run"),
    ("made_of", "VARCHAR", "digest of its sources"),
    ("whole", "BOOLEAN", "false when its export began, true when it ended"),
    ("made_by", "VARCHAR", "the stepscope that exported it"),
    ("schema_version", "BIGINT", "version of the schema of its tables"),
)


class _Place(NamedTuple):
    """An existing dataset, and the prefix of names of jobs in it."""

    client: Any
    path: str
    location: str
    prefix: str

    def job(self, job_id: str, bound: Any) -> dict[str, Any]:
        """What each job that loads is given: its name, and what it is bound to."""
        return {
            "job_config": bound,
            "job_id": job_id,
            "location": self.location,
            "timeout": bigquery.REQUEST_S,
        }


def write(
    lake: Path,
    dataset: str,
    *,
    files_at: str | None = None,
    client: Any = None,
    progress: Callable[[str], None] | None = None,
) -> Written:
    """Exports the runs of a lake that a dataset lacks, or has in an older state. dataset: PROJECT.DATASET,
    created if missing. files_at: the gs:// address of a copy of the lake. progress: called with the name of
    each run. Returns the rows of each table, of the runs exported now. LakeError for a lake that cannot be
    read; UsageError and QueryError as for the engine."""
    found = reader.open_lake(lake.absolute())
    project, _ = bigquery.split(dataset)
    path = dataset.removeprefix("bigquery://")
    client = client or bigquery.connect(project)
    try:
        place = _dataset(client, path)
        markers = _exported_runs(client, path)
        rows: dict[str, int] = {}
        known = 0
        for run_id, manifests in derived_tables.group_by_run(found.manifests).items():
            digest = derived_tables.digest(manifests)
            run_markers = [marker for marker in markers if marker[1] == run_id]
            begun = _marker_of(run_markers, digest)
            if begun is not None and begun[3]:
                known += 1
                continue
            if progress is not None:
                progress(run_id)
            number = _next(markers) if begun is None else begun[0]
            before = any(run_marker[0] < number for run_marker in run_markers)
            if begun is None:
                markers.append(_tell(place, number, run_id, digest, whole=False))
            if before:
                _delete(place, run_id, f"{number}-{digest}")
            loaded = _load(place, found.only_runs([run_id]), f"{number}-{digest}", files_at)
            rows.update({table: rows.get(table, 0) + count for table, count in loaded})
            markers.append(_tell(place, number, run_id, digest, whole=True))
    except StepscopeError:
        raise
    except Exception as error:
        raise bigquery.failed(error, path) from error
    return Written(f"bigquery://{path}", rows, _notes(known))


def _notes(known: int) -> tuple[str, ...]:
    return (f"{known} {'run was' if known == 1 else 'runs were'} there already",) if known else ()


def _marker_of(
    markers: Sequence[tuple[int, str, str, bool]], digest: str
) -> tuple[int, str, str, bool] | None:
    """The last marker of a run, if it covers the same sources."""
    return markers[-1] if markers and markers[-1][2] == digest else None


def _delete(place: _Place, run_id: str, digest: str) -> None:
    """Deletes the rows of a run."""
    _each(place, [(f"delete-{table}-{digest}", _deleting(place, table, run_id)) for table in schema().names])


def _dataset(client: Any, path: str) -> _Place:
    """Creates the dataset and its tables if they are missing."""
    google = needed("google.cloud.bigquery", "bigquery")
    made = client.create_dataset(path, exists_ok=True, **bigquery.limits())
    for name, about, columns in (
        *(
            (schema_table.name, schema_table.about, [(c.name, c.type, c.about) for c in schema_table.columns])
            for schema_table in schema().tables
        ),
        (bigquery.EXPORTED, "Runs that stepscope exported to this dataset.", list(_TOLD)),
    ):
        table = google.Table(f"{path}.{name}", schema=bigquery.fields(columns))
        table.description = about
        client.create_table(table, exists_ok=True, **bigquery.limits())
    of = hashlib.blake2b(f"{path} {made.created}".encode(), digest_size=8).hexdigest()
    return _Place(client, path, made.location, f"stepscope-{of}")


def _exported_runs(client: Any, path: str) -> list[tuple[int, str, str, bool]]:
    table = client.get_table(f"{path}.{bigquery.EXPORTED}", **bigquery.limits())
    rows = list(client.list_rows(table, **bigquery.limits()))
    for row in rows:
        version, made_by = row["schema_version"], row.get("made_by")
        what, todo, place = "dataset was filled", "export to another dataset", f"bigquery://{path}"
        if made_by is None:
            raise marker_file.unreleased_version(what, version, todo, place)
        if version != schema().version:
            raise marker_file.other_version(what, version, made_by, todo, place)
    return sorted((row["number"], row["run_id"], row["made_of"], row["whole"]) for row in rows)


def _next(markers: Sequence[tuple[int, str, str, bool]]) -> int:
    return max((marker[0] for marker in markers), default=0) + 1


def _tell(place: _Place, number: int, run_id: str, digest: str, *, whole: bool) -> tuple[int, str, str, bool]:
    """Adds a row to the table of exports."""
    google = needed("google.cloud.bigquery", "bigquery")
    bound = google.LoadJobConfig(schema=bigquery.fields(_TOLD), write_disposition="WRITE_APPEND")
    row = {
        "number": number,
        "run_id": run_id,
        "made_of": digest,
        "whole": whole,
        "made_by": marker_file.MADE_BY,
        "schema_version": schema().version,
    }

    def begin(job_id: str) -> Any:
        table = f"{place.path}.{bigquery.EXPORTED}"
        return place.client.load_table_from_json([row], table, **place.job(job_id, bound))

    _each(place, [(f"tell-{number}-{digest}-{'whole' if whole else 'begin'}", begin)])
    return number, run_id, digest, whole


def _deleting(place: _Place, table: str, run_id: str) -> Callable[[str], Any]:
    return lambda job_id: bigquery.delete_run(
        place.client, f"{place.path}.{table}", run_id, job_id=job_id, location=place.location
    )


def _load(place: _Place, lake: Lake, of: str, files_at: str | None) -> Iterator[tuple[str, int]]:
    """Loads the tables of one run; returns their names and rows."""
    google = needed("google.cloud.bigquery", "bigquery")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="stepscope-bigquery-")))
        tables = LakeTables(lake, config.cache_dir(), lake_derivation.rows)
        trace = stack.enter_context(OpenTrace(tables))
        files: dict[str, list[TableFile]] = {}
        for file in lake.files_of():
            files.setdefault(file.table, []).append(file)
        for table in schema().tables:
            table_files = files.get(table.name, [])
            if not table_files and table.name not in VERSIONS:
                continue
            columns = [(c.name, c.type, c.about) for c in table.columns]
            bound = google.LoadJobConfig(
                source_format="PARQUET", schema=bigquery.fields(columns), write_disposition="WRITE_APPEND"
            )
            # Every source brings the row of its run and of its host: those are merged here. Files of which
            # only some rows count are merged here, too.
            as_it_is = table.name not in (*VERSIONS, "run", "host") and not any(
                file.where for file in table_files
            )
            if files_at is not None and as_it_is:
                yield table.name, _load_from_storage(place, table_files, table.name, of, files_at, bound)
                continue
            path = folder / f"{table.name}.parquet"
            count = trace.copy(rows_of(table.name, table.names), str(path), "parquet")
            if count:
                _each(place, [(f"load-{table.name}-{of}", _uploading(place, table.name, path, bound))])
                yield table.name, count
            path.unlink(missing_ok=True)


def _uploading(place: _Place, table: str, path: Path, bound: Any) -> Callable[[str], Any]:
    def begin(job_id: str) -> Any:
        with path.open("rb") as file:
            return place.client.load_table_from_file(
                file, f"{place.path}.{table}", size=path.stat().st_size, **place.job(job_id, bound)
            )

    return begin


def _load_from_storage(
    place: _Place, files: Sequence[TableFile], table: str, of: str, files_at: str, bound: Any
) -> int:
    """Loads the files of a table from a copy of the lake in Cloud Storage; returns the number of rows."""
    google = needed("google.cloud.bigquery", "bigquery")
    hive = google.HivePartitioningOptions()
    hive.mode = "STRINGS"
    hive.source_uri_prefix = f"{files_at.rstrip('/')}/{table}"
    bound.hive_partitioning = hive
    bound.schema_update_options = ["ALLOW_FIELD_ADDITION"]

    def begin_of(uris: list[str]) -> Callable[[str], Any]:
        return lambda job_id: place.client.load_table_from_uri(
            uris,
            f"{place.path}.{table}",
            job_config=bound,
            job_id=job_id,
            location=place.location,
            **bigquery.limits(),
        )

    jobs = []
    for start in range(0, len(files), _MOST_URIS):
        uris = [f"{files_at.rstrip('/')}/{file.path}" for file in files[start : start + _MOST_URIS]]
        jobs.append((f"load-{table}-{start}-{of}", begin_of(uris)))
    _each(place, jobs)
    return sum(file.rows for file in files)


def _each(place: _Place, jobs: Sequence[tuple[str, Callable[[str], Any]]]) -> None:
    """Runs jobs in parallel, each once: a job with a known name was started before, here or elsewhere."""
    running = [(name, begin, _begun(place, name, begin, 1)) for name, begin in jobs]
    for name, begin, first in running:
        job = first
        for attempt in range(2, _ATTEMPTS + 1):
            if _ended_well(job):
                break
            job = _begun(place, name, begin, attempt)
        job.result(timeout=bigquery.JOB_S)


def _ended_well(job: Any) -> bool:
    """Waits for a job; False when it failed, perhaps long ago."""
    exceptions: Any = importlib.import_module("google.api_core.exceptions")
    try:
        job.result(timeout=bigquery.JOB_S)
    except (exceptions.ServerError, exceptions.TooManyRequests):
        return False
    return True


def _begun(place: _Place, name: str, begin: Callable[[str], Any], attempt: int) -> Any:
    exceptions: Any = importlib.import_module("google.api_core.exceptions")
    job_id = f"{place.prefix}-{name}-{attempt}"
    try:
        return begin(job_id)
    except exceptions.Conflict:
        return place.client.get_job(job_id, location=place.location, **bigquery.limits())
