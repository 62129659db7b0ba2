"""Ingesting on a Spark cluster: planned here, each source decoded and written by an executor.

Executors need Python, pyarrow and the disk that holds the recordings and the lake, at the same paths.
stepscope goes along as an archive: its native core cannot be imported out of a zip. A source is in the lake
once its manifest is, and ingesting it again changes nothing; so Spark may try a task as often as it likes,
here and there at the same time, when workers die.
"""

import contextlib
import hashlib
import importlib
import json
import pickle
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from stepscope.engines.spark import connect
from stepscope.errors import LakeError, QueryError, StepscopeError
from stepscope.lake import reader
from stepscope.lake.rows import SourceRow
from stepscope.session.plan import IngestPlan, WorkItem
from stepscope.sources.user_paths import is_lake

_AT_ONCE = 8
"""Sources that a task ingests: few, because they are tried again together."""
_LEFT_OUT = ("server", "presenters", "cli", "__pycache__")
"""Folders of stepscope that executors have no use for."""


def runner(remote: str | None) -> Callable[[IngestPlan, Path], list[SourceRow]]:
    """Ingests the items of a plan on the cluster at an address; see stepscope.engines.spark.connect."""

    def run(todo: IngestPlan, lake: Path) -> list[SourceRow]:
        if not todo.items:
            return []
        session = connect(remote)
        try:
            return ingest_on(session, todo.items, lake)
        finally:
            with contextlib.suppress(Exception):  # the server may be gone: then its session is, too
                session.stop()

    return run


def ingest_on(session: Any, items: Sequence[WorkItem], lake: Path) -> list[SourceRow]:
    """Adds planned sources to a lake that is there already; their rows, in the order of the items.

    session: a SparkSession. LakeError when an executor cannot write the lake, or writes another one;
    QueryError when the job fails.
    """
    pa: Any = importlib.import_module("pyarrow")
    with tempfile.TemporaryDirectory(prefix="stepscope-spark-") as place:
        archive, name = packed(Path(place))
        _send(session, f"{archive}#{name}")
        columns = [list(range(len(items))), [pickle.dumps(item) for item in items]]
        table = pa.table(columns, schema=pa.schema([("number", pa.int64()), ("item", pa.binary())]))
        session.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", str(_AT_ONCE))
        tasks = -(-len(items) // _AT_ONCE)
        frame = session.createDataFrame(table).repartition(tasks)
        work = _work(str(lake.absolute()), name)
        try:
            returned = frame.mapInArrow(work, "number bigint, told string").toArrow().to_pylist()
        except KeyboardInterrupt:
            with contextlib.suppress(Exception):
                session.interruptAll()
            raise
        except Exception as error:
            raise _failed(error) from error
    found = {row["number"]: json.loads(row["told"]) for row in returned}
    for reply in found.values():
        if "error" in reply:
            raise LakeError(
                "An executor could not ingest a source.",
                seen=reply["error"],
                todo="give the executors the disk that holds the lake, at the same path; what was ingested "
                "stays, and the same command goes on from there",
                path=str(lake),
            )
    rows = [SourceRow(**found[number]["row"]) for number in range(len(items))]
    kept_sources = {manifest.source.source_id: manifest.source for manifest in reader.read_manifests(lake)}
    for row in rows:
        if kept_sources.get(row.source_id) != row:
            raise LakeError(
                "The executors write to another lake than the one here.",
                seen=f"no manifest of {row.path}, which an executor says it ingested",
                todo="put the lake on a disk that this machine and the executors share, at the same path",
                path=str(lake),
            )
    return rows


def packed(folder: Path) -> tuple[Path, str]:
    """stepscope as an archive in a folder, and the name under which executors unpack it: it differs when the
    contents do."""
    import stepscope

    package = Path(stepscope.__file__).parent
    archive = folder / "stepscope.tar.gz"
    digest = hashlib.blake2b(digest_size=8)
    with tarfile.open(archive, "w:gz", compresslevel=6) as tar:
        for path in sorted(package.rglob("*")):
            parts = path.relative_to(package).parts
            if path.is_file() and not set(_LEFT_OUT) & set(parts):
                tar.add(path, str(Path("stepscope", *parts)), recursive=False)
                digest.update(str(parts).encode() + path.read_bytes())
    return archive, f"stepscope-{digest.hexdigest()}"


def _send(session: Any, archive: str) -> None:
    """Gives an archive to the executors of a session, of either kind."""
    if hasattr(session, "addArtifacts") and "connect" in type(session).__module__:
        session.addArtifacts(archive, archive=True)
    else:
        session.sparkContext.addArchive(archive)


def _work(lake: str, name: str) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """What an executor does. It is sent by value, so it names nothing of this module."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        import json
        import os
        import pickle
        import sys
        from pathlib import Path

        import pyarrow as pa
        from pyspark.core.files import SparkFiles

        places = [root / name for root in (Path.cwd(), Path(SparkFiles.getRootDirectory()))]
        place = next((str(path) for path in places if path.is_dir()), None)
        if place is None:
            raise RuntimeError(f"stepscope did not arrive at {' or '.join(map(str, places))}")
        if place not in sys.path:
            # The process may have served another stepscope before.
            for module in [name for name in sys.modules if name.partition(".")[0] == "stepscope"]:
                del sys.modules[module]
            sys.path.insert(0, place)
        from stepscope.session.ingest import ingest_one

        def one(item: bytes) -> str:
            if not is_lake(Path(lake)):
                return json.dumps({"error": f"there is no lake {lake} on {os.uname().nodename}"})
            try:
                return json.dumps({"row": ingest_one(pickle.loads(item), lake, threads=1)._asdict()})
            except (StepscopeError, OSError) as error:
                return json.dumps({"error": f"{os.uname().nodename}: {error}"})

        for batch in batches:
            numbers, items = (column.to_pylist() for column in batch.columns)
            results = [one(item) for item in items]
            yield pa.RecordBatch.from_arrays(
                [pa.array(numbers, pa.int64()), pa.array(results, pa.string())], names=["number", "told"]
            )

    return work


def _failed(error: Exception) -> QueryError:
    """The error for a job of Spark that failed."""
    text = str(error)
    lines = [line.strip() for line in text.splitlines() if line.strip()] or [type(error).__name__]
    if "pyarrow" in text.lower() and ("No module named" in text or "PACKAGE_NOT_INSTALLED" in text):
        return QueryError(
            "Spark's executors have no pyarrow.",
            seen=next(line for line in reversed(lines) if "pyarrow" in line.lower()),
            todo="install pyarrow in the Python of the executors (PYSPARK_PYTHON), and try again",
            slug="no-cluster",
        )
    # The last line of a traceback says what went wrong.
    message = next((line for line in reversed(lines) if line[:1].isalpha() and "Error" in line), lines[0])
    return QueryError(
        "Spark could not ingest.",
        seen=message[:400],
        todo="look at the logs of the executors; what was ingested stays, and the same command goes on",
        slug="no-cluster",
    )
