"""Columns of batches that hold one value in every row: what pads rows to a length that none of them has."""

from typing import Any, Dict, Iterator

LOOKS = 4
"""Batches of a loader that are looked at."""
_ROWS, _COLUMNS = 4, 8
"""Smaller batches tell nothing: few rows are alike by chance."""
_CELLS = 4_000_000
_DEPTH = 3


class PaddedColumns:
    """The columns of the first batches of a loader, and the last of these that are alike in every row."""

    def __init__(self) -> None:
        self.batches = 0
        """Those looked at, whether they have columns or not."""
        self._columns = self._alike = self._told = 0

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
        self._told += 1

    def arguments(self) -> Dict[str, int]:
        """What is known, as arguments of the loader; empty where no column is alike."""
        if not self._alike:
            return {}
        return {"padded_columns": self._alike, "columns": self._columns, "looked_at": self._told}


def _arrays(batch: Any, depth: int) -> Iterator[Any]:
    """The arrays of a batch in the memory of the host."""
    if hasattr(batch, "shape"):
        yield batch.numpy() if hasattr(batch, "numpy") and not _elsewhere(batch) else batch
    elif depth:
        values = getattr(batch, "values", None)
        parts = values() if callable(values) else batch if isinstance(batch, (tuple, list)) else ()
        for part in parts:
            yield from _arrays(part, depth - 1)


def _elsewhere(tensor: Any) -> bool:
    return bool(getattr(tensor, "requires_grad", False)) or getattr(tensor.device, "type", "cpu") != "cpu"


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
