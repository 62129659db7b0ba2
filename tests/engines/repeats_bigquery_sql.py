"""A lake in BigQuery, asked: Google's own SQL behind a server of its REST calls.

`STEPSCOPE_TEST_BIGQUERY=PROJECT.DATASET` asks the real one as well, with the credentials of the environment,
for less than a cent.
"""

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import stepscope
from stepscope import library
from stepscope import notebook as stepscope_notebook
from stepscope.cli import main
from stepscope.engines.bigquery import BigQuery
from stepscope.errors import LakeError, QueryError
from stepscope.exporters import bigquery as exporter
from stepscope.session.trace import open as open_trace
from tests import corpus
from tests.engines.agreeing import asked, differences, same_sentences
from tests.engines.bigquery_server import DATASET, Server, runs, serving
from tests.lake.recordings import chrome
from tests.tiers import cases

pytest.importorskip("zetasql", reason="Google's evaluator of SQL is not installed")

pytestmark = [
    pytest.mark.timeout(3600),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # sockets of Google's client
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

SAMPLES = (
    "run_metadata", "kineto", "profile", "profiler_hook/timeline-5.json", "graph", "chrome/horovod.json",
    "chrome/kineto_cuda.json", "chrome/phases.json", "xplane/tf2_trace_on.xplane.pb",
)  # fmt: skip
"""Small ones of every kind: the evaluator joins ranges in quadratic time."""
PARTS = 8
"""Of the library, so that several workers share what takes minutes."""


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bigquery") / "lake"
    stepscope.ingest([corpus.SAMPLES / name for name in SAMPLES], folder)
    return folder


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """An empty server."""
    with serving() as (found, url):
        monkeypatch.setenv("BIGQUERY_EMULATOR_HOST", url)
        yield found


@pytest.fixture(scope="module")
def whole(lake: Path) -> Iterator[tuple[Server, str]]:
    """A server that has the lake. Tests leave it as it is."""
    with serving() as (server, url), pytest.MonkeyPatch.context() as patched:
        patched.setenv("BIGQUERY_EMULATOR_HOST", url)
        exporter.write(lake, DATASET)
        yield server, url


@pytest.mark.parametrize("part", range(PARTS))
def test_the_whole_library_gives_equal_rows(
    lake: Path, whole: tuple[Server, str], monkeypatch: pytest.MonkeyPatch, part: int
) -> None:
    """Cell by cell, in the same order, through Google's client and Google's SQL."""
    monkeypatch.setenv("BIGQUERY_EMULATOR_HOST", whole[1])
    with open_trace(lake) as duckdb, open_trace(lake, engine=lambda: BigQuery(DATASET, runs(lake))) as other:
        different, cells = differences(duckdb, other, asked()[part::PARTS])
    assert different == {}
    assert cells > cases(1_600, 10_000) // PARTS


def test_the_sentences_are_the_same(
    lake: Path, whole: tuple[Server, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BIGQUERY_EMULATOR_HOST", whole[1])
    with open_trace(lake) as duckdb, open_trace(lake, engine=lambda: BigQuery(DATASET, runs(lake))) as other:
        assert same_sentences(duckdb, other)


def test_what_users_ask(
    lake: Path, whole: tuple[Server, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BIGQUERY_EMULATOR_HOST", whole[1])
    sql = "SELECT s.name, COUNT(*) AS n FROM slice AS s GROUP BY s.name ORDER BY n DESC, s.name LIMIT 3"
    assert main(["query", str(lake), sql, "--format", "json"]) == 0
    wanted = json.loads(capsys.readouterr().out)
    words = ["query", str(lake), sql, "--format", "json", "--engine", "bigquery", "--dataset", DATASET]
    assert main(words) == 0
    said = capsys.readouterr()
    assert json.loads(said.out) == wanted
    assert "by a dry run" in said.err, "what it costs is talk"
    asked = len(whole[0].sql)
    assert main([*words, "--max-bytes", "1kB"]) == 2
    refused = capsys.readouterr().err
    assert "reads more than it may" in refused
    assert "1,000" in refused
    assert len(whole[0].sql) == asked, "only the dry run was asked"
    assert main([*words, "--max-bytes", "1GiB"]) == 0
    with open_trace(lake, engine=lambda: BigQuery(DATASET, runs(lake))) as trace:
        rows = trace.query("SELECT COUNT(*) AS n FROM slice AS s WHERE s.dur_ps >= $1", [0]).rows()
        assert rows[0][0] > 250
        assert trace.query("WITH mine AS (SELECT 1 AS a) SELECT m.a FROM mine AS m").rows() == [(1,)]
        for refused, seen in (
            ("SELECT nothing FROM slice", "nothing"),
            ('SELECT * FROM "other.project.table"', "no table"),
            ("WITH step AS (SELECT * FROM step) SELECT * FROM step", "call it otherwise"),
        ):
            with pytest.raises(QueryError) as error:
                trace.query(refused).rows()
            assert seen in str(error.value), refused


def test_a_run_that_grew_is_exported_anew(server: Server, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    chrome(tmp_path / "run=a" / "host=h1" / "t.json", "one")
    stepscope.ingest([tmp_path / "run=a"], lake)
    exporter.write(lake, DATASET)
    chrome(tmp_path / "run=a" / "host=h2" / "t.json", "two")
    stepscope.ingest([tmp_path / "run=a"], lake)
    engine = BigQuery(DATASET, runs(lake))
    with open_trace(lake, engine=lambda: engine) as trace, pytest.raises(LakeError, match="does not have"):
        trace.query("SELECT COUNT(*) AS n FROM slice").rows()
    exporter.write(lake, DATASET)
    assert len(server.tables["profiles.source"][1]) == 2
    with open_trace(lake) as duckdb, open_trace(lake, engine=lambda: BigQuery(DATASET, runs(lake))) as other:
        sql = "SELECT host_id, COUNT(*) AS n FROM slice GROUP BY host_id ORDER BY host_id"
        assert other.query(sql).rows() == duckdb.query(sql).rows()


def test_a_dataset_of_several_lakes(server: Server, tmp_path: Path) -> None:
    """Each lake is answered with its own rows."""
    for name in "ab":
        chrome(tmp_path / name / f"run={name}" / "host=h" / "t.json", name)
        stepscope.ingest([tmp_path / name], tmp_path / f"lake-{name}")
        exporter.write(tmp_path / f"lake-{name}", DATASET)
    lake = tmp_path / "lake-a"
    assert len(server.tables["profiles.run"][1]) == 2
    with open_trace(lake) as duckdb, open_trace(lake, engine=lambda: BigQuery(DATASET, runs(lake))) as other:
        for sql in ("SELECT run_id FROM run", "SELECT op, COUNT(*) AS n FROM op_sum GROUP BY op ORDER BY op"):
            assert other.query(sql).rows() == duckdb.query(sql).rows()


@pytest.fixture
def shell(server: Server) -> Any:
    """IPython with Google's magics, and a dataset `traces`."""
    import bigquery_magics
    from google.auth.credentials import AnonymousCredentials
    from google.cloud import bigquery
    from IPython import get_ipython
    from IPython.testing.globalipapp import start_ipython

    shell = start_ipython() or get_ipython()  # there is one in a process
    url = os.environ["BIGQUERY_EMULATOR_HOST"]
    client = bigquery.Client("p-roject", AnonymousCredentials(), client_options={"api_endpoint": url})
    client.create_dataset("traces")
    shell.push({"client": client})
    bigquery_magics.context.credentials = AnonymousCredentials()
    bigquery_magics.context.project = "p-roject"
    bigquery_magics.context.bigquery_client_options = {"api_endpoint": url}
    shell.run_line_magic("load_ext", "bigquery_magics")
    return shell


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # of Google's package, about itself
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_flow_of_the_guide(server: Server, shell: Any, tmp_path: Path) -> None:
    """docs/how-to/ask-bigquery.md: NDJSON, autodetection, queries, a cell with a destination table."""
    source = corpus.SAMPLES / "profiler_hook"
    out = tmp_path / "events.ndjson"
    assert main(["export", str(source), "-o", str(out), "--no-cache"]) == 0
    code = _blocks(Path("docs/how-to/ask-bigquery.md"))
    shell.push({"file_name": str(out)})
    shell.run_cell(code["load"]).raise_error()
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(server.tables["traces.events"][1]) == len(lines)
    shell.run_cell(code["flatten"]).raise_error()
    ops = [one for one in lines if one.get("dur_ps") is not None]
    assert len(server.tables["traces.ops"][1]) == len(ops)
    shell.run_cell(code["ask"]).raise_error()
    totals: dict[str, int] = {}
    for one in ops:
        totals[one["name"]] = totals.get(one["name"], 0) + one["dur_ps"]
    found = shell.user_ns["totals"]
    wanted = sorted(totals.items(), key=lambda one: (-one[1], one[0]))[:20]
    assert list(zip(found["name"], found["total_ps"], strict=True)) == wanted


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # of Google's package, about itself
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_cells_of_the_article(server: Server, shell: Any, tmp_path: Path) -> None:
    """A session's timelines as one line of JSON, loaded, flattened to a table, added up; %%stepscope over the
    same file and BigQuery over stepscope's NDJSON add up the same."""
    path = tmp_path / "timeline.json"
    source = corpus.SAMPLES / "tf1" / "session" / "timeline.json.gz"
    path.write_bytes(gzip.decompress(source.read_bytes()).replace(b"\n", b" "))
    events = json.loads(path.read_text())["traceEvents"]
    shell.push({"file_name": str(path)})
    code = _blocks(Path("docs/how-to/ask-bigquery.md"))
    shell.run_cell(code["load"]).raise_error()
    assert len(server.tables["traces.events"][1]) == 1, "one row, as the article finds"
    shell.run_cell("%%bigquery --destination_table traces.flat\n" + FLATTEN).raise_error()
    assert len(server.tables["traces.flat"][1]) == len(events)
    shell.run_cell("%%bigquery totals\n" + ADD_UP.format("traces.flat")).raise_error()
    wanted: dict[str | None, list[int]] = {}
    for one in events:
        wanted.setdefault(one.get("args", {}).get("name"), []).append(one.get("dur"))
    truth = {
        name: (sum(times), sum(times) / len(times), min(times), max(times))
        for name, all_ in wanted.items()
        if (times := [one for one in all_ if one is not None])
    }
    totals = shell.user_ns["totals"].itertuples(index=False)
    found = {row[-1]: tuple(row[:-1]) for row in totals if row[0] == row[0]}
    assert len(found) == 20
    assert sorted(one[0] for one in found.values()) == sorted(sorted(t[0] for t in truth.values())[-20:])
    assert all(one == pytest.approx(truth[name]) for name, one in found.items())

    # stepscope's own line for each event, in a table of the same columns
    out = tmp_path / "events.ndjson"
    assert main(["export", str(path), "-o", str(out), "--no-cache"]) == 0
    server.tables.pop("traces.events")
    shell.push({"file_name": str(out)})
    shell.run_cell(code["load"]).raise_error()
    shell.run_cell("%%bigquery own\n" + ADD_UP.format("traces.events")).raise_error()
    own = {row[-1]: row[0] for row in shell.user_ns["own"].itertuples(index=False)}
    assert own == pytest.approx({name: one[0] for name, one in found.items()})
    stepscope_notebook.load(shell)
    shell.run_cell(f"%%stepscope query {path} --into here\n" + HERE).raise_error()
    here = {name: total for total, name in shell.user_ns["here"].rows()}
    assert here == pytest.approx(own)


FLATTEN = """
SELECT index, e.name, e.ph, e.cat, e.pid, e.tid, e.ts, e.dur, e.args.name AS arg_name, e.args.op AS arg_op
FROM traces.events AS t, UNNEST(t.traceEvents) AS e WITH OFFSET AS index
"""
ADD_UP = """
SELECT SUM(dur) AS total, AVG(dur) AS mean, MIN(dur) AS shortest, MAX(dur) AS longest, arg_name
FROM {} GROUP BY arg_name ORDER BY 1 DESC LIMIT 20
"""
HERE = """
SELECT sum(dur_ps) / 1e6 AS total, json_extract_string(args_json, '$.name') AS arg_name
FROM slice GROUP BY arg_name ORDER BY 1 DESC LIMIT 20
"""


def _blocks(page: Path) -> dict[str, str]:
    """Python cells of a page by the comment in their first line."""
    text = (Path(__file__).parents[2] / page).read_text()
    cells = [part.split("```")[0] for part in text.split("```python\n")[1:]]
    found = {}
    for cell in cells:
        for name in ("load", "flatten", "ask"):
            if f"# {name}" in cell:
                found[name] = "\n".join(line for line in cell.splitlines() if line != f"# {name}")
    return found


@pytest.mark.skipif(
    "STEPSCOPE_TEST_BIGQUERY" not in os.environ,
    reason="STEPSCOPE_TEST_BIGQUERY=PROJECT.DATASET asks Google's cloud, which costs money",
)
def test_the_cloud_gives_equal_rows(lake: Path) -> None:
    dataset = os.environ["STEPSCOPE_TEST_BIGQUERY"]
    exporter.write(lake, dataset)
    with (
        open_trace(lake) as duckdb,
        open_trace(lake, engine=lambda: BigQuery(dataset, runs(lake), max_bytes=1 << 30)) as other,
    ):
        different, _ = differences(duckdb, other, library.entries())
    assert different == {}
