"""Work of the core that takes long and reads nothing ends when nobody wants it any more, and with Ctrl-C."""

import signal
import threading
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from stepscope import _core
from stepscope.background import Stopped, stoppable

MANY = 400_000


def layout() -> Any:
    """Places more boxes than the core does between two questions."""
    return _core.layered_layout([10.0] * MANY, [(to // 2, to) for to in range(1, MANY)])


def made() -> Any:
    """Reads as many slices, one after the other, on one track."""
    numbers = pa.array(range(MANY), pa.int64())
    slices = pa.table(
        {
            "begin_ps": pa.array(range(0, 2 * MANY, 2), pa.int64()),
            "end_ps": pa.array(range(1, 2 * MANY, 2), pa.int64()),
            "track_id": pa.array([0] * MANY, pa.int64()),
            "kind_id": numbers,
        }
    )
    arrows = pa.table(
        {name: pa.array([], pa.int64()) for name in ("from_track", "from_ps", "to_track", "to_ps", "what")}
    )
    return _core.Replay(slices, arrows, {0: False}, 0, [], [0, 2 * MANY - 1], 0, 0, {})


@pytest.mark.parametrize("work", [layout, made])
def test_it_ends_when_nobody_wants_it(work: Callable[[], Any]) -> None:
    stop = threading.Event()
    with stoppable(stop):
        work()
        stop.set()
        with pytest.raises(Stopped):
            work()
    work()


def test_a_replay_ends_when_nobody_wants_it() -> None:
    replay = made()
    stop = threading.Event()
    before = replay.replay()
    with stoppable(stop):
        assert replay.replay() == before
        stop.set()
        for work in (replay.replay, replay.longest_way):
            with pytest.raises(Stopped):
                work()
    assert replay.replay() == before


@pytest.mark.parametrize("work", [layout, made])
def test_it_ends_with_ctrl_c(work: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """The signal comes while the core is at work: the first question to Python sends it."""
    sent: list[int] = []

    def go_on() -> None:
        if not sent:
            sent.append(1)
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("stepscope.background.go_on", go_on)
    with pytest.raises(KeyboardInterrupt):
        work()
    assert sent
