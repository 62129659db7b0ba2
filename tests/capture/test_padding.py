"""Columns of batches that only pad."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from stepscope.capture.padding import PaddedColumns

ROWS = np.random.RandomState(0).randint(1, 9, (8, 40))


def padded(width: int) -> Any:
    return np.pad(ROWS, ((0, 0), (0, width - 40)))


@pytest.mark.parametrize(
    ("batches", "told"),
    [
        ([padded(100)], {"padded_columns": 60, "columns": 100, "looked_at": 1}),
        ([padded(100), {"ids": padded(50), "stars": ROWS[:, 0]}], (70, 150, 2)),
        # The longest row of the batch ends it; numbers that are no whole ones are no words.
        ([ROWS], {}),
        ([padded(100).astype("f")], {}),
        # Few rows are alike by chance.
        ([padded(100)[:2], padded(100)[:, :4], "text", None], {}),
        ([padded(100), ROWS], (60, 140, 2)),
    ],
)
def test_columns_that_are_alike_in_all_rows_are_counted(batches: list[Any], told: Any) -> None:
    found = PaddedColumns()
    for batch in batches:
        found.look(batch)
    keys = ("padded_columns", "columns", "looked_at")
    assert found.arguments() == (dict(zip(keys, told, strict=True)) if isinstance(told, tuple) else told)
    assert found.batches == len(batches)


def test_what_lies_on_a_device_is_not_fetched() -> None:
    def fetch() -> None:
        raise AssertionError("it waits for the device")

    tensor = SimpleNamespace(
        shape=(8, 100), dtype="int64", device=SimpleNamespace(type="cuda"), numpy=fetch, requires_grad=False
    )
    found = PaddedColumns()
    found.look((tensor,))
    assert found.arguments() == {}
