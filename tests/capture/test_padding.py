"""Columns and cells of batches that only pad."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from stepscope.capture.iterators import Tracked
from stepscope.capture.padding import Padding

ROWS = np.random.RandomState(0).randint(1, 9, (8, 40))


def padded(width: int) -> Any:
    return np.pad(ROWS, ((0, 0), (0, width - 40)))


@pytest.mark.parametrize(
    ("batches", "columns", "cells"),
    [
        ([padded(100)], (60, 100), (480, 800)),
        ([padded(100), {"ids": padded(50), "stars": ROWS[:, 0]}], (70, 150), (560, 1200)),
        # The longest row of the batch ends it: behind the others is padding.
        ([np.where(np.arange(40) < [[40], *[[10]] * 7], ROWS, 0)], (0, 40), (210, 320)),
        # A value that rows also hold before their ends does not pad them.
        ([np.eye(40, dtype=int)[:8]], (32, 40), (0, 320)),
        ([np.zeros((8, 40), int)], (40, 40), (320, 320)),
        # Numbers that are no whole ones are no words.
        ([ROWS], None, None),
        ([padded(100).astype("f")], None, None),
        # Few rows are alike by chance.
        ([padded(100)[:2], padded(100)[:, :4], "text", None], None, None),
        ([padded(100), ROWS], (60, 140), (480, 1120)),
    ],
)
def test_columns_and_cells_that_pad_are_counted(
    batches: list[Any], columns: tuple[int, int] | None, cells: tuple[int, int] | None
) -> None:
    found = Padding()
    for batch in batches:
        found.look(batch)
    told = found.arguments()
    assert (told.get("padded_columns"), told.get("columns")) == (columns or (None, None))
    assert (told.get("padded_cells"), told.get("cells")) == (cells or (None, None))
    assert found.batches == len(batches)


def test_an_element_is_padded_by_the_stage_that_does() -> None:
    """Of a chain without one, what the program wrote last says it."""
    for names, pads in ((("map", "padded_batch", "prefetch"), 1), (("from_generator", "prefetch"), 1)):
        chain: list[dict[str, Any]] = [{"transformation": name, "arguments": {}} for name in names]
        tracked = Tracked(0, Padding(), chain, "")
        tracked.look((padded(100), ROWS[:, 0]))
        assert [bool(stage["arguments"]) for stage in chain].index(True) == pads


def test_what_lies_on_a_device_is_not_fetched() -> None:
    def fetch() -> None:
        raise AssertionError("it waits for the device")

    tensor = SimpleNamespace(
        shape=(8, 100), dtype="int64", device=SimpleNamespace(type="cuda"), numpy=fetch, requires_grad=False
    )
    found = Padding()
    found.look((tensor,))
    assert found.arguments() == {}
