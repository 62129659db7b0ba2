"""The built-in function that a frame is in, told by the instruction at which it stops."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from stepscope.capture.c_functions import AWAITING, BLOCKING, FILE, MOVING
from stepscope.capture.callee import called_by
from stepscope.capture.frames import Frames
from stepscope.instruments.step_breakdown.labels import Meaning, frame_meaning

DEADLINE_S = 240.0
"""Bounds a hang."""


class Blocked:
    """A thread that runs a function until it is let go, and what it is seen to be in meanwhile."""

    def __init__(self) -> None:
        self.read, self.written = os.pipe()
        self.lock = threading.Lock()
        self.lock.acquire()
        self.of = SimpleNamespace(os=os, lock=self.lock)

    def reads(self) -> None:
        os.read(self.read, 1)

    def reads_through_attributes(self) -> None:
        self.of.os.read(self.read, int("1"))

    def reads_over_lines(self) -> None:
        (
            self.of
            .os
            .read(
                self.read,
                min(1, 2),
            )
        )  # fmt: skip

    def acquires(self) -> None:
        self.of.lock.acquire(*[True], **{"timeout": 600.0})

    def acquires_by_keyword(self) -> None:
        self.lock.acquire(blocking=True, timeout=float("600"))

    def sleeps_often(self) -> None:
        """The interpreter has another instruction for what it has called often."""
        while not self.lock.acquire(False):
            for _ in range(100):
                time.sleep(0.001)

    def enters(self) -> None:
        with self.lock:
            pass

    def computes(self) -> None:
        number = 0
        while not self.lock.acquire(False):
            for each in range(20_000):
                number = (number * 31 + each) % 1_000_003

    def ends(self) -> None:
        os.write(self.written, b"x")
        if self.lock.locked():
            self.lock.release()

    def __enter__(self) -> Blocked:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.read)
        os.close(self.written)


def seen(function: Callable[[], None], end: Callable[[], None]) -> set[str | None]:
    """What the function is in, in its own frame, in 60 looks at it."""
    thread = threading.Thread(target=function)
    thread.start()
    found: set[str | None] = set()
    looks, until = 0, time.monotonic() + DEADLINE_S
    while looks < 60 and time.monotonic() < until:
        frame = sys._current_frames().get(thread.ident or 0)
        if frame is not None and frame.f_code is function.__code__:
            found.add(called_by(frame.f_code, frame.f_lasti))
            looks += 1
        del frame
        time.sleep(0.001)
    end()
    thread.join()
    assert looks, "the thread was never in the function"
    return found


@pytest.mark.parametrize(
    ("name", "callee"),
    [
        ("reads", "read"),
        ("reads_through_attributes", "read"),
        ("reads_over_lines", "read"),
        ("acquires", "acquire"),
        ("acquires_by_keyword", "acquire"),
        ("sleeps_often", "sleep"),
        ("enters", "__enter__"),
        ("computes", None),
    ],
)
def test_what_a_frame_is_in(name: str, callee: str | None) -> None:
    with Blocked() as blocked:
        found = seen(getattr(blocked, name), blocked.ends)
    assert callee in found
    assert found <= {callee, None, "range", "acquire"}


def test_stacks_end_with_what_waits_and_with_nothing_that_computes() -> None:
    told: list[dict[str, object]] = []
    frames = Frames(told.append)
    for name in ("reads", "computes"):
        with Blocked() as blocked:
            function = getattr(blocked, name)
            thread = threading.Thread(target=function)
            thread.start()
            until = time.monotonic() + DEADLINE_S
            while time.monotonic() < until:
                frame = sys._current_frames().get(thread.ident or 0)
                if frame is not None and frame.f_code is function.__code__ and frame.f_lasti > 0:
                    frames.number(frame)
                    del frame
                    if name == "computes" or any(one.get("file") == FILE for one in told):
                        break
                time.sleep(0.001)
            blocked.ends()
            thread.join()
    functions = {str(one["function"]).rpartition(".")[2]: one for one in told if "function" in one}
    assert {"reads", "computes"} <= set(functions)
    assert [one for one in told if one.get("file") == FILE] == [functions["read"]]
    (stack,) = [one for one in told if one.get("frame") == functions["read"]["frame"] and "stack" in one]
    (below,) = [one for one in told if "stack" in one and one["stack"] == stack["in"]]
    assert below["frame"] == functions["reads"]["frame"]


def test_every_instruction_of_a_file_can_be_asked() -> None:
    """Whatever the code: an answer or None."""
    source = Path(os.__file__).read_text("utf-8")
    codes = [compile(source, "os.py", "exec")]
    names: set[str | None] = set()
    for code in codes:
        codes += [one for one in code.co_consts if hasattr(one, "co_code")]
        for instruction in (-1, *range(0, len(code.co_code) + 2, 2)):
            names.add(called_by(code, instruction))
    assert {"append", "scandir", "isinstance", "fspath", None} <= names


def test_what_waits_or_moves_data_in_c_does_so_whatever_it_costs() -> None:
    assert {frame_meaning(FILE, name, "python") for name in BLOCKING} == {Meaning("wait")}
    assert {frame_meaning(FILE, name, "python") for name in MOVING} == {Meaning("copy")}
    assert {frame_meaning(FILE, name, "python") for name in AWAITING} == {Meaning("idle", True)}
