"""Spark as the engine: a lake answers the same statements on a cluster.

The session is of a Spark Connect server (`sc://HOST:PORT`), of Spark on this machine (`local`), or given.
The cluster must see the lake's files under the same paths, as on a shared disk. Tables get the types of
schema.sql: letting Spark infer them takes a job for each table. Files are those that the manifests list.

Spark plans a view anew, with all that it is built on, whenever it is named; for small lakes that takes longer
than the work. So those have their tables and views cached, one partition for shuffles and no generated code.
In Spark on this machine, plans name the rows of a view instead. A cluster may lose an executor, and those
rows with it, so there a cached view stays one that can be computed again.
"""

import contextlib
import importlib
import re
import socket
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from stepscope import config
from stepscope.engines import Files, Relation
from stepscope.engines.portable import Portable, needed
from stepscope.errors import QueryError, StepscopeError, UsageError

T = TypeVar("T")

SMALL_BYTES = 256 << 20
"""Parquet of a lake up to which its tables and views are cached on the cluster."""

_TYPES = {"BIGINT": "bigint", "INTEGER": "int", "DOUBLE": "double", "VARCHAR": "string", "BOOLEAN": "boolean"}
_SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "false",
}
_SMALL = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}
"""For small lakes: planning and compiling take longer than the work."""


class Spark(Portable):
    """stepscope.engines.Engine on Spark. Only for lakes."""

    NAME = "Spark"
    DIALECT = "spark"

    def __init__(self, session: Any = None, remote: str | None = None, wait_s: float | None = None) -> None:
        """session: a SparkSession; its settings and views stay as they are. remote: a Connect server, or
        `local`; by default what SPARK_REMOTE says. wait_s: how long a cluster may take to come up.

        UsageError when pyspark is missing or nothing says where Spark is; QueryError when the cluster does
        not come up in time."""
        super().__init__()
        needed("pyspark", "spark")
        needed("pyarrow", "spark")
        needed("sqlglot", "spark")
        self._own = session is None
        self.session = connect(remote, wait_s) if session is None else _own_session(session)
        for key, value in _SETTINGS.items():
            self.session.conf.set(key, value)
        self._alone = _is_one_process(self.session)
        self._small = True
        self._tuned = False
        self._cached: list[str] = []

    def register(self, relation: Relation, files: Sequence[Files], rows: Any) -> None:
        """Makes a temporary view of files, with the types of schema.sql, and of more rows."""
        self._tune()
        schema = ", ".join(f"`{name}` {_TYPES[kind]}" for name, kind in relation.columns)
        names = [name for name, _ in relation.columns]
        frames = []
        for part in files:
            # The folders are called run=… and host=…, which would become columns.
            reader = self.session.read.schema(schema).option("recursiveFileLookup", "true")
            frame = reader.parquet(*map(_uri, part.paths))
            frames.append(frame.where(self.fulfils(part.where)) if part.where else frame)
        if rows.num_rows or not files:
            make = self.session.createDataFrame
            frames.append(make(rows) if rows.num_rows else make([], schema))
        frame = frames[0]
        for other in frames[1:]:
            frame = frame.unionByName(other)
        if relation.key:
            least = [name for name in names if name not in relation.key]
            # By name: functions of pyspark are those of a session in this process, or of Connect, by what
            # the environment says.
            frame = frame.groupBy(*relation.key).agg(dict.fromkeys(least, "min"))
            frame = frame.withColumnsRenamed({f"min({name})": name for name in least})
        self.guarded(lambda: frame.select(*names).createOrReplaceTempView(relation.name))
        self._cache(relation.name)

    def register_view(self, name: str, sql: str) -> None:
        """Makes a temporary view."""
        if self._small and self._alone:
            self.guarded(lambda: self._computed_once(sql).createOrReplaceTempView(name))
            self._cached.append(name)
            return
        self.guarded(lambda: self.session.sql(sql).createOrReplaceTempView(name))
        if self._small:
            self._cache(name)

    def _computed_once(self, sql: str) -> Any:
        """Rows that are computed when they are first needed, and how they are is forgotten."""
        return self.session.sql(sql).localCheckpoint(eager=False)

    def keep(self, views: Sequence[str]) -> None:
        """Has the cluster keep the rows of views once they are computed."""
        super().keep(views)
        for name in views:
            self._cache(name)

    def run(self, sql: str) -> Any:
        """The rows of a SELECT."""
        return self.guarded(lambda: self.session.sql(sql).toArrow())

    def seal(self, paths: Sequence[str] = ()) -> None:
        """Statements name tables and views only; the size of the lake says how Spark is set up."""
        super().seal(paths)
        self._small = _size(paths) <= SMALL_BYTES

    def interrupt(self) -> None:
        """Stops what runs on the cluster for this session."""
        stop = getattr(self.session, "interruptAll", None)
        if stop is None:
            self.session.sparkContext.cancelAllJobs()
        else:
            stop()

    def close(self) -> None:
        """Frees what the cluster keeps, and ends the session if it was made here."""
        cached, self._cached = self._cached, []
        for name in cached:
            with contextlib.suppress(Exception):  # the cluster may be gone: then nothing is kept either
                self.session.sql(f"UNCACHE TABLE IF EXISTS `{name}`")
        if self._own:
            self._own = False
            with contextlib.suppress(Exception):
                self.session.stop()

    def _tune(self) -> None:
        """Sets up a small lake, once its size is known."""
        if self._tuned:
            return
        self._tuned = True
        for key, value in _SMALL.items() if self._small else ():
            self.session.conf.set(key, value)

    def _cache(self, name: str) -> None:
        if name not in self._cached and (self._small or name in self.views):
            self.session.sql(f"CACHE LAZY TABLE `{name}`")
            self._cached.append(name)

    def failed(self, error: Exception) -> StepscopeError:
        """The error for one of the cluster."""
        return self.refused(_message(error))


def _size(paths: Sequence[str]) -> int:
    """Bytes of files on this machine; what is not here counts as nothing."""
    total = 0
    for path in paths:
        with contextlib.suppress(OSError):
            total += Path(path).stat().st_size
    return total


def _uri(path: str) -> str:
    """A path as Hadoop takes it: on the disk, not in the cluster's default storage, and no pattern."""
    return path if "://" in path else "file://" + re.sub(r"([{}\\])", r"\\\1", path)


def _message(error: Exception) -> str:
    """What Spark says, without its stack of Java."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    first = lines[0] if lines else type(error).__name__
    return first if len(first) <= 400 else f"{first[:400]}…"


def _is_one_process(session: Any) -> bool:
    """Whether Spark is a process of this machine, without executors that may be lost."""
    master = getattr(getattr(session, "sparkContext", None), "master", "")
    return re.fullmatch(r"local(\[.*\])?", str(master)) is not None


def _own_session(session: Any) -> Any:
    """A session of the same cluster whose views and settings are its own."""
    make = getattr(session, "newSession", None)
    try:
        return session if make is None else make()
    except Exception:  # noqa: BLE001 - clients of Spark Connect before 4.1 have the method, but refuse it
        return session


def connect(remote: str | None, wait_s: float | None = None) -> Any:
    """A new session of a Connect server or of Spark on this machine (`local`, `local[4]`); it has run a task.

    UsageError when nothing says which; QueryError when the cluster does not come up in `wait_s`
    seconds (STEPSCOPE_SPARK_WAIT_S, or a minute).
    """
    import os

    remote = remote or os.environ.get("SPARK_REMOTE")
    if not remote:
        raise UsageError(
            "Nothing says where Spark is.",
            seen="no --remote, and no SPARK_REMOTE",
            todo="--remote sc://HOST:PORT for a Spark Connect server, --remote local for this machine",
        )
    needed("pyspark", "spark")
    until = time.monotonic() + (config.spark_wait_s() if wait_s is None else wait_s)
    if re.fullmatch(r"local(\[[0-9*]+\])?", remote):
        return _awaited(until, remote, lambda: _local(remote))
    parts = urlsplit(remote)
    try:
        host, port = parts.hostname, parts.port or 15002
    except ValueError:
        host, port = None, 0
    if parts.scheme != "sc" or not host:
        raise UsageError(
            "The address of Spark does not make sense.",
            seen=remote,
            todo="sc://HOST:PORT for a Spark Connect server, or local",
        )
    for package in ("grpc", "grpc_status", "google.rpc", "pandas", "zstandard"):
        needed(package, "spark")
    _listening(host, port, remote, until)

    def make() -> Any:
        with warnings.catch_warnings():
            # Spark's client warns of a pandas that is too new for it; nothing here makes pandas of rows.
            warnings.simplefilter("ignore", FutureWarning)
            sessions = importlib.import_module("pyspark.sql.connect.session")
            return sessions.SparkSession.builder.remote(remote).create()

    session = _awaited(until, remote, make)
    try:
        _awaited(until, remote, lambda: session.range(0, 1, 1, 1).repartition(1).toArrow())
    except BaseException:
        # In the background: stopping asks the server, which may not answer either.
        threading.Thread(target=_stopped, args=(session,), daemon=True).start()
        raise
    return session


def _local(remote: str) -> Any:
    sql = importlib.import_module("pyspark.sql")
    builder = sql.SparkSession.builder.master(remote).appName("stepscope")
    for key, value in {"spark.ui.enabled": "false", "spark.driver.bindAddress": "127.0.0.1"}.items():
        builder = builder.config(key, value)
    return builder.config("spark.driver.host", "127.0.0.1").getOrCreate()


def _stopped(session: Any) -> None:
    with contextlib.suppress(Exception):
        session.interruptAll()
        session.stop()


def _listening(host: str, port: int, remote: str, until: float) -> None:
    """Waits until something answers at the address."""
    while True:
        try:
            socket.create_connection((host, port), max(0.1, min(5.0, until - time.monotonic()))).close()
            return
        except OSError as error:
            unknown = isinstance(error, socket.gaierror)
            if unknown or time.monotonic() >= until:
                raise _not_up(remote, str(error)) from error
            time.sleep(0.2)


def _awaited(until: float, remote: str, work: Callable[[], T]) -> T:
    """What `work` gives; QueryError when that takes too long. Then it goes on in its thread, unheard."""
    found: list[T] = []
    failed: list[BaseException] = []

    def call() -> None:
        try:
            found.append(work())
        except BaseException as error:  # noqa: BLE001 - raised below, in the thread that asked
            failed.append(error)

    thread = threading.Thread(target=call, name="stepscope-spark", daemon=True)
    thread.start()
    while thread.is_alive() and time.monotonic() < until:
        thread.join(0.1)
    if found:
        return found[0]
    if failed and not isinstance(failed[0], Exception):
        raise failed[0]
    seen = _message(failed[0]) if failed and isinstance(failed[0], Exception) else "no answer in time"
    raise _not_up(remote, seen)


def _not_up(remote: str, seen: str) -> QueryError:
    return QueryError(
        "The Spark cluster did not come up.",
        seen=f"{remote}: {seen}",
        todo="check the address, that the server runs, and that it has workers with a free core; "
        "STEPSCOPE_SPARK_WAIT_S=600 waits longer",
        slug="no-cluster",
    )
