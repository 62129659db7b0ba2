"""What a watched program tells while it runs: slow steps, hangs, stacks on a signal; and stepscope top."""

import json
import os
import re
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stepscope.attach import live as reading
from stepscope.capture import live
from stepscope.capture.folder import Folder
from stepscope.capture.live import Live
from stepscope.capture.ring import Ring, StepTimes
from stepscope.cli import main
from stepscope.report.live import lines
from tests.capture.watching import often, waits  # noqa: F401

MS = 10**6


def watching(folder: Path, driver: int, **more: Any) -> Live:
    """A watch over a thread that steps."""
    return Live(Folder(str(folder), {}), Ring(50, driver), "own", "update", driver, **more)


def step(number: int, begin_ns: int, end_ns: int) -> StepTimes:
    """One that calls as it begins."""
    return StepTimes(number, begin_ns, begin_ns, end_ns)


@pytest.fixture
def driver() -> Iterator[int]:
    """A thread that stands in `trains`, whenever it is looked at."""
    begun, over = threading.Event(), threading.Event()

    def trains() -> None:
        begun.set()
        over.wait()

    thread = threading.Thread(target=trains)
    thread.start()
    begun.wait()
    assert thread.ident is not None
    yield thread.ident
    over.set()
    thread.join()


@pytest.mark.usefixtures("often")
def test_steps_lines_and_slow_steps(tmp_path: Path, driver: int) -> None:
    watched = watching(tmp_path, driver)
    watched.start()
    for number in range(20):
        watched.stepped(step(number, number * 30 * MS, (number + 1) * 30 * MS))
    waits(lambda: (told := reading.read(tmp_path)) and told["median_ns"] == 30 * MS and told["lines"])
    watched.stepped(step(20, 600 * MS, 800 * MS))
    watched.stop()
    told = reading.read(tmp_path)
    assert (told["ended"], told["step"], told["steps"]) == (True, 20, 21)
    (slow,) = told["slow"]
    assert (slow["step"], slow["took_ns"], slow["times"]) == (20, 200 * MS, 6.7)
    assert (told["lines"][0]["function"].rpartition(".")[2], told["lines"][0]["share"]) == ("trains", 1.0)
    assert not (tmp_path / live.ON_SIGNAL).exists(), "nobody asked for stacks"
    said = "\n".join(lines(told, True, 80, told["unix_ns"]))
    assert "update, process" in said
    assert "Step      200 ms, the median of the last 21 is 30.0 ms" in said
    assert "step 20: 200 ms, 6.7 times the median" in said


@pytest.mark.usefixtures("often")
def test_what_hangs_is_written_down_once(tmp_path: Path) -> None:
    watched = watching(tmp_path, threading.get_ident(), hang_ns=50 * MS)
    watched.start()
    watched.stepped(step(7, 0, MS))
    waits(lambda: (told := reading.read(tmp_path)) and told["hangs"])
    watched.stop()
    told = reading.read(tmp_path)
    assert told["hangs"] == ["hang-1.txt"]
    text = (tmp_path / "hang-1.txt").read_text()
    assert re.match(r"No step has ended for \d+ s, after step 7\.\n", text)
    assert "(runs the steps)" in text
    assert "in test_what_hangs_is_written_down_once" in text
    assert "stacks in hang-1.txt" in "\n".join(lines(told, True, 80, told["unix_ns"]))


@pytest.mark.skipif(not hasattr(signal, "SIGUSR2"), reason="this system has no such signal")
def test_a_signal_writes_all_stacks(tmp_path: Path) -> None:
    signal.signal(signal.SIGUSR2, signal.SIG_DFL)  # a library that another test imports may have taken it
    watched = watching(tmp_path, threading.get_ident())
    watched.start()
    os.kill(os.getpid(), signal.SIGUSR2)
    waits(lambda: "test_a_signal_writes_all_stacks" in (tmp_path / live.ON_SIGNAL).read_text())
    watched.stop()
    assert signal.getsignal(signal.SIGUSR2) == signal.SIG_DFL


def test_a_signal_that_the_program_uses_is_left_alone(tmp_path: Path) -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGUSR2, lambda number, frame: heard.append(number))
    try:
        watched = watching(tmp_path, threading.get_ident())
        watched.start()
        os.kill(os.getpid(), signal.SIGUSR2)
        waits(lambda: heard)
        watched.stop()
    finally:
        signal.signal(signal.SIGUSR2, before)
    assert not (tmp_path / live.ON_SIGNAL).exists()


def test_top_shows_it_and_says_why_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = {"format": 1, "pid": os.getpid(), "unix_ns": time.time_ns(), "ended": False, "name": "update"}
    told |= {"step": 1234, "recent_ns": [10 * MS], "median_ns": 10 * MS, "rss_bytes": 1 << 30, "cores": 1.5}
    told["lines"] = [{"file": "train.py\x1b", "line": 3, "function": "main", "share": 0.5}]
    (tmp_path / "live.json").write_text(json.dumps(told))
    assert main(["top", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "update, process" in said
    assert "step 1,234" in said
    assert "1.00 GiB of memory, 1.5 cores busy" in said
    assert " 50.0 %  train.py\\x1b:3 main" in said
    assert main(["top", str(tmp_path), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["running"] is True

    empty = tmp_path / "empty"
    assert main(["top", str(empty)]) == 0
    assert "No step has been recorded yet" in capsys.readouterr().out
    empty.mkdir()
    (empty / "capture.json").write_text('{"plan": {"warmup": 3}}')
    assert main(["top", str(empty)]) == 2
    assert "This recording is not watched" in capsys.readouterr().err
    (empty / "live.json").write_text("[")
    assert main(["top", str(empty)]) == 2
    assert "cannot be read" in capsys.readouterr().err
    assert main(["top", str(os.getpid())]) == 2
    assert "is not recorded" in capsys.readouterr().err
