"""A loop that sets up is not the steps, as turns out when training begins."""

import sys
from pathlib import Path

import pytest

from stepscope.capture.callers import Caller, WatchedCall
from stepscope.capture.clocks import time_ns
from stepscope.capture.loops import Site
from stepscope.capture.plan import PATIENCE, STEPS, RecordingPlan
from stepscope.capture.recorder import Recorder
from stepscope.capture.step_check import Hindsight
from tests.capture.launching import PROGRAMS, facts, lines, record

SETUP, TRAINING = (1, 10), (1, 50)


def recorded(rounds_ns: int) -> Caller:
    """A loop of ops that goes round fifty times."""
    caller = Caller("jax_op", "multiply", Site(((1, 14),), (SETUP,)))
    for number in range(50):
        caller.saw(number * rounds_ns, number * rounds_ns, (number + 1) * rounds_ns, True)
    return caller


def after(
    doubt: Hindsight,
    begin_ns: int,
    step_ns: int,
    how: str,
    loops: tuple[tuple[int, int], ...],
    most: int = 500,
) -> int | None:
    """How many steps of a loop that comes then until they are the ones to be recorded."""
    for number in range(1, most + 1):
        call = WatchedCall(
            how, ("jit", 0), "train", begin_ns, begin_ns + step_ns, site=Site(((1, 54),), loops)
        )
        key = (how, "jit", 0, call.site.at, 0)
        if doubt.counts(call) and doubt.saw(call, key, number > 1):
            return number
        begin_ns += step_ns
    return None


def test_surer_steps_that_last_longer_are_the_ones() -> None:
    """The loop that was recorded, 50 rounds of 10 ns and 500 ns more that nobody watched, took 1000 ns."""
    assert after(Hindsight(recorded(10), 3), 1000, 100, "jax", (TRAINING,)) == 11
    assert after(Hindsight(recorded(10), 3), 1000, 1, "jax", (TRAINING,)) is None


def test_what_goes_on_in_the_same_loop_or_is_no_surer_is_not() -> None:
    for how, loops in (("jax", (SETUP, TRAINING)), ("jax_op", (TRAINING,))):
        assert after(Hindsight(recorded(10), 3), 1000, 100, how, loops) is None


def test_training_is_surer_than_an_evaluation_before_it() -> None:
    evaluation = Caller("keras_evaluation", "test batch", Site(((1, 14),), ()))
    evaluation.saw(0, 0, 10, True)
    assert after(Hindsight(evaluation, 3), 100, 10, "keras_batch", ()) == 11
    assert after(Hindsight(evaluation, 3), 100, 10, "keras_evaluation", ()) == 51


def test_rounds_of_the_loop_around_are_the_steps_when_the_recorded_one_is_in_none() -> None:
    """As a loss is estimated before the first step; what runs once between two epochs is no step."""
    evaluation = Caller("jax", "evaluate", Site(((1, 14),), (TRAINING, SETUP)))
    evaluation.saw(0, 0, 10, True)
    assert after(Hindsight(evaluation, 3), 100, 10, "jax", (TRAINING,)) == STEPS
    assert after(Hindsight(evaluation, 3), 100, 10, "jax", ((9, 9),)) == 51  # five times as long
    epochs = Hindsight(evaluation, 3)
    inner = WatchedCall("jax", ("evaluate",), "evaluate", 10, 20)
    for _ in range(STEPS):
        assert after(epochs, 100, 10, "jax", (TRAINING,), most=STEPS - 1) is None
        assert epochs.goes_on(inner)
    assert not epochs.goes_on(inner._replace(end_ns=int(PATIENCE * 1e9) + 1))


def test_a_loop_that_ends_early_gives_way_to_the_next(tmp_path: Path) -> None:
    """Two functions of one kind, one after the other; the second begins a long time later."""
    recorder = Recorder(RecordingPlan(str(tmp_path / "out"), warmup=1, pieces=()))

    def called(name: str, after_s: float = 0.0) -> None:
        now_ns = time_ns() + int(after_s * 1e9)
        site = Site(((1, 54),), ())
        recorder.step(WatchedCall("function_call", (name,), name, now_ns, now_ns + 10**6, site=site))

    for _ in range(6):
        called("prepare")
    assert recorder.course.state == "recording"
    called("train", PATIENCE / 2)
    assert recorder.course.state == "recording"
    for number in range(200):
        called("train", 2 * PATIENCE + number)
    told = facts(tmp_path / "out")
    assert told["given_up"] == {"name": "prepare", "how": "function_call", "steps": 4}
    assert [session["name"] for session in told["sessions"]] == ["train"]
    assert not recorder.listening


@pytest.mark.repeats("each case records JAX or TensorFlow for half a minute")
@pytest.mark.parametrize(
    ("case", "framework", "name", "how"),
    [
        ("arrays", "jax", "train", "jax"),
        ("evaluation", "jax", None, "jax_op"),
        ("statistics", "tensorflow", "train", "function_call"),
        ("evaluated", "tensorflow", "train batch", "keras_batch"),
    ],
)
def test_program(case: str, framework: str, name: str | None, how: str, tmp_path: Path) -> None:
    pytest.importorskip(framework)
    asked = ("--steps", "12", "--out", "out")
    done = record(*asked, "--", sys.executable, PROGRAMS / "sets_up.py", case, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = facts(tmp_path / "out")
    (session,) = told["sessions"]
    assert (session["how"], session["steps"]) == (how, 12)
    assert told["recorded"] == {"steps": 12, "sessions": 1}
    assert name in (None, session["name"])
    assert ("given_up" in told) == (name is not None)
    assert ("  dropped: 12 steps of " in done.stderr) == (name is not None)
    rows = lines(tmp_path / "out" / "steps.ndjson")
    assert sum(row["recorded"] for row in rows) == 12
    assert {row["how"] for row in rows} == {how}
    listed = {file["path"] for file in told["files"]}
    there = {path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*.*")}
    assert listed | {"capture.json"} == {path for path in there if (tmp_path / "out" / path).is_file()}
    assert sum(path.endswith(".xplane.pb") for path in listed) == 1
    middle = sorted(row["end_unix_ns"] - row["begin_unix_ns"] for row in rows)[len(rows) // 2]
    assert middle > 25_000_000
