"""Timelines of TensorFlow 1 that somebody merged from several runs of a session."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stepscope.session import trace

_CPU, _GPU = "/job:localhost/replica:0/task:0/cpu:0", "/job:localhost/replica:0/task:0/gpu:0"


def _steps(folder: Path, runs: list[list[tuple[str, str, int, int]]]) -> list[tuple[Any, ...]]:
    """Begin and duration in microseconds, and how it was found, of each step of a merged timeline. runs: of
    each, device, op, begin and duration in microseconds of what its executors ran."""
    names = [
        {"name": "process_name", "ph": "M", "pid": pid, "args": {"name": f"{device} Compute"}}
        for pid, device in enumerate((_CPU, _GPU))
    ]
    ops = [
        {"name": op, "ph": "X", "cat": "Op", "pid": int(device == _GPU), "tid": 0, "ts": ts, "dur": dur,
         "args": {"name": op, "op": op.strip("_")}}
        for run in runs for device, op, ts, dur in run
    ]  # fmt: skip
    path = folder / "timeline.json"
    path.write_text(json.dumps({"traceEvents": [*names, *ops]}))
    with trace.open(path, cache=False) as opened:
        found = opened.query("SELECT ts_ps, dur_ps, recovered_from FROM step ORDER BY ts_ps").rows()
    return [(ts // 10**6, dur // 10**6, how) for ts, dur, how in found]


def _run(begin: int, first: str) -> list[tuple[str, str, int, int]]:
    """A run of 100 µs, of which the executor of one device begins 5 µs before the other."""
    second = _GPU if first == _CPU else _CPU
    sources = [(first, "_SOURCE", begin, 2), (second, "_SOURCE", begin + 5, 9)]
    return [*sources, (_CPU, "Add", begin + 3, 90), (_GPU, "MatMul", begin + 20, 80)]


@pytest.mark.parametrize("first", [[_CPU, _CPU, _CPU], [_GPU, _CPU, _GPU]])
def test_each_executor_of_a_session_begins_it_and_now_one_is_the_first_now_another(
    first: list[str], tmp_path: Path
) -> None:
    runs = [_run(1000 * i, device) for i, device in enumerate(first)]
    assert _steps(tmp_path, runs) == [(0, 100, "file"), (1000, 100, "file"), (2000, 100, "file")]


def test_sessions_that_run_other_ops_are_not_told_apart(tmp_path: Path) -> None:
    other = [(_CPU, "_SOURCE", 1000, 2), (_CPU, "Save", 1010, 50)]
    assert _steps(tmp_path, [_run(0, _CPU), other]) == [(0, 1060, "file")]
