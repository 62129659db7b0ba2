"""Recordings that are empty, enormous, hostile, or gone while they are looked at."""

import csv
import io
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

import stepscope
from tests.corpus import SAMPLES
from tests.server.asking import Served, cells
from tests.tiers import cases

pytestmark = pytest.mark.usefixtures("nothing_is_derived")

Open = Callable[..., Served]
EVIL = "<script>alert(1)</script>\u202eevil\u2066\x1b[31m\x00'\"`${7*7}&amp;\ud83d\ude00"


@pytest.fixture
def open_page() -> Iterator[Open]:
    pages: list[Served] = []

    def made(*paths: str | Path, **limits: Any) -> Served:
        pages.append(Served(*map(str, paths), **{"processes": 1, **limits}))
        return pages[-1]

    yield made
    for page in pages:
        page.close()


def chrome(folder: Path, events: list[dict[str, Any]]) -> Path:
    path = folder / "trace.json"
    path.write_text(json.dumps({"traceEvents": events}), encoding="utf-8")
    return path


def complete(**values: Any) -> dict[str, Any]:
    return {"ph": "X", "pid": 1, "tid": 1, "name": "a", "ts": 0, "dur": 1, **values}


def everything(page: Served) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The catalog, and all cells of all tracks."""
    told = page.get("/api/catalog").json
    listed = ",".join(str(one["track"]) for one in told["tracks"])
    wide = page.get(f"/api/timeline?from={-(2**63)}&to={2**63 - 1}&px=1600&tracks={listed}")
    header, rows = cells(wide)
    assert header["events"] == sum(one["slices"] for one in told["tracks"])
    for path in ("names", "report/summary", "report/pipeline", "report/memory"):
        assert page.get(f"/api/{path}").status == 200
    return told, rows


def test_a_trace_without_slices(open_page: Open, tmp_path: Path) -> None:
    counter = {"ph": "C", "pid": 1, "name": "memory", "ts": 5, "args": {"bytes": 3}}
    page = open_page(chrome(tmp_path, [counter]))
    told = page.get("/api/catalog").json
    assert sum(one["slices"] for one in told["tracks"]) == 0
    assert page.get("/api/names").json["names"] == []
    assert page.get("/api/report/summary").status == 200
    series = page.get(f"/api/counters?from=0&to={10**9}&px=100").json["series"]
    assert [one["points"] for one in series] == [[[5_000_000, 3.0]]] or series[0]["points"][0][1] == 3.0
    assert page.get("/api/search?q=a&limit=5").json == {"total": 0, "slices": []}


def test_a_file_with_nothing_in_it(open_page: Open, tmp_path: Path) -> None:
    page = open_page(chrome(tmp_path, []))
    assert page.get("/api/catalog").status in (200, 409)
    assert page.sql("SELECT count(*) AS n FROM slice").status in (200, 409)


def test_one_slice(open_page: Open, tmp_path: Path) -> None:
    told, rows = everything(open_page(chrome(tmp_path, [complete()])))
    assert len(told["tracks"]) == len(rows) == 1
    assert rows[0]["count"] == 1
    assert told["end_ps"] - told["start_ps"] == rows[0]["width"] == 1_000_000


@pytest.mark.repeats("server/test_axis.py has times as far apart")
def test_one_enormous_slice_and_times_before_the_origin(open_page: Open, tmp_path: Path) -> None:
    days = 100 * 86_400 * 10**6
    events = [
        complete(dur=days),
        complete(tid=2, ts=-5_000),
        complete(tid=2, ts=7),
        complete(tid=2, ts=0, dur=0),
    ]
    told, rows = everything(open_page(chrome(tmp_path, events)))
    assert sum(row["count"] for row in rows) == 4
    assert max(row["width"] for row in rows) == days * 10**6
    assert told["end_ps"] - told["start_ps"] >= days * 10**6


@pytest.mark.repeats("only their number is new")
def test_thousands_of_tracks(open_page: Open, tmp_path: Path) -> None:
    count = cases(2_000, 10_000)
    page = open_page(chrome(tmp_path, [complete(tid=number, ts=number) for number in range(count)]))
    told, rows = everything(page)
    assert len(told["tracks"]) == len(rows) == count


@pytest.mark.repeats("the page shows hostile names in web/test_hostile.py")
def test_names_of_a_megabyte_and_hostile_ones(open_page: Open, tmp_path: Path) -> None:
    long = "n" * (1 << 20)
    events = [complete(name=EVIL, args={EVIL: EVIL, "__proto__": 2**63, "length": 1.5})]
    events += [complete(name=long, ts=5), complete(name="__proto__", ts=7), complete(name="", ts=9)]
    events += [{"ph": "M", "pid": 1, "name": "process_name", "args": {"name": EVIL}}]
    page = open_page(chrome(tmp_path, events))
    told, _ = everything(page)
    window = f"from={told['start_ps']}&to={told['end_ps'] + 1}&px=16384&tracks=0"
    _, rows = cells(page.get(f"/api/timeline?{window}"))
    names = page.get("/api/names").json["names"]
    assert max(map(len, names)) <= 1_000
    assert len(page.get("/api/names").body) < 100_000
    by_name = {names[row["name"]]: row for row in rows}
    assert "__proto__" in by_name
    evil = next(row for name, row in by_name.items() if name.startswith("<script>"))
    answer = page.get(f"/api/slice/{evil['id']}")
    assert answer.header("content-type") == "application/json"
    assert answer.json["slice"]["name"].startswith("<script>alert(1)</script>\u202eevil")
    assert answer.json["args"]["__proto__"] is not None
    assert answer.body.isascii()
    longest = next(row for name, row in by_name.items() if name.startswith("nnn"))
    assert len(page.get(f"/api/slice/{longest['id']}").json["slice"]["name"]) == len(long)
    assert page.get("/api/search?q=SCRIPT&limit=5").json["total"] == 1
    rows_of = page.sql("SELECT name FROM slice ORDER BY length(name)").json["rows"]
    assert [len(name) for (name,) in rows_of][-1] == len(long)


@pytest.mark.repeats("a lake made for one number")
def test_a_lake_whose_ids_have_more_digits_than_a_page_can_count(open_page: Open, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        chrome(tmp_path / name, [complete(tid=number, ts=number) for number in range(15)])
    stepscope.ingest([tmp_path / "a", tmp_path / "b"], tmp_path / "lake")
    page = open_page(tmp_path / "lake")
    told, rows = everything(page)
    assert any(row["id"] > 2**53 for row in rows)
    assert [one["track"] for one in told["tracks"]] == list(range(len(told["tracks"])))
    for row in rows[:20]:
        assert page.get(f"/api/slice/{row['id']}").json["slice"]["id"] == str(row["id"])
    found = page.sql("SELECT id FROM slice ORDER BY id DESC LIMIT 1").json["rows"][0][0]
    assert found == str(int(found))
    # Another run comes in meanwhile: what was opened stays as it was.
    stepscope.ingest([SAMPLES / "chrome" / "phases.json"], tmp_path / "lake")
    again, _ = everything(page)
    assert len(again["sources"]) == len(told["sources"])


def test_a_file_that_vanishes_while_it_is_open(open_page: Open, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    shutil.copy(SAMPLES / "chrome" / "kineto_cuda.json", path)
    page = open_page(path)
    told, rows = everything(page)
    path.unlink()
    assert everything(page)[0] == told
    assert page.get(f"/api/slice/{rows[0]['id']}").status == 200
    assert page.sql("SELECT 1 AS a").status in (200, 400, 404, 409)  # its process looks for the file now


@pytest.mark.repeats("files that are replaced under the page")
def test_a_lake_that_vanishes_while_it_is_open(open_page: Open, tmp_path: Path) -> None:
    stepscope.ingest([SAMPLES / "chrome" / "kineto_cuda.json"], tmp_path / "lake")
    page = open_page(tmp_path / "lake")
    assert page.get("/api/catalog").status == 200
    shutil.rmtree(tmp_path / "lake")
    for path in ("/api/names", "/api/report/summary", "/api/search?q=a&limit=1"):
        answer = page.get(path)
        assert answer.status in (200, 400, 404, 409)
        assert answer.status == 200 or answer.slug


def test_who_leaves_frees_the_thread(open_page: Open) -> None:
    page = open_page(SAMPLES / "chrome" / "kineto_cuda.json")
    assert page.get("/api/catalog").status == 200
    assert page.sql("SELECT 1 AS a").status == 200
    endless = "SELECT count(*) AS n FROM range(100000000) AS a, range(100000000) AS b"
    assert page.sql(endless, leave_after=0.3).status == 0
    assert page.sql("SELECT 1 AS a").json["rows"] == [[1]]  # there is one process, and it is free again

    async def slow() -> None:
        from starlette.requests import Request

        from stepscope.server.app import ClientGone, answered

        async def endpoint(asked: Any, request: Request) -> Any:
            return await page.page.recording.desk.ask(lambda trace: trace.query(endless).rows())

        async def receive() -> Any:
            return {"type": "http.disconnect"}

        request = Request({"type": "http", "method": "GET", "headers": []}, receive)
        with pytest.raises(ClientGone):
            await answered(page.page, endpoint, request)

    page.run(slow())
    assert page.get("/api/search?q=a&limit=1").status == 200


def test_downloads_have_every_row(open_page: Open) -> None:
    page = open_page(SAMPLES / "chrome" / "kineto_cuda.json", most_rows=1)
    sql = (
        "SELECT id, name, dur_ps / 2 AS half, depth > 0 AS nested, [id] AS ids, 2::HUGEINT ** 70 AS big,"
        " id, NULL AS nothing FROM slice ORDER BY id"
    )

    def download(form: str) -> bytes:
        answer = page.post("/api/sql/download", {"sql": sql, "form": form})
        assert answer.status == 200, answer.body
        assert answer.header("content-disposition") == f'attachment; filename="stepscope.{form}"'
        return answer.body

    table = pyarrow.parquet.read_table(io.BytesIO(download("parquet")))
    whole = json.loads(download("json"))["rows"]
    lines = list(csv.reader(io.StringIO(download("csv").decode())))
    with stepscope.open(SAMPLES / "chrome" / "kineto_cuda.json") as trace:
        rows = trace.query(sql).rows()
    assert table.num_rows == len(whole) == len(lines) - 1 == len(rows) > 1
    assert table.column_names == ["id", "name", "half", "nested", "ids", "big", "id_1", "nothing"]
    for row, found, one in zip(rows, table.to_pylist(), whole, strict=True):
        assert found["id"] == found["id_1"] == one["id"] == row[0]
        assert (found["name"], found["half"], found["nested"]) == row[1:4]
        assert json.loads(found["ids"]) == one["ids"] == [row[0]]
        assert float(found["big"]) == 2**70
        assert found["nothing"] is None
    none = page.post("/api/sql/download", {"sql": "SELECT 1 AS a WHERE false", "form": "parquet"})
    assert pyarrow.parquet.read_table(io.BytesIO(none.body)).num_rows == 0


def test_rows_are_cut_with_a_notice_and_counted_when_they_are_not(open_page: Open) -> None:
    page = open_page(SAMPLES / "chrome" / "phases.json", most_rows=10, most_bytes=10_000)
    ten = page.sql("SELECT range AS a FROM range(10)").json
    assert (len(ten["rows"]), ten["total"], ten["cut"], ten["most_rows"]) == (10, 10, False, 10)
    eleven = page.sql("SELECT range AS a FROM range(11)").json
    assert (len(eleven["rows"]), eleven["total"], eleven["cut"]) == (10, None, True)
    wide = page.sql("SELECT repeat('x', 4000) AS a FROM range(5)").json
    assert (len(wide["rows"]), wide["cut"]) == (2, True)
    one = page.sql("SELECT repeat('x', 20000) AS a").json
    assert (one["rows"], one["cut"]) == ([], True)
    kinds = page.sql(
        "SELECT 9007199254740993::BIGINT AS a, 'x' AS b, [1, 9007199254740993] AS c, {'k': 1.5} AS d,"
        " 'nan'::DOUBLE AS e, NULL AS f, true AS g, '\\x00\\xff'::BLOB AS h, DATE '2020-01-02' AS i"
    ).json
    assert kinds["rows"] == [
        ["9007199254740993", "x", [1, "9007199254740993"], {"k": 1.5}, None, None, True, "00ff", "2020-01-02"]
    ]
    assert kinds["types"][0] == "BIGINT"


def test_threads_are_in_the_order_of_their_numbers(open_page: Open, tmp_path: Path) -> None:
    """As people sort: 2 before 10. Numbers of other scripts and of many digits are text like any other."""
    names = ["worker 1", "worker 2", "worker 10", "worker 100", f"worker {'9' * 40}", "worker ²", "zebra"]
    events: list[dict[str, Any]] = []
    for tid, name in enumerate(reversed(names)):
        events.append({"ph": "M", "name": "thread_name", "pid": 1, "tid": tid, "args": {"name": name}})
        events.append(complete(tid=tid))
    page = open_page(chrome(tmp_path, events))
    assert [track["name"] for track in page.get("/api/catalog").json["tracks"]] == names
