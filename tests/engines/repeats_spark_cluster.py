"""A lake on a Spark cluster: the same answers, the same sentences. `make engines` runs this.

One module, so that the cluster is started once: it takes 15 s on a quiet machine.
"""

import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import stepscope
from stepscope import library
from stepscope.cli import main
from stepscope.engines.spark import Spark, connect
from stepscope.errors import QueryError, UsageError
from stepscope.lake import derived_tables, reader, writer
from stepscope.lake.manifest import TIMELINE
from stepscope.lake.schema import schema
from stepscope.session.trace import Only, OpenTrace, verify
from stepscope.session.trace import open as open_trace
from tests import corpus
from tests.engines import cluster as clusters
from tests.engines.agreeing import SAMPLES, differences, same_sentences, takes_minutes
from tests.lake import compacted
from tests.lake.recordings import chrome
from tests.lake.test_lake import everything

pytestmark = [
    takes_minutes,
    pytest.mark.skipif(clusters.java() is None, reason="Spark needs Java, which this machine lacks"),
    pytest.mark.timeout(3600),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # sockets of Spark's client
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

SOURCES = 200
"""Of an ingest in the middle of which a worker dies: 25 tasks."""


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("a {lake}") / "lake"  # braces are patterns to Hadoop
    stepscope.ingest([corpus.SAMPLES / name for name in SAMPLES], folder)
    return folder


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[clusters.Cluster]:
    with clusters.cluster(tmp_path_factory.mktemp("spark")) as found, pytest.MonkeyPatch.context() as patched:
        patched.setenv("STEPSCOPE_SPARK_WAIT_S", f"{clusters.WAIT_S:.0f}")
        yield found


@pytest.fixture(scope="module")
def spark(lake: Path, cluster: clusters.Cluster) -> Iterator[OpenTrace]:
    with open_trace(lake, engine=lambda: Spark(remote=cluster.remote)) as trace:
        yield trace


def test_the_whole_library_gives_equal_rows(lake: Path, spark: OpenTrace) -> None:
    """Cell by cell, and in the same order."""
    with open_trace(lake) as duckdb:
        different, cells = differences(duckdb, spark, library.entries())
    assert different == {}
    assert cells > 20_000


def test_the_sentences_are_the_same(lake: Path, spark: OpenTrace) -> None:
    with open_trace(lake) as duckdb:
        assert same_sentences(duckdb, spark)


def test_what_users_ask(
    lake: Path, cluster: clusters.Cluster, spark: OpenTrace, capsys: pytest.CaptureFixture[str]
) -> None:
    sql = "SELECT s.name, COUNT(*) AS n FROM slice AS s GROUP BY s.name ORDER BY n DESC, s.name LIMIT 3"
    words = ["query", str(lake), sql, "--format", "json"]
    assert main(words) == 0
    wanted = json.loads(capsys.readouterr().out)
    assert main([*words, "--engine", "spark", "--remote", cluster.remote]) == 0
    assert json.loads(capsys.readouterr().out) == wanted
    rows = spark.query("SELECT COUNT(*) AS n FROM slice AS s WHERE s.dur_ps >= $1", [0]).rows()
    with open_trace(lake) as duckdb:
        assert rows == duckdb.query("SELECT COUNT(*) AS n FROM slice WHERE dur_ps >= 0").rows()
    # Tables without a file are there, and empty.
    assert spark.query("SELECT c.name FROM checkpoint_tensor AS c").rows() == []
    for sql, seen in (
        ("SELECT * FROM parquet.`/etc/passwd`", "refused"),
        ("SELECT * FROM nowhere", "no table nowhere"),
        ("SELECT reflect('java.lang.System', 'exit', 1) AS x FROM run", "runs code"),
        ("SELECT round(2.5) AS x FROM run", "halves differ"),
        ("SELECT nothing FROM slice", "nothing"),
        ("DROP TABLE slice", "not one SELECT"),
        ("SELECT (", "refused"),
    ):
        with pytest.raises(QueryError) as refused:
            spark.query(sql).rows()
        assert seen in str(refused.value), sql


def test_rows_of_a_compacted_lake_that_do_not_count(cluster: clusters.Cluster, tmp_path: Path) -> None:
    """Those of a source that was decoded anew since, and those of hosts that are not read."""
    lake = compacted.with_a_source_decoded_anew(tmp_path)
    sql = "SELECT host_id, name, COUNT(*) AS n FROM slice GROUP BY host_id, name ORDER BY host_id, name"
    for hosts in (None, ["h1", "h2"]):
        with (
            open_trace(lake, only=Only(hosts=hosts)) as one,
            open_trace(lake, engine=lambda: Spark(remote=cluster.remote), only=Only(hosts=hosts)) as other,
        ):
            rows = other.query(sql).rows()
            assert rows == one.query(sql).rows()
            assert sum(row[2] for row in rows) == (23 if hosts else 10 + 11 + 12 + 13 + 20)


def test_a_worker_killed_in_the_middle_of_an_ingest(
    cluster: clusters.Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A worker and its executor die without a word: every source is in the lake, and none is in it twice."""
    logs, lake = tmp_path / "logs", tmp_path / "lake"
    for host in range(SOURCES):
        chrome(logs / "run=fleet" / f"host=h{host:03}" / "t.json", f"h{host}_", count=20 + host % 7)
    told: list[tuple[int, list[int]]] = []

    def kill() -> None:
        until = time.monotonic() + 600
        while (done := len(list(lake.glob("_manifest/*.json")))) < SOURCES // 4:
            if time.monotonic() > until:
                return
            time.sleep(0.005)
        told.append((done, cluster.kill(0)))

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        words = ["ingest", str(logs), "--lake", str(lake), "--runner", "spark", "--remote", cluster.remote]
        assert main([*words, "--format", "json"]) == 0, capsys.readouterr().err
    finally:
        killer.join()
        if told:
            cluster.add_worker()
    rows = json.loads(capsys.readouterr().out)["rows"]
    [(done, executors)] = told
    assert executors, "the worker had an executor"
    assert SOURCES // 4 <= done < SOURCES, "it died in the middle"
    assert len(rows) == SOURCES
    there = reader.contents(lake)
    assert len({one.source.path for one in there.manifests}) == len(there.manifests) == SOURCES
    # What dead tasks left goes with the next sweep: then every file is one that the lake lists.
    writer.create(lake)
    tables = {*schema().names, TIMELINE}
    listed = {file.path for file in there.files_of()}
    assert verify(lake)[0] == len(listed)
    listed |= {file.path for one in derived_tables.read_all(lake) for file in one.files}
    found = {str(path.relative_to(lake)) for name in tables for path in lake.glob(f"{name}/run=*/host=*/*.*")}
    assert found == listed
    stepscope.ingest([logs], tmp_path / "here")
    assert everything(lake) == everything(tmp_path / "here")
    assert main(["ingest", str(logs), "--lake", str(lake)]) == 0
    assert reader.contents(lake) == there, "nothing is read again"


def test_a_cluster_that_never_comes_up(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        with pytest.raises(QueryError, match="did not come up") as refused:
            connect(f"sc://127.0.0.1:{closed.getsockname()[1]}", 1.0)
    assert "127.0.0.1" in refused.value.seen
    # Something listens, but says nothing of what Spark says.
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        begun = time.monotonic()
        with pytest.raises(QueryError, match="did not come up"):
            connect(f"sc://127.0.0.1:{deaf.getsockname()[1]}", 3.0)
        assert time.monotonic() - begun < clusters.WAIT_S
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    with pytest.raises(UsageError, match="Nothing says where Spark is"):
        connect(None)
    for remote in ("spark://x:1", "sc://", "sc://x:port", "http://x"):
        with pytest.raises(UsageError, match="does not make sense"):
            connect(remote)
