"""The flight recorder: which moments are kept, that what is held is bounded, and what the moments answer."""

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import stepscope
from stepscope.capture import environment, live, ring
from stepscope.capture.folder import Folder
from stepscope.capture.launch import Telling
from stepscope.capture.live import Live
from stepscope.capture.plan import RecordingPlan
from stepscope.capture.ring import Ring, StepTimes
from stepscope.cli import main
from stepscope.report.live import lines
from stepscope.report.live_parts import LivePart, parts, sentence
from tests.capture.watching import often, waits  # noqa: F401

MS = 10**6


class Worker:
    """A thread that sleeps in `saves` or computes in `trains`, as it is told."""

    def __init__(self) -> None:
        self._turn = threading.Condition()
        self._saving = False
        self._over = False
        self.there = threading.Event()
        self.thread = threading.Thread(target=self.trains)
        self.thread.start()
        self.there.wait()

    def trains(self) -> None:
        while not self._over:
            if self._saving:
                self.saves()
            elif not self.there.is_set():
                with self._turn:  # or else it may tell of before what it was just told
                    if not self._saving:
                        self.there.set()

    def saves(self) -> None:
        with self._turn:
            self.there.set()
            self._turn.wait_for(lambda: not self._saving)

    def does(self, saving: bool) -> None:
        """Waits until it is there."""
        with self._turn:
            self.there.clear()
            self._saving = saving
            self._turn.notify()
        self.there.wait()

    def end(self) -> None:
        """Lets it end."""
        self.does(False)
        self._over = True
        self.thread.join()


@pytest.fixture
def worker() -> Iterator[Worker]:
    found = Worker()
    yield found
    found.end()


def watching(path: Path, driver: int | None, steps: int = 50, **more: Any) -> Live:
    assert driver is not None
    facts = environment.start_facts(RecordingPlan(str(path), ring=steps))
    return Live(Folder(str(path), facts), Ring(steps, driver), "own", "update", driver, **more)


def kept(path: Path) -> list[str]:
    return sorted(one.parent.name for one in path.glob("ring/*/capture.json"))


@pytest.mark.usefixtures("often")
def test_a_slow_step_is_kept_and_answers_with_its_line(
    tmp_path: Path, worker: Worker, capsys: pytest.CaptureFixture[str]
) -> None:
    out, told = tmp_path / "rec", []
    watched = watching(out, worker.thread.ident, 12, tell=lambda why, path: told.append((why, path.name)))
    (out).mkdir()
    watched.start()
    now = time.time_ns() - 900 * MS
    for number in range(30):
        watched.stepped(StepTimes(number, now, now, now + 30 * MS))
        now += 30 * MS
    waits(lambda: (out / "live.json").exists() and json.loads((out / "live.json").read_text())["median_ns"])
    worker.does(saving=True)
    begin = time.time_ns()
    waits(lambda: len(watched._ring.seen(begin).looks) >= 20)
    watched.stepped(StepTimes(30, begin, begin, time.time_ns()))
    waits(lambda: kept(out))
    watched.stop()
    assert watched.failed is None
    assert kept(out) == ["end", "slow-step-30"]
    assert [name for _, name in told] == ["slow-step-30", "end"]
    assert told[0][0].startswith("step 30 took ")
    facts = json.loads((out / "capture.json").read_text())
    assert facts["kept"] == ["ring/slow-step-30", "ring/end"]

    with stepscope.open(str(out / "ring" / "slow-step-30"), cache=False) as trace:
        assert [row.step for row in trace.query("SELECT step FROM step ORDER BY step")] == [*range(19, 31)]
        answer = trace.answer
        assert (answer.cause, answer.place and answer.place.function) == ("wait", "saves")
        averaged = [row.step for row in trace.query("SELECT step FROM step WHERE averaged")]
        assert averaged == [30], "the others are there to compare it with"
        notes = {row.slug: row.detail for row in trace.query("SELECT slug, detail FROM source_note")}
        assert notes["kept-moment"] == told[0][0]
    with stepscope.open(str(out / "ring" / "end"), cache=False) as trace:
        assert len([*trace.query("SELECT step FROM step WHERE averaged")]) == 12

    with stepscope.open(str(out), cache=False) as trace:
        notes = {row.slug: row.detail for row in trace.query("SELECT slug, detail FROM source_note")}
        assert notes["kept-moments"] == "ring/slow-step-30, ring/end"
        assert [*trace.query("SELECT step FROM step")] == [], "moments are not read with the recording"

    assert main(["top", str(out)]) == 0
    said = capsys.readouterr().out
    assert f"Kept      stepscope {out}/ring/slow-step-30" in said
    assert "Parts     " in said


@pytest.mark.usefixtures("often")
def test_a_hang_keeps_the_step_that_does_not_end(tmp_path: Path) -> None:
    watched = watching(tmp_path, threading.get_ident(), hang_ns=50 * MS)
    watched.start()
    now = time.time_ns()
    watched.stepped(StepTimes(7, now - MS, now - MS, now))
    waits(lambda: kept(tmp_path))
    watched.stop()
    assert kept(tmp_path) == ["end", "hang-after-step-7"]
    with stepscope.open(str(tmp_path / "ring" / "hang-after-step-7"), cache=False) as trace:
        (hanging,) = trace.query("SELECT step, dur_ps FROM step WHERE averaged")
    assert hanging.step == 8
    assert hanging.dur_ps >= 50 * MS * 1000


@pytest.mark.usefixtures("often")
def test_only_the_slowest_steps_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "MOST_KEPT", 2)
    watched = watching(tmp_path, threading.get_ident())
    monkeypatch.setattr(watched, "_last_kept_ns", -(10**12))
    now = time.time_ns()
    for number, took in enumerate([30 * MS] * 12):
        watched.stepped(StepTimes(number, now, now, now + took))
    watched._write(False)
    for number, took in ((20, 200 * MS), (21, 100 * MS), (22, 110 * MS), (23, 900 * MS)):
        monkeypatch.setattr(watched, "_last_kept_ns", -(10**12))
        watched.stepped(StepTimes(number, now, now, now + took))
        watched._tell_slow()
    assert kept(tmp_path) == ["slow-step-20", "slow-step-23"], "22 is hardly slower than 21 was"
    assert [one["step"] for one in watched._slow] == [20, 21, 22, 23]
    watched._ring.close()


def test_what_is_held_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ring, "MOST_BYTES", 2000)
    held = Ring(3, threading.get_ident())
    for number in range(100):
        held.look(0)
        held.stepped(StepTimes(number, number, number, number + 1))
    seen = held.seen(0)
    assert 0 < sum(len(look.line) for look in seen.looks) <= 2000
    assert [step.number for step in held.moment("a", "b").steps] == [97, 98, 99]
    monkeypatch.setattr(ring, "MOST_STACKS", 0)
    held.look(0)
    assert len(held.seen(0).looks) == 1, "with too many stacks it begins anew"
    assert held.seen(0).places(), "and knows what those since stand for"
    held.close()
    with pytest.raises(ValueError, match="held in memory"):
        RecordingPlan("out", ring=10**9)


def test_parts_are_told_of_what_is_not_damaged() -> None:
    frames = [
        ["main", "train.py", 3, "program"],
        ["BaseIter.__next__", "torch/utils/data/dataloader.py", 9, "library"],
    ]
    told: dict[str, Any] = {
        "format": 1, "pid": 1, "unix_ns": 5, "step": 3, "frames": [*frames, None, ["x"]],
        "stacks": [
            {"share": 0.6, "ran": 0.0, "frames": [0, 1]}, {"share": 0.2, "ran": 1.0, "frames": [0]},
            {"share": 0.2, "ran": 0.0, "frames": [0, 2, 3, 99, "x"]}, {"share": 7}, {"frames": None}, 5,
        ],
    }  # fmt: skip
    found = {part.label: part for part in parts(told)}
    assert {label: round(part.share, 3) for label, part in found.items()} == {
        "input": 0.6, "python": 0.2, "wait": 0.2,
    }  # fmt: skip
    said = list(lines(told, True, 80, 5))
    assert said[0] == "Waiting for input takes 60 % of the last 10 s, in train.py:3 main."
    assert any("▒ input 60 %" in line for line in said)
    assert parts({"stacks": "none"}) == []
    fetched = sentence([LivePart("copy", 0.9, "train.py:34 <module>")])
    assert fetched.startswith("Copying data, or waiting for what computes it, takes 90 % of the last 10 s")


def test_the_launcher_tells_what_was_kept(tmp_path: Path) -> None:
    said: list[str] = []
    telling = Telling(tmp_path, said.append, "/jobs/rec", "rec", 0)
    (tmp_path / "kept-1").write_text(json.dumps(["step 9 took 2 s", 0, 1, "/jobs/rec/ring/slow-step-9"]))
    telling.look()
    telling.look()
    assert said == ["stepscope: step 9 took 2 s; the last steps are kept: stepscope rec/ring/slow-step-9"]
