"""A lake that grows while its page is open: told, opened again on demand, and never an error meanwhile."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import stepscope
from stepscope.session import trace
from tests.corpus import SAMPLES
from tests.server.asking import Served

pytestmark = pytest.mark.usefixtures("nothing_is_derived")

FIRST = SAMPLES / "tf_data" / "map_py_function.xplane.pb"
MORE = SAMPLES / "tf_data" / "two_maps_first_slow.xplane.pb.gz"


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    stepscope.ingest([FIRST], tmp_path / "lake", run="first")
    return tmp_path / "lake"


@pytest.fixture
def page(lake: Path) -> Iterator[Served]:
    served = Served(lake=str(lake))
    yield served
    served.close()


def told(page: Served, path: str) -> dict[str, object]:
    answer = page.get(path)
    assert answer.status == 200, answer.body
    found: dict[str, object] = json.loads(answer.body)
    return found


def runs(page: Served) -> set[str]:
    catalog = json.loads(page.get("/api/catalog").body)
    return {track["run_id"] for track in catalog["tracks"]}


def sources(page: Served) -> int:
    rows = json.loads(page.sql("SELECT COUNT(*) AS n FROM source").body)["rows"]
    return int(rows[0][0])


def test_new_sources_are_counted_and_seen_after_opening_again(lake: Path, page: Served) -> None:
    assert told(page, "/api/news") == {"sources": 0, "opened": 1}
    assert runs(page) == {"first"}
    assert sources(page) == 1
    stepscope.ingest([MORE], lake, run="second")
    assert told(page, "/api/news") == {"sources": 1, "opened": 1}
    assert runs(page) == {"first"}
    assert sources(page) == 1
    assert json.loads(page.post("/api/reload", {}).body) == {"opened": 2}
    assert told(page, "/api/news") == {"sources": 0, "opened": 2}
    assert runs(page) == {"first", "second"}
    assert sources(page) == 2


@pytest.mark.skipif(not hasattr(os, "getpriority"), reason="no priorities here")
def test_statements_give_way_to_the_page(page: Served) -> None:
    assert sources(page) == 1
    (child,) = page.page.console._idle
    own = os.getpriority(os.PRIO_PROCESS, 0)
    assert os.getpriority(os.PRIO_PROCESS, child._process.pid) == min(own + 5, 19)


def test_a_page_from_before_is_refused_not_misled(lake: Path, page: Served) -> None:
    assert told(page, "/api/catalog")["opened"] == 1
    now = [("Host", "127.0.0.1:7391"), ("Cookie", page.cookie)]
    for opened, status in (("1", 200), ("2", 409)):
        answer = page.raw("GET", "/api/catalog", [*now, ("X-Stepscope-Opened", opened)])
        assert answer.status == status
    page.post("/api/reload", {})
    assert json.loads(page.raw("GET", "/api/news", [*now, ("X-Stepscope-Opened", "1")]).body)["opened"] == 2
    answer = page.raw("GET", "/api/catalog", [*now, ("X-Stepscope-Opened", "1")])
    assert answer.status == 409
    assert json.loads(answer.body)["error"]["to_do"] == "reload the page"


def test_a_compacted_lake_and_one_that_is_gone_are_no_news(lake: Path, page: Served) -> None:
    stepscope.ingest([MORE], lake, run="first", host="other")
    page.post("/api/reload", {})
    trace.compact(lake)
    assert told(page, "/api/news")["sources"] == 0
    lake.rename(lake.with_name("moved"))
    assert told(page, "/api/news")["sources"] == 0


@pytest.mark.repeats("a race, tried again and again")
def test_nothing_fails_while_another_process_ingests(lake: Path, page: Served) -> None:
    """Every answer is 200 from before the first source comes until all are seen."""
    catalog = json.loads(page.get("/api/catalog").body)
    window = f"from={catalog['start_ps']}&to={catalog['end_ps']}&px=800&tracks=0"
    failed: list[object] = []
    asked = 0
    over = threading.Event()

    def ask() -> None:
        nonlocal asked
        while not over.is_set():
            for path in ("/api/catalog", f"/api/timeline?{window}", "/api/news", "/api/report/summary"):
                answer = page.get(path)
                asked += 1
                if answer.status != 200:
                    failed.append((path, answer.body))
            answer = page.sql("SELECT COUNT(*) FROM slice")
            if answer.status != 200:
                failed.append(answer.body)

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        for number in range(3):
            command = [sys.executable, "-m", "stepscope", "ingest", str(MORE)]
            subprocess.run([*command, "--lake", str(lake), "--run", f"more{number}"], check=True)
            page.post("/api/reload", {})
    finally:
        over.set()
        asking.join()
    assert failed == []
    assert asked >= 4  # a round at least, however busy the machine is
    assert runs(page) == {"first", "more0", "more1", "more2"}
