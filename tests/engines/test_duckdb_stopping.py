"""The engine can be stopped, by Ctrl-C and by who wants no more rows, and a process ends without a word."""

import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from stepscope import background
from stepscope.engines import Relation, Stream
from stepscope.engines.duckdb import DuckDB
from stepscope.errors import QueryError
from tests.pressing import pressed

SLICE = (("id", "BIGINT"), ("name", "VARCHAR"), ("dur_ps", "BIGINT"), ("args_json", "VARCHAR"))


def test_interrupt_from_another_thread(engine: DuckDB) -> None:
    with pressed(engine.interrupt), pytest.raises(QueryError, match="stopped"):
        engine.query("SELECT count(*) FROM range(100000000) a, range(1000000) b").rows()
    assert engine.query("SELECT 1").rows() == [(1,)]


def test_rows_that_nobody_wants_any_more_are_not_fetched(engine: DuckDB) -> None:
    stop = threading.Event()
    with background.stoppable(stop):
        batches = engine.query("SELECT * FROM range(30)").batches(10)
        assert next(batches) == [(number,) for number in range(10)]
        stop.set()
        with pytest.raises(background.Stopped):
            next(batches)
    assert engine.query("SELECT 1").rows() == [(1,)]


def test_ctrl_c_between_begin_and_wait_is_not_lost(engine: DuckDB, monkeypatch: pytest.MonkeyPatch) -> None:
    start = background.Background.start

    def pressed_after(work: background.Background[object]) -> background.Background[object]:
        start(work)
        raise KeyboardInterrupt

    monkeypatch.setattr(background.Background, "start", pressed_after)
    with pytest.raises(KeyboardInterrupt):
        engine.query("SELECT count(*) FROM range(100000000) a, range(1000000) b").rows()
    monkeypatch.undo()
    assert engine.query("SELECT 1").rows() == [(1,)], "the statement still holds the connection"


@pytest.mark.parametrize(
    "asked",
    [
        "query(sql).rows()",
        "answers([sql, 'SELECT 1', sql + ' LIMIT 1'])",
        "define({'slow': sql}) or engine.keep(['slow'])",
    ],
)
def test_ctrl_c_stops_a_query(asked: str) -> None:
    program = textwrap.dedent(f"""
        from stepscope.engines.duckdb import DuckDB
        engine = DuckDB()
        sql = "SELECT count(*) FROM range(100000000) a, range(1000000) b"
        try:
            print("ready", flush=True)
            engine.{asked}
        except KeyboardInterrupt:
            print("stopped", engine.query("SELECT 42").rows()[0][0])
        finally:
            engine.close()
    """)
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=250)
        finally:
            process.kill()
    assert (out, err, process.returncode) == ("stopped 42\n", "", 0)


class Stopped:
    """A stream at whose beginning Ctrl-C is pressed."""

    def __arrow_c_schema__(self) -> object:
        raise KeyboardInterrupt

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        raise KeyboardInterrupt


def test_ctrl_c_while_a_table_is_opened_is_no_error_of_the_sql(engine: DuckDB) -> None:
    stopped = Stream("store", lambda columns, mapped: Stopped(), ("id", "name", "dur_ps"), {})
    engine.attach(Relation("slice", SLICE, lambda: [stopped]))
    engine.seal()
    with pytest.raises(KeyboardInterrupt):
        engine.query("SELECT id FROM slice")
    with pytest.raises(QueryError, match="refused"):
        engine.query("SELECT error('KeyboardInterrupt')").rows()
    assert engine.query("SELECT 42").rows() == [(42,)]


@pytest.mark.parametrize("closed", [True, False])
def test_nothing_is_said_at_the_end_of_the_process(closed: bool) -> None:
    program = textwrap.dedent(f"""
        import pyarrow as pa
        from stepscope.engines import Relation, Stream
        from stepscope.engines.duckdb import DuckDB
        engine = DuckDB()
        arrow = pa.table({{"a": [1, 2]}})
        stream = Stream("s", lambda columns, mapped: arrow, ("a",), {{}})
        engine.attach(Relation("s", (("a", "BIGINT"),), lambda: [stream]))
        rows = engine.query("SELECT a FROM s")
        print(next(rows.batches(1)))
        if {closed}:
            engine.close()
    """)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("[(1,)]\n", "")
