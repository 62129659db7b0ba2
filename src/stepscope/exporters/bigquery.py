"""Exports a lake to a dataset of BigQuery: a load job for each run and table, with the types of schema.sql.

A run is uploaded as one file a table: its small files are merged on the way. A lake that also lies in Cloud
Storage is loaded from there (`files_at`), by the names of its committed files, in hive mode: the parts run=…
and host=… of their paths become columns `run` and `host`.

The table `stepscope_export` tells what is there: a row when the export of a run begins, another when it is
whole. Jobs have names that follow from what they load, and BigQuery runs no job of a name twice; so an export
that was killed goes on where it stopped, and no row is loaded twice.
"""

import hashlib
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from stepscope import config
from stepscope.engines import bigquery, rows_of
from stepscope.engines.portable import needed
from stepscope.errors import StepscopeError
from stepscope.exporters import Written
from stepscope.exporters.bigquery_jobs import Dataset, Job
from stepscope.lake import derived_tables, marker_file, reader
from stepscope.lake.reader import Lake, TableFile
from stepscope.lake.schema import schema
from stepscope.session import lake_derivation
from stepscope.session.lake_tables import LakeTables
from stepscope.session.open_trace import OpenTrace
from stepscope.session.table_makers import VERSIONS

_MOST_URIS = 10_000
"""Most files of one load job."""
# Datasets from before the first release lack made_by: see stepscope.lake.marker_file.
_EXPORT_COLUMNS = (
    ("number", "BIGINT", "order of the rows: the last one of a run is true"),
    ("run_id", "VARCHAR", "the run"),
    ("made_of", "VARCHAR", "digest of its sources"),
    ("whole", "BOOLEAN", "false when its export began, true when it ended"),
    ("made_by", "VARCHAR", "the stepscope that exported it"),
    ("schema_version", "BIGINT", "version of the schema of its tables"),
)


class _Marker(NamedTuple):
    """A row of the table of exports."""

    number: int
    run_id: str
    made_of: str
    whole: bool


def write(lake: Path, dataset: str, *, files_at: str | None = None, client: Any = None) -> Written:
    """Exports the runs of a lake that a dataset lacks, or has in an older state. dataset: PROJECT.DATASET,
    created if missing. files_at: the gs:// address of a copy of the lake. Returns the rows of each table, of
    the runs exported now. LakeError for a lake that cannot be read; UsageError and QueryError as for the
    engine."""
    found = reader.open_lake(lake.absolute())
    project, _ = bigquery.split(dataset)
    path = dataset.removeprefix("bigquery://")
    client = client or bigquery.connect(project)
    try:
        exported = _dataset(client, path)
        markers = _exported_runs(client, path)
        rows: dict[str, int] = {}
        known = 0
        for run_id, manifests in derived_tables.group_by_run(found.manifests).items():
            digest = derived_tables.digest(manifests)
            run_markers = [marker for marker in markers if marker.run_id == run_id]
            begun = _begun(run_markers, digest)
            if begun is not None and begun.whole:
                known += 1
                continue
            if begun is None:
                number = max((marker.number for marker in markers), default=0) + 1
                begun = _Marker(number, run_id, digest, whole=False)
                _mark(exported, begun)
                markers.append(begun)
            name = f"{begun.number}-{digest}"
            if any(marker.number < begun.number for marker in run_markers):
                _delete(exported, run_id, name)
            for table, count in _load(exported, found.only_runs([run_id]), name, files_at):
                rows[table] = rows.get(table, 0) + count
            whole = begun._replace(whole=True)
            _mark(exported, whole)
            markers.append(whole)
    except StepscopeError:
        raise
    except Exception as error:
        raise bigquery.failed(error, path) from error
    return Written(f"bigquery://{path}", rows, _notes(known))


def _notes(known: int) -> tuple[str, ...]:
    return (f"{known} {'run was' if known == 1 else 'runs were'} there already",) if known else ()


def _begun(markers: Sequence[_Marker], digest: str) -> _Marker | None:
    """The last marker of a run, if it covers the same sources."""
    return markers[-1] if markers and markers[-1].made_of == digest else None


def _delete(dataset: Dataset, run_id: str, name: str) -> None:
    """Deletes the rows of a run."""

    def deletion(table: str) -> Job:
        return f"delete-{table}-{name}", lambda job_id: bigquery.delete_run(
            dataset.client, f"{dataset.path}.{table}", run_id, job_id=job_id, location=dataset.location
        )

    dataset.run([deletion(table) for table in schema().names])


def _dataset(client: Any, path: str) -> Dataset:
    """Creates the dataset and its tables if they are missing."""
    google = needed("google.cloud.bigquery", "bigquery")
    made = client.create_dataset(path, exists_ok=True, **bigquery.limits())
    for name, about, columns in (
        *(
            (schema_table.name, schema_table.about, [(c.name, c.type, c.about) for c in schema_table.columns])
            for schema_table in schema().tables
        ),
        (bigquery.EXPORTED, "Runs that stepscope exported to this dataset.", list(_EXPORT_COLUMNS)),
    ):
        table = google.Table(f"{path}.{name}", schema=bigquery.fields(columns))
        table.description = about
        client.create_table(table, exists_ok=True, **bigquery.limits())
    digest = hashlib.blake2b(f"{path} {made.created}".encode(), digest_size=8).hexdigest()
    return Dataset(client, path, made.location, f"stepscope-{digest}")


def _exported_runs(client: Any, path: str) -> list[_Marker]:
    """The table of exports, in its order. LakeError where another version of the schema wrote it."""
    table = client.get_table(f"{path}.{bigquery.EXPORTED}", **bigquery.limits())
    rows = list(client.list_rows(table, **bigquery.limits()))
    for row in rows:
        version, made_by = row["schema_version"], row.get("made_by")
        what, todo, place = "dataset was filled", "export to another dataset", f"bigquery://{path}"
        if made_by is None:
            raise marker_file.unreleased_version(what, version, todo, place)
        if version != schema().version:
            raise marker_file.other_version(what, version, made_by, todo, place)
    return sorted(_Marker(row["number"], row["run_id"], row["made_of"], row["whole"]) for row in rows)


def _mark(dataset: Dataset, marker: _Marker) -> None:
    """Adds a row to the table of exports."""
    google = needed("google.cloud.bigquery", "bigquery")
    config = google.LoadJobConfig(schema=bigquery.fields(_EXPORT_COLUMNS), write_disposition="WRITE_APPEND")
    row = {**marker._asdict(), "made_by": marker_file.MADE_BY, "schema_version": schema().version}

    def start(job_id: str) -> Any:
        table = f"{dataset.path}.{bigquery.EXPORTED}"
        return dataset.client.load_table_from_json([row], table, **dataset.load(job_id, config))

    state = "whole" if marker.whole else "begin"
    dataset.run([(f"tell-{marker.number}-{marker.made_of}-{state}", start)])


def _load(dataset: Dataset, lake: Lake, name: str, files_at: str | None) -> Iterator[tuple[str, int]]:
    """Loads the tables of one run; returns their names and rows. name: of the export, for its jobs."""
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
            options = google.LoadJobConfig(
                source_format="PARQUET", schema=bigquery.fields(columns), write_disposition="WRITE_APPEND"
            )
            # Every source brings the row of its run and of its host: those are merged here. Files of which
            # only some rows count are merged here, too.
            as_it_is = table.name not in (*VERSIONS, "run", "host") and not any(
                file.where for file in table_files
            )
            if files_at is not None and as_it_is:
                yield table.name, _load_from_storage(dataset, table_files, name, files_at, options)
                continue
            path = folder / f"{table.name}.parquet"
            count = trace.copy(rows_of(table.name, table.names), str(path), "parquet")
            if count:
                dataset.run([_upload(dataset, path, name, options)])
                yield table.name, count
            path.unlink(missing_ok=True)


def _upload(dataset: Dataset, path: Path, name: str, config: Any) -> Job:
    """The job that uploads a file, which is called like its table."""

    def start(job_id: str) -> Any:
        with path.open("rb") as file:
            return dataset.client.load_table_from_file(
                file, f"{dataset.path}.{path.stem}", size=path.stat().st_size, **dataset.load(job_id, config)
            )

    return f"load-{path.stem}-{name}", start


def _load_from_storage(
    dataset: Dataset, files: Sequence[TableFile], name: str, files_at: str, config: Any
) -> int:
    """Loads the files of a table from a copy of the lake in Cloud Storage; returns the number of rows."""
    google = needed("google.cloud.bigquery", "bigquery")
    table, storage = files[0].table, files_at.rstrip("/")
    hive = google.HivePartitioningOptions()
    hive.mode = "STRINGS"
    hive.source_uri_prefix = f"{storage}/{table}"
    config.hive_partitioning = hive
    config.schema_update_options = ["ALLOW_FIELD_ADDITION"]

    def load(start: int) -> Job:
        uris = [f"{storage}/{file.path}" for file in files[start : start + _MOST_URIS]]
        return f"load-{table}-{start}-{name}", lambda job_id: dataset.client.load_table_from_uri(
            uris, f"{dataset.path}.{table}", **(dataset.load(job_id, config) | bigquery.limits())
        )

    dataset.run([load(start) for start in range(0, len(files), _MOST_URIS)])
    return sum(file.rows for file in files)
