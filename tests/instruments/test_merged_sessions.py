"""Timelines of TensorFlow 1 that somebody merged from several runs of a session."""

import json
from pathlib import Path
from typing import Any

import pytest

from stepscope import library
from stepscope.session import trace
from tests import corpus
from tests.asked import ask

_CPU, _GPU = "/job:localhost/replica:0/task:0/cpu:0", "/job:localhost/replica:0/task:0/gpu:0"


def _steps(
    folder: Path, runs: list[list[tuple[str, str, int, int]]], unknown: str = ""
) -> list[tuple[Any, ...]]:
    """Begin and duration in microseconds, and how it was found, of each step of a merged timeline. runs: of
    each, device, op, begin and duration in microseconds of what its executors ran. unknown: an op whose type
    is not."""
    names = [
        {"name": "process_name", "ph": "M", "pid": pid, "args": {"name": f"{device} Compute"}}
        for pid, device in enumerate((_CPU, _GPU))
    ]
    ops = [
        {"name": "unknown" if op == unknown else op, "ph": "X", "cat": "Op", "ts": ts, "dur": dur,
         "pid": int(device == _GPU), "tid": 0,
         "args": {"name": op, "op": "unknown" if op == unknown else op.strip("_")}}
        for run in runs for device, op, ts, dur in run
    ]  # fmt: skip
    path = folder / "timeline.json"
    path.write_text(json.dumps({"traceEvents": [*names, *ops]}))
    found = ask(path, "SELECT ts_ps, dur_ps, recovered_from FROM step ORDER BY ts_ps")
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


def test_runs_that_do_other_work_are_of_another_kind(tmp_path: Path) -> None:
    """Runs of the generator and of the discriminator differ by what they update; one that also summarizes, or
    is longer, does not."""
    runs = []
    for number in range(6):
        begin, kind = 1000 * number, ("_a", "_b")[number % 2]
        more = [(_CPU, "ScalarSummary", begin + 200, 300)] if number == 2 else []
        runs.append([*_run(begin, _CPU), (_CPU, f"ApplyAdam{kind}", begin + 100, 9), *more])
    _steps(tmp_path, runs)
    with trace.open(tmp_path / "timeline.json", cache=False) as opened:
        found = opened.query("SELECT kind, reason FROM step ORDER BY ts_ps").rows()
    assert [kind for kind, _ in found] == ["kind A", "kind B"] * 3
    assert [reason.partition(" (")[0] for _, reason in found[:2]] == [
        "updates with ApplyAdam_a", "updates with ApplyAdam_b"
    ]  # fmt: skip


def test_a_timeline_that_was_merged_with_itself_has_each_run_once(tmp_path: Path) -> None:
    runs = [_run(1000 * i, _CPU) for i in (0, 1, 2, 1)]
    assert _steps(tmp_path, runs) == [(0, 100, "file"), (1000, 100, "file"), (2000, 100, "file")]
    with trace.open(tmp_path / "timeline.json", cache=False) as opened:
        found = opened.query("SELECT events FROM source_note WHERE slug = 'repeated-runs'").rows()
    assert found == [(2,)]


@pytest.mark.parametrize("times", [1, 2])
def test_run_metadata_that_was_merged_has_a_step_for_each_run(times: int, tmp_path: Path) -> None:
    """However often it was merged with itself."""
    samples = (corpus.SAMPLES / "tf1" / "later" / f"run_meta_{number}.pb" for number in (1, 2))
    path = tmp_path / "merged.pb"
    path.write_bytes(b"".join(sample.read_bytes() for sample in samples) * times)
    with trace.open(path, cache=False) as opened:
        found = opened.query("SELECT recovered_from, averaged FROM step ORDER BY ts_ps").rows()
    assert found == [("file", True)] * 2


def test_sessions_that_run_other_ops_are_told_apart(tmp_path: Path) -> None:
    """A program that runs its generator and its discriminator in turn."""
    other = [(_CPU, "_SOURCE", 1000, 2), (_CPU, "Save", 1010, 50)]
    assert _steps(tmp_path, [_run(0, _CPU), other]) == [(0, 100, "file"), (1000, 60, "file")]


def test_threads_of_the_host_under_the_number_of_an_executor_join_no_sessions(tmp_path: Path) -> None:
    """Each timeline numbers its processes by itself, in whatever order."""
    thread = (_CPU, "read:_Recv", 990, 60)
    steps = _steps(tmp_path, [_run(0, _CPU), [thread], _run(1000, _CPU)], unknown="read:_Recv")
    assert steps == [(0, 100, "file"), (1000, 100, "file")]


def test_executors_that_run_within_an_op_are_no_sessions(tmp_path: Path) -> None:
    within = [(_CPU, "_SOURCE", 30, 1), (_CPU, "Mul", 32, 20)]
    call = [(_CPU, "_SOURCE", 0, 1), (_CPU, "PartitionedCall", 10, 80), *within, (_CPU, "Add", 91, 9)]
    assert _steps(tmp_path, [call]) == [(0, 100, "file")]


def _evaluated(begin: int, dur: int) -> list[tuple[str, str, int, int]]:
    return [(_CPU, "_SOURCE", begin, 2), (_CPU, "Mean", begin + 2, dur)]


def _trained(begin: int, dur: int) -> list[tuple[str, str, int, int]]:
    return [*_evaluated(begin, dur), (_CPU, "ApplyGradientDescent", begin + dur + 2, 3)]


def _kinds(folder: Path) -> list[str]:
    return [kind for (kind,) in ask(folder / "timeline.json", "SELECT kind FROM step ORDER BY ts_ps")]


def test_runs_that_train_are_of_another_kind_than_those_beside_them(tmp_path: Path) -> None:
    """An evaluation within the loop is no slow step."""
    runs = [run for i in range(5) for run in (_trained(1000 * i, 20), _evaluated(1000 * i + 100, 500))]
    _steps(tmp_path, runs)
    assert _kinds(tmp_path) == ["train", "unknown"] * 5
    with trace.open(tmp_path / "timeline.json", cache=False) as opened:
        assert opened.ask(library.named("slow_step")).rows() == []
    _steps(tmp_path, runs[::2])
    assert _kinds(tmp_path) == ["unknown"] * 5
