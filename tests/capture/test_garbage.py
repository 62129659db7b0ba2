"""Runs of Python's garbage collection, as the recorder sees them."""

import gc
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from stepscope.capture import garbage
from stepscope.capture.garbage import GarbageWatch


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[dict[str, Any]]]:
    """No collection is too short, and none begins by itself."""
    monkeypatch.setattr(garbage, "LEAST_NS", 0)
    gc.disable()
    yield []
    gc.enable()


def test_collections_are_written_with_their_thread(lines: list[dict[str, Any]]) -> None:
    before = list(gc.callbacks)
    watch = GarbageWatch(lines.append, threading.get_ident())
    watch.start()
    watch.start()
    gc.collect(1)
    assert lines == []  # not within the collection
    watch.flush()
    other = threading.Thread(target=gc.collect)
    other.start()
    other.join()
    watch.stop()
    assert [(line["generation"], line["main"]) for line in lines] == [(1, True), (2, False)]
    assert all(line["begin_unix_ns"] <= line["end_unix_ns"] for line in lines)
    gc.collect()
    watch.flush()
    assert (len(lines), list(gc.callbacks)) == (2, before)


def test_short_collections_and_too_many_are_not_written(
    lines: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(garbage, "MOST", 1)
    watch = GarbageWatch(lines.append, threading.get_ident())
    watch.start()
    for _ in range(3):
        gc.collect(0)
    monkeypatch.setattr(garbage, "LEAST_NS", 10**15)
    gc.collect(0)
    watch.stop()
    assert (len(lines), watch.dropped) == (1, 2)
