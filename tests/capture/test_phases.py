"""What an Estimator runs sessions for, beside its steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stepscope.capture import clocks
from stepscope.capture.callers import WatchedCall
from stepscope.capture.phases import Phases, phase
from stepscope.capture.plan import RecordingPlan
from stepscope.capture.recorder import Recorder


def methods(path: Path, base: str = "estimator.py") -> dict[str, Any]:
    """Functions called like methods of an Estimator, in a file of this name."""
    found: dict[str, Any] = {}
    source = "def train(inner): return inner()\ndef evaluate(inner): return inner()\n"
    exec(compile(source, str(path / base), "exec"), found)
    return found


def test_the_innermost_method_tells(tmp_path: Path) -> None:
    of = methods(tmp_path)
    assert of["train"](phase) == "train"
    assert of["train"](lambda: of["evaluate"](phase)) == "eval"
    assert methods(tmp_path, "mine.py")["evaluate"](phase) == ""


def run(phase: str, begin_ns: int, end_ns: int) -> WatchedCall:
    return WatchedCall("session_run", (phase,), phase, begin_ns, end_ns, phase=phase)


def test_rounds_between_steps_are_told() -> None:
    lines: list[dict[str, Any]] = []
    phases = Phases(lines.append)
    assert not phases.saw(run("eval", 0, 5), False), "nothing is known of the steps yet"
    assert not phases.saw(run("train", 10, 20), True)
    assert not phases.saw(run("train", 21, 25), False), "a checkpoint"
    assert phases.saw(run("eval", 60, 70), False)
    assert phases.saw(run("eval", 70, 80), False)
    assert phases.saw(run("predict", 90, 95), False)
    assert not lines[1:]
    assert not phases.saw(run("", 99, 100), False), "the program's own"
    assert lines == [
        {"phase": "eval", "begin_unix_ns": 25, "end_unix_ns": 80, "runs": 2},
        {"phase": "predict", "begin_unix_ns": 80, "end_unix_ns": 99, "runs": 1},
    ]
    assert phases.over_ns == 99
    assert not phases.saw(run("train", 100, 110), True)
    assert len(lines) == 2


def test_a_step_begins_when_the_evaluation_before_it_is_over(tmp_path: Path) -> None:
    recorder = Recorder(RecordingPlan(str(tmp_path / "out"), warmup=1, pieces=()))
    at = clocks.time_ns() + 10**12  # after the recorder itself has begun

    def step(of_phase: str) -> None:
        nonlocal at
        recorder.step(run(of_phase, at, at + 10**6))
        at += 10**6

    try:
        for _ in range(5):
            step("train")
        anchor = recorder.pace.callers[recorder.pace.anchor or ()]
        for _ in range(50):
            step("eval")
        step("train")
        begin_ns, call_ns, end_ns = anchor.spans[-1]
        assert (call_ns - begin_ns, end_ns - begin_ns) == (0, 10**6)
        assert "eval" in (tmp_path / "out" / "phases.ndjson").read_text()
    finally:
        recorder.finish()
