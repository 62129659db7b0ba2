"""Steps after the recording: timed and looked at without a profiler, for a while, and nothing runs on."""

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from stepscope.capture import stacks, steps_after
from stepscope.capture.callers import Caller, WatchedCall
from stepscope.capture.clocks import time_ns
from stepscope.capture.loops import Site
from stepscope.capture.plan import RecordingPlan
from stepscope.capture.recorder import Recorder
from stepscope.formats._capture_steps import timed
from stepscope.formats._stacks import StackRows
from tests.capture.launching import facts, lines

MOST = 6


def sampling() -> bool:
    """Whether a thread looks at stacks."""
    return any(thread.name == "stepscope-stacks" for thread in threading.enumerate())


def trained(out: Path, **plan: object) -> Recorder:
    """Forty steps that the program marks itself, each as long as it takes to be looked at."""
    made = Recorder(RecordingPlan(str(out), warmup=1, steps=2, **plan))  # type: ignore[arg-type]
    for number in range(40):
        made.own_step(number, time_ns())
        looking = made.course.observers._stacks
        seen = looking.looks if looking is not None else 0
        while sampling() and looking is not None and looking._wanted.is_set() and looking.looks < seen + 2:
            sum(range(1000))
    return made


@pytest.fixture(autouse=True)
def _few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps_after, "MOST_AFTER", MOST)
    monkeypatch.setattr(steps_after, "STEPS_AFTER", 3)


def test_they_are_looked_at_and_the_recorder_ends(tmp_path: Path) -> None:
    made = trained(tmp_path / "out", pieces=("stacks",))
    assert not made.listening
    assert not sampling()
    flags = [line["recorded"] for line in lines(tmp_path / "out" / "steps.ndjson")]
    assert flags[flags.index(True) :] == [True] * 2 + [False] * MOST
    told = lines(tmp_path / "out" / "stacks.ndjson")
    begun = [line for line in told if "begin_unix_ns" in line]
    assert [line.get("untraced") for line in begun] == [None, True]
    steps = timed((tmp_path / "out" / "steps.ndjson").read_bytes())
    untraced = [(begin, end) for _, begin, end, recorded in steps if not recorded]
    found = StackRows(untraced).read(told, lambda ns: None if ns is None else ns * 1000)
    assert found.odd == 0
    assert sum(row["looks"] for row in found.untraced.values()) >= MOST - 1
    assert len(found.samples) >= 2
    # Both are counted, and what they cost.
    known = facts(tmp_path / "out")
    assert known["stacks"]["looks"] > len(found.samples)
    assert known["cost"]["stacks_ns"] == known["stacks"]["cpu_ns"]


def test_without_stacks_a_few_are_timed(tmp_path: Path) -> None:
    made = trained(tmp_path / "out", pieces=())
    assert not made.listening
    flags = [line["recorded"] for line in lines(tmp_path / "out" / "steps.ndjson")]
    assert flags[flags.index(True) :] == [True] * 2 + [False] * 3


def test_a_program_that_makes_no_more_steps_is_not_looked_at_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stacks, "MOST_UNTRACED_NS", 1)
    looking = stacks.StackSampler(lambda data: None, threading.get_ident())
    looking.resume(untraced=True)
    assert looking._idle.wait(240)  # bounds a hang
    assert not looking._wanted.is_set()
    looking.stop()
    assert looking.looks == 1


def test_a_look_at_the_thread_of_the_steps_alone_sees_whether_others_go_on() -> None:
    """Where others run Python too, the interpreter lock is left alone."""
    goes, ends = threading.Event(), threading.Event()

    def other() -> None:
        while not ends.is_set():
            goes.set()
            sum(range(1000))

    thread = threading.Thread(target=other)
    thread.start()
    try:
        assert goes.wait(240)  # bounds a hang
        written: list[dict[str, object]] = []
        looker = stacks.Looker(written.append, threading.get_ident())
        seen = [looker.look(0, driver_alone=True) for _ in range(2)]
        assert all(look.line.count("[[") == 1 and look.line.count("], [") == 0 for look in seen)
        assert seen[0].moved >= 2
        assert [line["main"] for line in written if "thread" in line] == [True]
    finally:
        ends.set()
        thread.join()


def test_those_of_a_weak_mark_are_looked_at_until_another_loop_begins(tmp_path: Path) -> None:
    """An eager program takes gradients of a tape in its steps, and so does one that sets up."""
    made = Recorder(RecordingPlan(str(tmp_path / "out"), warmup=1, steps=2, pieces=("stacks",)))
    begin_ns = time_ns()

    def called(how: str, line: int, number: int) -> str:
        end_ns = begin_ns + number * 10_000_000
        site = Site(((1, line),), ((1, line - 1),))
        made.step(WatchedCall(how, (line,), f"line {line}", end_ns - 5_000_000, end_ns, site=site))
        return made.course.state

    number = next(number for number in range(1, 30) if called("gradient", 14, number) == "after")
    assert called("gradient", 14, number + 1) == "after"
    looking = made.course.observers._stacks
    assert looking._wanted.is_set()
    # What is no surer mark, and of the same loop, is a part of its steps.
    made.step(
        WatchedCall("gradient", (15,), "line 15", begin_ns, begin_ns + 1, site=Site(((1, 15),), ((1, 13),)))
    )
    assert made.course.state == "after"
    assert called("function_call", 54, number + 2) == "in doubt"
    assert looking._ended
    made.finish()


def test_ops_of_jax_are_not_for_while_they_are_watched_they_take_longer() -> None:
    watching: Any = SimpleNamespace(looks_at_stacks=True)
    after = steps_after.StepsAfter(watching)
    assert not after.are_wanted(Caller("jax_op", "matmul"), steps_after.STEPS_BEFORE)
    assert after.are_wanted(Caller("gradient", "gradients of a tape"), steps_after.STEPS_BEFORE)


@pytest.mark.parametrize(("looks", "lasts_s"), [(10, 5), (3, 10), (0, 10)])
def test_where_looks_are_rare_they_go_on_for_longer(
    looks: int, lasts_s: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps of a second each, with ten times so many looks in each: three hundred are enough."""
    monkeypatch.setattr(steps_after, "MOST_AFTER", 3000)
    watching = SimpleNamespace(looks_at_stacks=True, looks=1000, resume=lambda untraced: None)
    after = steps_after.StepsAfter(watching)  # type: ignore[arg-type]
    optimizer = Caller("optimizer", "SGD.step")
    for second in range(1, 20):
        end_ns = second * 10**9
        call = WatchedCall("optimizer", (1,), "SGD.step", end_ns - 1, end_ns)
        if after.ended(optimizer, call, 0):
            break
        watching.looks += 10 * looks
    assert second == lasts_s
