"""What pads the rows of batches: to the longest of a batch, or to a length that none of them has."""

from typing import Any, Dict, Iterator

LOOKS = 4
"""Batches of a loader that are looked at."""
_ROWS, _COLUMNS = 4, 8
"""Smaller batches tell nothing: few rows are alike by chance."""
_CELLS = 4_000_000
_DEPTH = 3
_WITHIN = 0.05
"""Words are not the value that pads: of a one-hot row, most cells are."""


class Padding:
    """The columns and cells of the first batches of a loader; of these the last columns that are alike in
    every row, and the cells behind the ends of rows."""

    def __init__(self) -> None:
        self.batches = 0
        """Those looked at, whether they have columns or not."""
        self._columns = self._alike = self._cells = self._behind = self._tables = 0

    def look(self, batch: Any) -> None:
        """Counts those of a batch: of its widest array of whole numbers with two dimensions. Runs no op of a
        framework, which a profiler would record."""
        self.batches += 1
        arrays = [array for array in _arrays(batch, _DEPTH) if _is_table(array)]
        if not arrays:
            return
        widest = max(arrays, key=lambda array: int(array.shape[1]))
        self._columns += int(widest.shape[1])
        self._alike += _alike_at_end(widest)
        self._cells += int(widest.shape[0] * widest.shape[1])
        self._behind += _behind_ends(widest)
        self._tables += 1

    def arguments(self) -> Dict[str, int]:
        """What is known, as arguments of the loader; empty where nothing is padded."""
        if not self._alike and not self._behind:
            return {}
        columns = {"padded_columns": self._alike, "columns": self._columns}
        return {**columns, "padded_cells": self._behind, "cells": self._cells, "looked_at": self._tables}


def _arrays(batch: Any, depth: int) -> Iterator[Any]:
    """The tables of a batch; as NumPy has them, where they lie in the memory of the host."""
    if hasattr(batch, "shape"):
        # TensorFlow copies what it gives to NumPy: pictures are no tables.
        if len(batch.shape) == 2:
            yield batch.numpy() if hasattr(batch, "numpy") and not _elsewhere(batch) else batch
    elif depth:
        values = getattr(batch, "values", None)
        parts = values() if callable(values) else batch if isinstance(batch, (tuple, list)) else ()
        for part in parts:
            yield from _arrays(part, depth - 1)


def _elsewhere(tensor: Any) -> bool:
    if getattr(tensor, "requires_grad", False):
        return True
    # PyTorch's devices have a type; TensorFlow's are names such as /job:localhost/device:CPU:0.
    device = getattr(tensor, "device", "cpu")
    return "cpu" not in str(getattr(device, "type", device)).lower()


def _is_table(array: Any) -> bool:
    kind, shape = getattr(array.dtype, "kind", None), array.shape
    if kind not in ("i", "u") or len(shape) != 2:
        return False
    return bool(shape[0] >= _ROWS and shape[1] >= _COLUMNS and shape[0] * shape[1] <= _CELLS)


def _alike_at_end(table: Any) -> int:
    """How many of the last columns hold nothing but the value of the last one's first row."""
    differ = (table != table[0, -1]).any(axis=0).nonzero()[0]
    width = int(table.shape[1])
    return width - 1 - int(differ[-1]) if len(differ) else width


def _behind_ends(table: Any) -> int:
    """The cells at the ends of rows that hold the value with which most rows end; none where that is a value
    as any other, which rows have before their end as well."""
    values = table[:, -1].tolist()
    filler = max(values, key=values.count)
    differ = table != filler
    cells = int(differ.size)
    # From each row's last cell on, as long as nothing differs.
    behind = int((differ[:, ::-1].cumsum(axis=1) == 0).sum())
    content = cells - behind
    common = values.count(filler) * 2 >= len(values)
    return behind if common and content - int(differ.sum()) <= _WITHIN * content else 0
