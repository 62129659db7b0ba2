"""What other threads and processes of the program do while a step waits for a lock or for cores."""

from __future__ import annotations

import pytest

from stepscope.code_lines import CodeLine
from stepscope.instruments.causes.judgement import Competing, Judgement
from stepscope.instruments.causes.ranking import judge
from tests.draw import Tables
from tests.fakes import FakeTrace
from tests.report import made_recordings
from tests.report.recordings import connection, derived


def _judged(tables: Tables) -> Judgement:
    derived(tables).fill(connection())
    (judgement,) = judge(FakeTrace(connection()).query)
    return judgement


def test_what_runs_while_a_lock_is_awaited() -> None:
    signs = CodeLine("ledger.py", 30, "Ledger.sign")
    assert _judged(made_recordings.waiting_for_a_lock()).meanwhile == signs
    assert _judged(made_recordings.waiting_for_a_lock(19)).meanwhile == signs


@pytest.mark.parametrize("holders", [0, 10])
def test_who_runs_for_part_of_the_wait_holds_no_lock(holders: int) -> None:
    assert _judged(made_recordings.waiting_for_a_lock(holders)).meanwhile is None


@pytest.mark.parametrize("function", ["sleep", "read"])
def test_only_a_lock_is_held_by_a_thread(function: str) -> None:
    tables = made_recordings.waiting_for_a_lock()
    tables.rows["frame"][1]["function"] = function
    found = _judged(tables)
    assert (found.cause, found.meanwhile) == ("wait", None)


def test_a_thread_that_sleeps_runs_nothing() -> None:
    tables = made_recordings.waiting_for_a_lock()
    sleeps = tables.add("frame", function="sleep", file="<built-in>", line=0, code="python")["id"]
    signs = tables.rows["stack"][-1]
    stack = tables.add("stack", parent_id=signs["id"], frame_id=sleeps, place_id=signs["place_id"])["id"]
    for row in tables.rows["stack_sample"][20:]:
        row["stack_id"] = stack
    assert _judged(tables).meanwhile is None


@pytest.mark.parametrize(("part", "stores"), [(20, "checkpoint"), (10, None)])
def test_storing_is_named_where_nearly_all_that_waits_does_so(part: int, stores: str | None) -> None:
    tables = made_recordings.storing_in_the_loop()
    sleeps = tables.add("frame", function="sleep", file="<built-in>", line=0, code="python")["id"]
    main = tables.rows["stack"][0]
    stack = tables.add("stack", parent_id=main["id"], frame_id=sleeps, place_id=main["place_id"])["id"]
    for row in tables.rows["stack_sample"][part:]:
        row["stack_id"] = stack
    found = _judged(tables)
    assert (found.cause, found.stores) == ("wait", stores)


@pytest.mark.parametrize(
    ("waiting", "busy", "competes"), [(1.8, True, True), (0.1, False, True), (0.05, False, False)]
)
def test_processes_have_the_cores_that_a_program_waits_for(
    waiting: float, busy: bool, competes: bool
) -> None:
    """Its threads wait for a quarter of the time in which they want one, or longer."""
    tables = made_recordings.ops_beside_processes()
    for row in tables.rows["counter"]:
        if row["series"].endswith("waiting"):
            row["value"] = waiting
    found = _judged(tables)
    assert found.contention is not None
    assert found.contention.busy == busy
    assert found.competing == (Competing("children", 1.5) if competes else None)


def test_a_pipeline_whose_python_sleeps_has_no_cores() -> None:
    """The kernel tells: nobody but the program's own threads runs or waits for a core."""
    computes, sleeps = made_recordings.ops_beside_a_pipeline(), made_recordings.ops_beside_a_pipeline()
    found = _judged(computes).competing
    assert found is not None
    assert (found.who, found.number) == ("input", pytest.approx(5 / 12))
    for row in sleeps.rows["counter"]:
        row["series"] = row["series"].replace("later", "program")
    sleeps.add("counter", name="threads during recording", series="later running", ts_ps=0, value=0.01)
    assert _judged(sleeps).competing is None
