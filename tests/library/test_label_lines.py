"""Findings about a label of the steps: what takes it, and on which lines."""

import pytest

from tests.draw import Tables
from tests.library.answers import rows

MS = 10**9


def stepping(**labels: int) -> Tables:
    """Two steps of 100 ms in which labels take so many milliseconds each; the stacks of a label are on line 1
    for three quarters of that and on line 2 for the rest."""
    tables = Tables()
    tables.source(0)
    for number in range(2):
        facts = {"kind": "train", "recovered_from": "marker", "averaged": True}
        tables.add("step_stored", step=number, ts_ps=number * 100 * MS, dur_ps=100 * MS, **facts)
    for line in (1, 2):
        frame = tables.add(
            "frame", function="train", file="/home/ada/train.py", line=line, module="__main__", code="program"
        )
        tables.add("stack", parent_id=None, frame_id=frame["id"], place_id=frame["id"])
    for step in range(2):
        for label, ms in labels.items():
            tables.add("step_part", step_id=step, label=label, dur_ps=ms * MS)
            for stack, quarters in ((0, 3), (1, 1)):
                tables.add(
                    "stack_part", step_id=step, stack_id=stack, label=label, dur_ps=ms * MS * quarters // 4
                )
    return tables


def calls(tables: Tables, name: str, number: int) -> None:
    """So many slices of a name on a thread of Python."""
    track = tables.add("track", kind="thread", name="python", device_id=None)["id"]
    for at in range(number):
        tables.add("slice", track_id=track, name=name, ts_ps=at * MS, dur_ps=MS, self_ps=MS, parent_id=None)


@pytest.mark.parametrize(
    ("dispatch_ms", "launches", "severity"),
    [(50, 40, "high"), (35, 40, "medium"), (20, 40, "low"), (19, 40, None), (90, 38, None)],
)
def test_many_calls_launch_the_ops(dispatch_ms: int, launches: int, severity: str | None) -> None:
    tables = stepping(dispatch=dispatch_ms, compute=100 - dispatch_ms)
    calls(tables, "EagerExecute: Mul", launches)
    calls(tables, "Mul", 100)  # ops are not launches
    found = rows(tables, "per_op_dispatch")
    assert [row["severity"] for row in found] == ([severity] * 2 if severity else [])
    if severity:
        assert [(row["line"], row["line_share"]) for row in found] == [(1, 0.75), (2, 0.25)]
        assert found[0]["launches"] == launches // 2
        assert (found[0]["impact_ps"], found[0]["share"]) == (2 * dispatch_ms * MS, dispatch_ms / 100)


def test_a_call_within_itself_is_one_launch() -> None:
    tables = stepping(dispatch=90)
    calls(tables, "PjitFunction(f)", 42)
    assert rows(tables, "per_op_dispatch")[0]["launches"] == 21
    for row in tables.rows["slice"][1::2]:
        row["parent_id"] = row["id"] - 1
    assert rows(tables, "per_op_dispatch") == []  # ten or eleven a step


def test_launches_without_samples_have_no_line() -> None:
    tables = stepping(dispatch=90)
    tables.rows["stack_part"].clear()
    calls(tables, "EagerExecute: Mul", 100)
    (row,) = rows(tables, "per_op_dispatch")
    assert (row["launches"], row["file"], row["line_share"]) == (50, None, None)


@pytest.mark.parametrize(("ms", "severity"), [(50, "high"), (25, "medium"), (10, "low"), (9, None)])
@pytest.mark.parametrize(("label", "name"), [("copy", "copies_between_ops"), ("wait", "waits_between_ops")])
def test_copies_and_waits_have_their_lines(label: str, name: str, ms: int, severity: str | None) -> None:
    tables = stepping(**{label: ms, "compute": 100 - ms})
    found = rows(tables, name)
    assert [row["severity"] for row in found] == ([severity] * 2 if severity else [])
    if severity:
        assert [(row["line"], row["line_share"]) for row in found] == [(1, 0.75), (2, 0.25)]
        assert (found[0]["impact_ps"], found[0]["share"]) == (2 * ms * MS, ms / 100)
    tables.rows["stack_part"].clear()
    assert rows(tables, name) == []


def test_an_op_that_prints_is_left_out_and_not_moved_to_a_thread() -> None:
    tables = stepping(wait=60, compute=40)
    calls(tables, "Print", 30)
    for row in tables.rows["slice"]:
        row["op_name"], row["op_type"] = "dense/Print", "Print"
    assert {row["advice"].partition(":")[0][:30] for row in rows(tables, "waits_between_ops")} == {
        "An op of the graph prints (tf."
    }
    # What prints little is not what waits.
    for row in tables.rows["slice"][10:]:
        row["name"] = row["op_name"] = row["op_type"] = "SaveV2"
    (advice,) = {row["advice"] for row in rows(tables, "waits_between_ops")}
    assert advice.startswith("Let another thread do it")


def test_lines_that_store_are_left_to_per_step_io() -> None:
    tables = stepping(wait=60, compute=40)
    within = tables.add(
        "frame", function="Checkpoint.save", file="checkpoint.py", line=9,
        module="tensorflow.python.checkpoint.checkpoint", code="library",
    )  # fmt: skip
    stack = tables.add("stack", parent_id=0, frame_id=within["id"], place_id=0)
    seen = {"ts_ps": 5 * MS, "weight_ps": MS, "cpu_ps": 0, "is_main": True, "thread_name": "t"}
    tables.add("stack_sample", stack_id=stack["id"], **seen)
    (row,) = rows(tables, "waits_between_ops")
    assert (row["line"], row["impact_ps"], row["share"], row["line_share"]) == (2, 30 * MS, 0.15, 1.0)


def test_a_whole_capture_has_no_steps_to_speak_of() -> None:
    tables = stepping(copy=80)
    for row in tables.rows["step_stored"]:
        row["recovered_from"] = "whole_capture"
    assert rows(tables, "copies_between_ops") == []


@pytest.mark.parametrize(
    ("compute_ms", "alike", "impact_ms"), [(90, 888, 2 * 90 * 888 // 1024), (40, 888, None), (90, 500, None)]
)
def test_batches_that_are_padded_to_what_no_row_needs(
    compute_ms: int, alike: int, impact_ms: int | None
) -> None:
    """Nothing is said of few columns, nor where ops are not what steps take."""
    tables = stepping(compute=compute_ms)
    known = f'{{"batch_size": 16, "padded_columns": {alike}, "columns": 1024, "looked_at": 4}}'
    tables.add("user_stage", iterator=0, transformation="DataLoader", args_json=known, file="a.py", line=19)
    found = rows(tables, "padded_batches")
    assert [(row["padded"], row["columns"], row["looked_at"], row["line"]) for row in found] == (
        [(222, 256, 4, 19)] if impact_ms else []
    )
    assert [row["impact_ps"] // MS for row in found] == ([impact_ms] if impact_ms else [])


@pytest.mark.parametrize(("behind", "share"), [(600, 0.75), (300, None)])
def test_rows_that_are_padded_to_the_longest_of_their_batch(behind: int, share: float | None) -> None:
    """No column pads alone; the stage of tf.data that pads has the line."""
    tables = stepping(compute=90)
    known = f'{{"padded_columns": 0, "columns": 40, "padded_cells": {behind}, "cells": 800, "looked_at": 4}}'
    tables.add("user_stage", iterator=0, transformation="padded_batch", args_json=known, file="a.py", line=7)
    found = rows(tables, "padded_batches")
    assert [(row["share"], row["padded"], row["columns"], row["line"]) for row in found] == (
        [(share, None, 10, 7)] if share else []
    )
