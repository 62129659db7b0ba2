"""A long answer holds up no other, says how far it is, and ends when nobody waits for it any more."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from stepscope.background import Stopped, go_on
from stepscope.errors import QueryError
from stepscope.library.statements import statement
from stepscope.server import graphs, reports, trace_workers
from stepscope.session.trace import OpenTrace
from tests.corpus import SAMPLES
from tests.server.asking import RECORDINGS, Served

ENDLESS = "SELECT count(*) AS n FROM range(100000000) AS a, range(100000000) AS b"
MEMORY = "/api/report/memory"
HANG_SECONDS = 240
"""Nothing here takes as long, however busy the machine is: a bound on a hang."""


@pytest.fixture
def page() -> Iterator[Served]:
    page = Served(RECORDINGS[1])
    page.get("/api/catalog")
    yield page
    page.close()


class Slow:
    """An answer about memory that takes as long as `work` does; `begun` and `ended` are events of it."""

    def __init__(self, patch: pytest.MonkeyPatch, work: Callable[[OpenTrace], object]) -> None:
        self.begun, self.ended, self.begins = threading.Event(), threading.Event(), 0
        self.raised: BaseException | None = None
        self._work = work
        patch.setitem(reports.REPORTS, "memory", self._answer)

    def _answer(self, trace: OpenTrace) -> bytes:
        self.begins += 1
        self.begun.set()
        try:
            self._work(trace)
        except BaseException as error:
            self.raised = error
            raise
        finally:
            self.ended.set()
        return b'{"slow":true}'


def test_a_long_answer_holds_up_no_other(page: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_workers, "PATIENCE_SECONDS", 0.0)
    held = threading.Event()
    slow = Slow(monkeypatch, lambda trace: held.wait(HANG_SECONDS))
    with ThreadPoolExecutor() as pool:
        first = pool.submit(page.get, MEMORY)
        assert slow.begun.wait(HANG_SECONDS)
        try:
            for other in ("ops", "analysis/op_types", "graphs", "search?q=a&limit=1"):
                assert page.get(f"/api/{other}").status == 200, other
                assert not slow.ended.is_set()
            assert page.sql("SELECT 1 AS a").json["rows"] == [[1]]
        finally:
            held.set()
        assert first.result(HANG_SECONDS).json == {"slow": True}


def test_at_most_a_few_are_worked_out_at_the_same_time(page: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_workers, "PATIENCE_SECONDS", 0.0)
    held = threading.Event()
    together = threading.Semaphore(trace_workers.MOST_DESKS)
    all_busy = threading.Barrier(trace_workers.MOST_DESKS + 1)

    def work(number: int) -> int:
        assert together.acquire(blocking=False), "more at a time than there are desks"
        if number < trace_workers.MOST_DESKS:
            all_busy.wait(HANG_SECONDS)
        held.wait(HANG_SECONDS)
        together.release()
        return number

    with ThreadPoolExecutor() as pool:
        asked = [
            pool.submit(page.run, page.page.recording.long.ask(lambda _, n=n: work(n)))  # type: ignore[misc]
            for n in range(trace_workers.MOST_DESKS)
        ]
        try:
            all_busy.wait(HANG_SECONDS)
            asked += [
                pool.submit(page.run, page.page.recording.long.ask(lambda _, n=n: work(n)))  # type: ignore[misc]
                for n in range(trace_workers.MOST_DESKS, trace_workers.MOST_DESKS + 3)
            ]
        finally:
            held.set()
        assert [one.result(HANG_SECONDS) for one in asked] == list(range(trace_workers.MOST_DESKS + 3))


def _one_query(trace: OpenTrace) -> None:
    trace.query(ENDLESS).rows()


def _many_queries(trace: OpenTrace) -> None:
    while True:
        trace.query(statement("page_runs")).rows()


def _no_query(trace: OpenTrace | None = None) -> None:
    while True:
        go_on()


@pytest.mark.parametrize(
    ("work", "raised"),
    [(_one_query, (Stopped, QueryError)), (_many_queries, (Stopped, QueryError)), (_no_query, Stopped)],
    ids=["one long query", "many short queries", "Python alone"],
)
def test_a_client_that_leaves_stops_its_work(
    page: Served,
    work: Callable[[OpenTrace], object],
    raised: type[BaseException] | tuple[type[BaseException], ...],
) -> None:
    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor() as pool:
        slow, leave = Slow(patch, work), threading.Event()
        asked = pool.submit(page.get, MEMORY, leave=leave)
        assert slow.begun.wait(HANG_SECONDS)
        leave.set()
        assert slow.ended.wait(HANG_SECONDS)
        assert isinstance(slow.raised, raised)
        assert asked.result(HANG_SECONDS).status == 0
    assert page.page.under_way == {}
    assert page.get(MEMORY).json["title"]  # asked anew, on the same trace


def test_a_client_that_leaves_stops_what_needs_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    page, begun, ended = Served(str(SAMPLES / "graph" / "small.pb")), threading.Event(), threading.Event()

    def level(*_: object) -> object:
        begun.set()
        try:
            return _no_query()
        finally:
            ended.set()

    given = {"graph": 0, "open": [], "fold": True, "flat": False, "given": True}
    with closing(page), ThreadPoolExecutor() as pool:
        with monkeypatch.context() as patch:
            patch.setattr(graphs, "level", level)
            leave = threading.Event()
            asked = pool.submit(page.post, "/api/graph", given, leave=leave)
            assert begun.wait(HANG_SECONDS)
            leave.set()
            assert ended.wait(HANG_SECONDS)
            assert asked.result(HANG_SECONDS).status == 0
        assert page.post("/api/graph", given).json["boxes"]


def test_what_two_wait_for_ends_when_both_have_left(page: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Slow(monkeypatch, _no_query)
    leave = [threading.Event(), threading.Event()]
    with ThreadPoolExecutor() as pool:
        asked = [pool.submit(page.get, MEMORY, leave=one) for one in leave]
        assert slow.begun.wait(HANG_SECONDS)
        page.run(_both_wait(page))
        leave[0].set()
        assert asked[0].result(HANG_SECONDS).status == 0
        assert not slow.ended.is_set()
        leave[1].set()
        assert slow.ended.wait(HANG_SECONDS)
        assert asked[1].result(HANG_SECONDS).status == 0
    assert slow.begins == 1


async def _both_wait(page: Served) -> None:
    while page.page.recording._made[f"report {MEMORY.rpartition('/')[2]}"].waiting < 2:
        await asyncio.sleep(0)


def test_who_waits_is_told_what_is_done(page: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    held = threading.Event()

    asking = threading.Event()

    def work(trace: OpenTrace) -> None:
        trace.query(statement("page_runs")).rows()
        asking.set()
        held.wait(HANG_SECONDS)

    def doing() -> object:
        return page.get(f"/api/doing?of={MEMORY}").json["now"]

    slow = Slow(monkeypatch, work)
    assert doing() is None
    with ThreadPoolExecutor() as pool:
        first = pool.submit(page.get, MEMORY)
        try:
            assert asking.wait(HANG_SECONDS)
            assert doing() == {"doing": "asking", "what": "page_runs", "done": 0, "total": 0}
        finally:
            held.set()
        assert first.result(HANG_SECONDS).status == 200
    assert slow.begins == 1
    assert doing() is None


def test_a_page_that_closes_ends_what_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    page = Served(RECORDINGS[1])
    page.get("/api/catalog")
    slow = Slow(monkeypatch, _no_query)
    with ThreadPoolExecutor() as pool:
        asked = pool.submit(page.get, MEMORY)
        assert slow.begun.wait(HANG_SECONDS)
        page.page.close()
        assert slow.ended.wait(HANG_SECONDS)
        assert isinstance(slow.raised, Stopped)
        assert asked.exception(HANG_SECONDS) is not None
    page.close()
