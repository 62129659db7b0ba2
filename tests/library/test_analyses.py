"""Every analysis gives the rows that its twin finds by brute force."""

import math

import pytest
from hypothesis import HealthCheck, given, settings

from stepscope import library
from tests.draw import UNIT_PS, Tables, args, draw
from tests.library.answers import rows
from tests.library.stack_twins import STACK_TWINS
from tests.library.twins import TWINS
from tests.library.worlds import worlds
from tests.tiers import cases


def close(found, expected):
    """Equal, floats but for rounding."""
    if isinstance(found, float) and isinstance(expected, float):
        return math.isclose(found, expected, rel_tol=1e-12)
    return found == expected and type(found) is type(expected)


@settings(max_examples=cases(3, 80), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tables=worlds())
def test_twins_agree(tables):
    """All twins over one drawn world, so that drawing and loading it is paid once."""
    connection = tables.shared()
    for name, twin in (TWINS | STACK_TWINS).items():
        found = connection.execute(library.sql(name)).fetchall()
        expected = twin(tables)
        assert len(found) == len(expected), (name, found, expected)
        for row, other in zip(found, expected, strict=True):
            assert all(map(close, row, other)), (name, row, other)


@pytest.mark.repeats("twins compute every row beside it")
@settings(max_examples=cases(10, 40), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tables=worlds())
def test_conservation(tables):
    """Busy and idle add up to the window, a union is no more than the sum, gaps add up to idle."""
    connection = tables.shared()
    for row in connection.execute(
        "SELECT sum_busy_ps, sum_idle_ps, window_ps, sum_work_ps, source_id, place, device FROM device_sum"
    ).fetchall():
        busy, idle, window, work, *device = row
        assert busy >= 0
        assert idle >= 0
        assert busy + idle == window
        assert busy <= work
        gaps = "SELECT COALESCE(SUM(idle_ps), 0) FROM device_gap WHERE source_id=? AND place=? AND device=?"
        assert connection.execute(gaps, device).fetchone() == (idle,)
    on_tracks = connection.execute("SELECT COALESCE(SUM(self_ps), 0) FROM slice").fetchone()
    by_name = connection.execute(library.sql("slices_by_name")).fetchall()
    assert (sum(row[6] for row in by_name),) == on_tracks


NESTED = """
step/s       train          : [train............][train............]
cpu/python   thread         : [train............][train............]
cpu/pool     thread         :   [a:MatMul....]     [a:MatMul....]
cpu/pool     thread         :     [b:Add]
gpu/stream:1 device_stream  :      [MatMul]            [MatMul]
gpu/stream:2 device_stream  :         [Memcpy]
gpu/all      derived        :      [all....................]
"""


def test_nothing_counts_twice():
    """Nested ops give self time, derived rows and marks count nowhere, two streams unite."""
    tables = draw(NESTED.replace("step/s", "step"))
    types = {(row["place"], row["op_type"]): row for row in rows(tables, "op_types")}
    assert set(types) == {("host", "MatMul"), ("host", "Add"), ("device", "MatMul"), ("device", "Memcpy")}
    us = 1_000_000
    assert types["host", "MatMul"]["total_ps"] == 28 * us
    assert types["host", "MatMul"]["self_ps"] == 21 * us
    busy = {row["device"]: row for row in rows(tables, "busy_by_device")}
    assert busy["gpu"]["busy_ps"] == (11 + 8) * us
    assert busy["gpu"]["busy_ps"] + busy["gpu"]["idle_ps"] == 38 * us
    (gpu,) = [row for row in rows(tables, "concurrency") if row["place"] == "device"]
    assert gpu["rows_drawn"] == 2
    assert gpu["concurrency"] == pytest.approx(24 / 19)


def test_percentiles_are_steps_that_happened():
    tables = draw("cpu/t thread : [a]")
    tables.rows["step_stored"].clear()
    for i in range(20):
        facts = {"kind": "train", "recovered_from": "marker", "averaged": True}
        tables.add("step_stored", step=i, ts_ps=i * 100, dur_ps=i + 1, **facts)
    (row,) = rows(tables, "step_times")
    assert (row["steps"], row["median_ps"], row["p95_ps"], row["mean_ps"]) == (20, 10, 19, 10)


def test_runs_hosts_and_completeness():
    tables = Tables()
    tables.source(0, events_seen=10, events_stored=8, events_lost=2, complete=False)
    tables.source(1, producer="kineto", events_seen=5, events_stored=5)
    tables.rows["capture"][0]["dur_ps"] = 7
    tables.add("source_note", source_id=0, slug="truncated", effect="lost", events=2, detail="cut")
    tables.add("step_stored", averaged=True, recovered_from="marker")
    tables.add("step_stored", averaged=False, recovered_from="marker")
    (row,) = rows(tables, "runs_and_hosts")
    assert (row["events"], row["events_lost"], row["sources"]) == (13, 2, 2)
    assert (row["producers"], row["complete"]) == ("kineto, tf_profiler", False)
    assert (row["steps"], row["steps_left_out"], row["recorded_ps"]) == (1, 1, 7)
    told = rows(tables, "completeness")
    assert [(r["path"], r["slug"], r["what"]) for r in told] == [
        ("0.pb", "truncated", "lost"),
        ("1.pb", None, None),
    ]


def test_memory_and_counters():
    tables = Tables()
    tables.source()
    for temp, output, peak in ((5, 7, 9), (1, None, 20)):
        facts = {"temp_bytes": temp, "output_bytes": output, "peak_bytes": peak}
        tables.add("op_run", op_name="a", op_type="MatMul", **facts)
    (row,) = rows(tables, "memory_by_op")
    assert (row["runs"], row["all_temp_bytes"], row["all_output_bytes"]) == (2, 6, 7)
    assert row["highest_bytes"] == 20
    for value in (1.0, 4.0, None):
        tables.add("counter", name="c", series="s", value=value)
    (row,) = rows(tables, "counters_summary")
    assert (row["samples"], row["min_value"], row["mean_value"], row["max_value"]) == (3, 1.0, 2.5, 4.0)


def test_costs_are_those_of_the_outermost_scopes():
    tables = Tables()
    for view, depth, name, time_ps, params in (
        ("scope", 0, "_TFProfRoot", 90, 7),
        ("scope", 1, "a", 60, 2),
        ("scope", 2, "a/b", 60, 2),
        ("scope", 3, "a/b/c", 60, 2),
        ("scope", 1, "d", 30, 5),
        ("op", 1, "Conv2D", 99, 9),
    ):
        figures = {"total_ps": time_ps, "total_params": params, "total_requested_bytes": 3}
        tables.add("tfprof_node", view=view, depth=depth, name=name, **figures)
    found = [
        (row["scope"], row["level"], row["all_ps"], row["all_params"])
        for row in rows(tables, "cost_by_scope")
    ]
    assert found == [("a", 1, 60, 2), ("a/b", 2, 60, 2), ("d", 1, 30, 5)]


def test_bytes_of_copies_are_read_from_args():
    tables = draw("gpu/s device_stream : [Memcpy][Memcpy]")
    for row, told in zip(tables.rows["slice"], (args(bytes=100), args(size="50")), strict=True):
        row["args_json"] = told
    (row,) = rows(tables, "transfers")
    assert row["copied_bytes"] == 150
    assert row["bytes_per_s"] == pytest.approx(150 / 16e-6)


def test_a_launch_of_several_works_counts_once():
    """As that of a graph of kernels: its own time is not added up for each of them."""
    tables = draw("gpu/compute lane! : [a:launch..]\ngpu/s device_stream : ....[b:Kernel][c:Kernel]")
    for row in tables.rows["slice"]:
        row["correlation_id"] = 7
    launch, first, second = tables.rows["slice"]
    (row,) = rows(tables, "launches")
    assert (row["launches"], row["launch_ps"]) == (1, launch["dur_ps"])
    assert row["work_ps"] == first["dur_ps"] + second["dur_ps"]
    assert row["mean_lag_ps"] == row["max_lag_ps"] == first["ts_ps"] - launch["ts_ps"]


def test_what_was_never_recorded_is_not_idle():
    """Steps that are recordings of their own, as in an event file: the window is their union."""
    tables = draw(
        "step train : [1...]              [2...]              [3...]\n"
        "cpu/t lane : [a:A]                 [b:A]"
    )
    for step in tables.rows["step_stored"]:
        step["recovered_from"] = "file"
    (row,) = rows(tables, "busy_by_device")
    whole = 3 * 6 * UNIT_PS
    assert (row["busy_ps"], row["idle_ps"]) == (9 * UNIT_PS, whole - 9 * UNIT_PS)
    assert (row["gaps"], row["longest_gap_ps"]) == (3, 6 * UNIT_PS)
    assert sorted(gap["idle_ps"] // UNIT_PS for gap in rows(tables, "idle_gaps")) == [1, 2, 6]
    for step in tables.rows["step_stored"]:
        step["recovered_from"] = "marker"
    (row,) = rows(tables, "busy_by_device")
    assert row["busy_ps"] + row["idle_ps"] == 46 * UNIT_PS


def test_a_file_whose_only_step_is_left_out_keeps_its_devices():
    """Its window is empty where another file of the run has a step that counts; what it executed is known."""
    tables = draw("step train : [~1...]              [2...]\ncpu/t lane : [a:A]")
    tables.source(1)
    for source, step in enumerate(tables.rows["step_stored"]):
        step.update(recovered_from="file", source_id=source, averaged=source == 1)
    (row,) = rows(tables, "busy_by_device")
    assert (row["window_ps"], row["executions"], row["sum_ps"]) == (0, 1, 5 * UNIT_PS)
    assert row["busy_share"] is None
