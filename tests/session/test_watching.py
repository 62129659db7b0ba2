"""A trace says what it reads and asks, and can be stopped while it does."""

import threading
from pathlib import Path

import pytest

from stepscope import library
from stepscope.background import Stopped
from stepscope.errors import QueryError
from stepscope.library.statements import statement
from stepscope.session import trace
from tests.corpus import SAMPLES


@pytest.mark.parametrize("cached", [True, False])
def test_an_interrupt_stops_decoding_and_the_next_query_begins_anew(
    cached: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEPSCOPE_CACHE_DIR", str(tmp_path / "cache"))
    reading, held = threading.Event(), threading.Event()
    raised: list[BaseException] = []

    def told(path: str, done: int, total: int) -> None:
        reading.set()
        held.wait(240)

    with trace.open(str(SAMPLES / "chrome" / "kineto_cuda.json"), cache=cached) as opened:
        opened.watch(told, None)

        def ask() -> None:
            try:
                opened.query("SELECT count(*) FROM slice").rows()
            except BaseException as error:  # noqa: BLE001 - looked at below
                raised.append(error)

        thread = threading.Thread(target=ask)
        thread.start()
        assert reading.wait(240)
        opened.interrupt()
        held.set()
        thread.join()
        assert isinstance(raised[0], KeyboardInterrupt)
        with trace.open(str(SAMPLES / "chrome" / "kineto_cuda.json"), cache=False) as other:
            counted = other.query("SELECT count(*) FROM slice").rows()
        assert counted[0][0] > 0
        assert opened.query("SELECT count(*) FROM slice").rows() == counted


def test_who_watches_hears_of_every_statement_and_may_stop_them() -> None:
    entries = [library.entry(name) for name in ("op_types", "step_list", "step_parts")]
    heard: list[tuple[str, int, int]] = []

    def stops(name: str, done: int, total: int) -> None:
        if done:
            raise Stopped

    with trace.open(str(SAMPLES / "chrome" / "kineto_cuda.json"), cache=False) as opened:
        expected = [opened.ask(entry).rows() for entry in entries]
        opened.watch(None, lambda *said: heard.append(said))
        assert opened.answers(entries) == expected
        assert [done for _, done, _ in heard] == [0, 1, 2, 3]
        assert {total for *_, total in heard} == {3}
        assert sorted(name for name, *_ in heard[1:]) == sorted(entry.name for entry in entries)
        opened.watch(None, stops)
        with pytest.raises(Stopped):
            opened.answers(entries)
        opened.watch(None, None)
        assert opened.answers(entries) == expected


def test_verify_says_how_far_it_is(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    trace.ingest([SAMPLES / "chrome" / "kineto_cuda.json"], lake)
    heard: list[tuple[str, int, int]] = []
    files, size = trace.verify(lake, progress=lambda *said: heard.append(said))
    assert len({path for path, *_ in heard}) == len(heard) == files
    assert {total for *_, total in heard} == {size}
    assert [done for _, done, _ in heard] == sorted(done for _, done, _ in heard)
    assert heard[0][1] == 0
    last, begun, _ = heard[-1]
    assert begun + (lake / last).stat().st_size == size


def test_an_interrupt_that_hits_anything_leaves_a_trace_that_answers() -> None:
    """Wherever it hits, in the making of an engine, of tables or views, or in the query itself."""
    asked = statement("page_runs")
    with trace.open(SAMPLES / "chrome" / "kineto_cuda.json", cache=False) as other:
        expected = other.query(asked).rows()
    stop = threading.Event()
    raised: list[BaseException] = []
    opened: list[trace.OpenTrace] = []

    def interrupts() -> None:
        while not stop.wait(0.001):
            for one in opened[-1:]:
                one.interrupt()

    thread = threading.Thread(target=interrupts)
    thread.start()
    try:
        while len(opened) < 3 or not raised:  # pytest-timeout ends what hangs
            opened.append(trace.open(SAMPLES / "chrome" / "kineto_cuda.json", cache=False))
            for _ in range(10):
                try:
                    assert opened[-1].query(asked).rows() == expected
                except (QueryError, KeyboardInterrupt) as error:
                    raised.append(error)
    finally:
        stop.set()
        thread.join()
    assert raised
    for one in opened:
        assert one.query(asked).rows() == expected
        with pytest.raises(QueryError):
            one.query("SELECT * FROM read_text('/etc/hostname')")  # sealed all the same
        one.close()
