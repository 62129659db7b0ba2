"""A lake in BigQuery: Google's unmodified client against a server of its REST calls."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import stepscope
from stepscope.cli import main
from stepscope.errors import LakeError, LimitReached, StepscopeError, UsageError
from stepscope.exporters import bigquery as exporter
from stepscope.lake import reader
from stepscope.lake.schema import schema
from stepscope.session.trace import compact
from stepscope.session.trace import open as open_trace
from tests import corpus
from tests.engines.bigquery_server import DATASET, Server, serving
from tests.lake import compacted
from tests.lake.recordings import chrome
from tests.later import is_there
from tests.tiers import some

pytestmark = [
    pytest.mark.skipif(not is_there("google.cloud.bigquery"), reason="Google's client is not installed"),
    pytest.mark.timeout(300),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # sockets of Google's client
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bigquery") / "lake"
    stepscope.ingest([corpus.SAMPLES / "chrome" / "phases.json"], folder)
    return folder


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """An empty server."""
    with serving() as (found, url):
        monkeypatch.setenv("BIGQUERY_EMULATOR_HOST", url)
        yield found


def test_it_is_exported_once(server: Server, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    chrome(tmp_path / "run=a" / "host=h1" / "t.json", "one")
    chrome(tmp_path / "run=b" / "host=h1" / "t.json", "two")
    stepscope.ingest([tmp_path / "run=a", tmp_path / "run=b"], lake)
    first = exporter.write(lake, DATASET)
    assert first.rows["source"] == 2
    rows = {name: list(found[1]) for name, found in server.tables.items()}
    assert sorted(name for name in rows) == sorted(
        f"profiles.{name}" for name in (*schema().names, "stepscope_export")
    )
    again = exporter.write(lake, DATASET)
    assert (again.rows, again.notes) == ({}, ("2 runs were there already",))
    assert {name: found[1] for name, found in server.tables.items()} == rows
    with open_trace(lake) as duckdb:
        for table in schema().names:
            wanted = duckdb.query(f"SELECT * FROM {table}").rows()
            assert sorted(rows[f"profiles.{table}"], key=repr) == sorted(wanted, key=repr), table


def test_recordings_are_exported_without_a_lake(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a lake of them would be; once, too."""
    source = chrome(tmp_path / "run=a" / "host=h1" / "t.json", "one")
    stepscope.ingest([source], tmp_path / "lake")
    exporter.write(tmp_path / "lake", DATASET)
    words = ["export", str(source), "-o", "bigquery://p-roject.straight", "--format", "json"]
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out)["rows"]["source"] == 1
    rows = {name: list(found[1]) for name, found in server.tables.items()}
    for table in schema().names:
        wanted = sorted(rows[f"profiles.{table}"], key=repr)
        assert sorted(rows[f"straight.{table}"], key=repr) == wanted, table
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out)["notes"] == ["1 run was there already"]
    assert {name: found[1] for name, found in server.tables.items()} == rows


def test_what_cannot_be_read_is_not_exported(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.json").write_text('{"traceEvents": [{"ph": "X", "na')
    assert main(["export", str(tmp_path / "bad.json"), "-o", f"bigquery://{DATASET}"]) == 2
    assert "could be read" in capsys.readouterr().err
    assert server.seen == []


@pytest.mark.repeats("the evaluator of the second tier asks more of a lake")
def test_an_export_that_stops_goes_on(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever it stops, what is loaded in the end is there once."""
    lake = tmp_path / "lake"
    chrome(tmp_path / "run=a" / "host=h1" / "t.json", "one")
    stepscope.ingest([tmp_path / "run=a"], lake)
    wanted: dict[str, Any] = {}
    with serving() as (other, url):
        from google.auth.credentials import AnonymousCredentials
        from google.cloud import bigquery

        client = bigquery.Client("p-roject", AnonymousCredentials(), client_options={"api_endpoint": url})
        exporter.write(lake, DATASET, client=client)
        wanted = {name: found[1] for name, found in other.tables.items()}
        loads = sum(path.startswith("/upload") for _, path in other.seen)
    assert loads > 1 + 5
    monkeypatch.setattr("stepscope.engines.bigquery.REQUEST_S", 2.0)
    # Google's client tries seven times and waits for twice as long each time, a minute in all.
    waits = "google.resumable_media._helpers.calculate_retry_wait"
    monkeypatch.setattr(waits, lambda base_s, *_: (base_s, 0.01))
    real = server._upload
    for stop in (1, 5):  # uploads until it is killed once more
        count = 0

        def killed(*words: Any, at: int = stop) -> Any:
            nonlocal count
            count += 1
            if count > at:
                raise ConnectionAbortedError
            return real(*words)

        server._upload = killed  # type: ignore[method-assign]
        with pytest.raises(StepscopeError):
            exporter.write(lake, DATASET)
    server._upload = real  # type: ignore[method-assign]
    exporter.write(lake, DATASET)
    assert {name: found[1] for name, found in server.tables.items()} == wanted


@pytest.mark.repeats("the evaluator of the second tier asks more of a lake")
def test_from_cloud_storage(server: Server, tmp_path: Path) -> None:
    """In hive mode, by the names of the files that manifests list: others are not loaded."""
    lake = tmp_path / "lake"
    chrome(tmp_path / "run=a" / "host=h1" / "t.json", "one")
    stepscope.ingest([tmp_path / "run=a"], lake)
    for path in lake.rglob("*.parquet"):
        server.storage[f"gs://bucket/lake/{path.relative_to(lake)}"] = path.read_bytes()
    (one,) = reader.open_lake(lake).manifests
    words = ["export", str(lake), "-o", f"bigquery://{DATASET}", "--from", "gs://bucket/lake"]
    assert main(words) == 0
    fields, rows = server.tables["profiles.slice"]
    assert [field.name for field in fields][-2:] == ["run", "host"]
    assert {row[-2:] for row in rows} == {("a", "h1")}
    assert len(rows) == next(file.rows for file in one.files if file.table == "slice")


@pytest.mark.repeats("the evaluator of the second tier asks more of a lake")
def test_a_compacted_lake(server: Server, tmp_path: Path) -> None:
    """From here and from Cloud Storage: rows that do not count are not loaded."""
    lake = compacted.with_a_source_decoded_anew(tmp_path)
    for path in lake.rglob("*.parquet"):
        server.storage[f"gs://bucket/lake/{path.relative_to(lake)}"] = path.read_bytes()
    exporter.write(lake, DATASET)
    exporter.write(lake, "p-roject.stored", files_at="gs://bucket/lake")
    with open_trace(lake) as duckdb:
        for table in schema().tables:
            wanted = sorted(duckdb.query(f"SELECT * FROM {table.name}").rows(), key=repr)
            for dataset in ("profiles", "stored"):
                found = [row[: len(table.names)] for row in server.tables[f"{dataset}.{table.name}"][1]]
                assert sorted(found, key=repr) == wanted, (dataset, table.name)
    assert len(server.tables["stored.slice"][1]) == 10 + 11 + 12 + 13 + 20
    # Compaction changes no rows: nothing has to be loaded again.
    compact(lake)
    assert exporter.write(lake, DATASET).rows == {}


@pytest.mark.repeats("the second tier asks more of a lake")
def test_a_part_of_a_lake(server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lake = compacted.fleet(tmp_path)
    exporter.write(lake, DATASET)
    words = ["query", str(lake), "SELECT run_id FROM run", "--engine", "bigquery", "--dataset", DATASET]
    assert main([*words, "--host", "h1"]) == 2
    assert "whole runs" in capsys.readouterr().err
    assert main([*words, "--run", "nowhere"]) == 2
    assert "no run nowhere" in capsys.readouterr().err
    assert main(["export", str(lake), "-o", f"bigquery://{DATASET}", "--run", "fleet"]) == 2
    assert "whole lake" in capsys.readouterr().err
    for more in (["--dataset", DATASET, "--engine", "bigquery"], ["--engine", "spark", "--remote", "sc://x"]):
        assert main(["summary", "s3://bucket/lake", *more]) == 2
        assert "needs a lake in a folder" in capsys.readouterr().err
    words = ["ingest", str(lake.parent / "logs"), "--lake", "s3://bucket/lake", "--runner", "spark"]
    assert main(words) == 2
    assert "folders only" in capsys.readouterr().err


def test_time_limits(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that does not answer, and one that only fails, end in a sentence."""
    lake = tmp_path / "lake"
    chrome(tmp_path / "run=a" / "host=h1" / "t.json", "one")
    stepscope.ingest([tmp_path / "run=a"], lake)
    monkeypatch.setattr("stepscope.engines.bigquery.REQUEST_S", 1.0)
    server.failing["/bigquery"] = (503, 10_000)
    with pytest.raises(StepscopeError, match="did not answer"):
        exporter.write(lake, DATASET)
    server.failing.clear()
    server.delay_s = 3.0
    with pytest.raises(StepscopeError, match="did not answer"):
        exporter.write(lake, DATASET)
    server.delay_s = 0.0


def test_it_is_asked_for_wrongly(
    lake: Path,
    server: Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def told(*words: str) -> str:
        assert main(list(words)) == 2
        return capsys.readouterr().err

    assert "--dataset" in told("summary", str(lake), "--engine", "bigquery")
    assert "does not make sense" in told("summary", str(lake), "--engine", "bigquery", "--dataset", "x")
    assert "lacks run" in told("summary", str(lake), "--engine", "bigquery", "--dataset", DATASET)
    assert "not a number of bytes" in told("query", str(lake), "SELECT 1 AS a", "--max-bytes", "many")
    more = (str(corpus.SAMPLES / "chrome" / "phases.json"), "-o", f"bigquery://{DATASET}")
    assert "needs a lake" in told("export", str(lake), *more)
    assert "Only a lake has a copy" in told("export", *more, "--from", "gs://bucket/lake")
    assert "Cloud Storage" in told("export", str(lake), "-o", f"bigquery://{DATASET}", "--from", "s3://x")
    assert "Only an export" in told("export", str(lake), "-o", "x.json", "--from", "gs://x")
    assert "whole lake" in told("export", str(lake), "-o", f"bigquery://{DATASET}", "--table", "slice")
    newer = tmp_path / "newer"
    shutil.copytree(lake, newer)
    (newer / "stepscope-lake.json").write_text('{"schema_version": 9999, "made_by": "stepscope 9.8.7"}')
    assert "newer stepscope" in told("export", str(newer), "-o", f"bigquery://{DATASET}")
    monkeypatch.delenv("BIGQUERY_EMULATOR_HOST")
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "none.json"))
    assert "needs credentials" in told("export", str(lake), "-o", f"bigquery://{DATASET}")


@pytest.mark.parametrize("version", some((1, 22), (22,), "refused by the same number"))
def test_a_dataset_of_another_stepscope(server: Server, tmp_path: Path, version: int) -> None:
    lake = tmp_path / "lake"
    chrome(tmp_path / "run=a" / "host=h1" / "t.json", "one")
    stepscope.ingest([tmp_path / "run=a"], lake)
    exporter.write(lake, DATASET)
    fields, told = server.tables["profiles.stepscope_export"]
    written = list(told)
    told[:] = [(*row[:-1], 9999) for row in written]
    with pytest.raises(LakeError, match="newer stepscope"):
        exporter.write(lake, DATASET)
    at = [field.name for field in fields].index("made_by")
    del fields[at]
    told[:] = [(*row[:at], version) for row in written]
    with pytest.raises(LakeError, match="dataset was filled by a stepscope from before its first") as caught:
        exporter.write(lake, DATASET)
    assert caught.value.todo == "export to another dataset"


def test_limits_and_datasets() -> None:
    from stepscope.engines.bigquery import split

    assert split("bigquery://my-project.profiles") == ("my-project", "profiles")
    assert split("example.com:my-project.profiles") == ("example.com:my-project", "profiles")
    for wrong in ("profiles", "a.b.c.d`", "my-project.", "my-project.pro files", ""):
        with pytest.raises(UsageError):
            split(wrong)
    assert LimitReached.slug == "limit-reached"
