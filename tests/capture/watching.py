"""What tests of programs that are watched while they run have in common."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from stepscope.capture import live


def waits(until: Callable[[], Any]) -> Any:
    """What a thread brings about; pytest-timeout ends what hangs."""
    while not (found := until()):
        time.sleep(0.01)
    return found


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """A watch writes a hundred times a second, whatever that takes."""
    monkeypatch.setattr(live, "WRITE_NS", 10 * 10**6)
    monkeypatch.setattr(live, "SHARE", 1.0)
