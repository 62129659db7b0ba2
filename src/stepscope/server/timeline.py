"""The timeline: names of slices, and the cells of a window as the core makes them."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from stepscope import _core
from stepscope.engines import rows_of
from stepscope.errors import LakeError
from stepscope.instruments.step_breakdown import labels
from stepscope.library.statements import statement
from stepscope.presenters.plain import shorten
from stepscope.server.catalog import CLASSES, FORMAT, SHIFT, STACK_BARS, dicts

if TYPE_CHECKING:
    from stepscope.session.trace import OpenTrace

MOST_NAME = 1_000
"""Characters of a name that all pages receive; the answer about a slice has all of it."""
_COLUMNS = ("track", "depth", "id", "ts_ps", "dur_ps", "name")
_TYPED = (*_COLUMNS, "op_type")


_TABLES = {True: "_timeline_row", False: "_timeline_slice"}
"""All track kinds, with and without sampled stacks."""


class Timeline:
    """Every slice and every bar of sampled stacks at every level of detail. Thread-safe."""

    def __init__(self, trace: OpenTrace, *, stacks: bool = False) -> None:
        """Reads the slices of a trace from storage, and its stacks if it has any. The views of shifts and
        bars are stored already."""
        self._lod = _laid(trace, stacks) or _core.Lod(trace.stream(rows_of(_TABLES[stacks], _TYPED)))
        found = {row["name"]: row for row in dicts(trace.query(statement("page_names")))}
        self.classes = {name: _class_of(name, row) for name, row in found.items()}
        for name in _compiling(trace, self.classes, {name: row["slices"] for name, row in found.items()}):
            self.classes[name] = "compile"
        numbers = {name: number for number, name in enumerate(CLASSES)}
        other, python = numbers["other"], numbers["python"]
        names = self._lod.names
        self.names: dict[str, Any] = {
            "format": FORMAT,
            "names": [shorten(name, MOST_NAME) for name in names],
            # A name that no slice has is a function on a stack.
            "classes": [
                numbers.get(self.classes[name], other) if name in found else python for name in names
            ],
            "op_types": [found[name]["op_type"] if name in found else None for name in names],
        }

    def cells(self, track_ids: list[int], from_ps: int, to_ps: int, px: int) -> bytes:
        """The cells of a window, framed for the page. LakeError when a file was truncated in the meantime."""
        with _unchanged():
            return self._lod.cells(track_ids, from_ps, to_ps, px)

    def sums(self, track_ids: list[int], from_ps: int, to_ps: int) -> _core.Sums:
        """The sums of a range's slices, after go_on() has added them up. Stacks have no slices. LakeError as
        from cells()."""
        with _unchanged():
            return self._lod.sums([track for track in track_ids if track >= 0], from_ps, to_ps)

    @staticmethod
    def go_on(sums: _core.Sums, seconds: float) -> bool:
        """Adds up for some seconds; True when done. LakeError as from cells()."""
        with _unchanged():
            return sums.go_on(seconds)


def _class_of(name: str, row: dict[str, Any]) -> str:
    """The class of the slices of a name: by its op, else by the label of the step."""
    stored_class = str(row["class"])
    is_op = row["op_type"] is not None
    if stored_class not in ("other", "python") or (stored_class == "python" and is_op):
        return stored_class
    return labels.slice_meaning(name, None, is_op, False).label or stored_class


def _compiling(trace: OpenTrace, classes: dict[str, str], slices: dict[str, int]) -> list[str]:
    """Names without a class whose slices mostly lie within a compilation; the class holds for all of them."""
    if "compile" not in classes.values():
        return []
    rows = trace.query(statement("page_rollups")).rows()
    level = [rollup for rollup, name in rows if classes.get(name) == "compile"]
    seen, within = set(level), Counter[str]()
    while level:
        found = trace.query(statement("page_names_within", rollups=level)).rows()
        level = []
        for rollup, name, count in found:
            if classes.get(name) == "other":
                within[name] += count
                if rollup not in seen:
                    seen.add(rollup)
                    level.append(rollup)
    return [name for name, count in within.items() if 2 * count >= slices[name]]


@contextlib.contextmanager
def _unchanged() -> Iterator[None]:
    try:
        yield
    except _core.CoreError as damaged:
        raise LakeError(
            "The timeline's file changed while it was open.",
            seen=str(damaged),
            todo="run stepscope verify on the lake, which says what to ingest again; then serve it again",
        ) from damaged


def _laid(trace: OpenTrace, stacks: bool) -> _core.Lod | None:
    """The slices as ingest or a decoder stored them; None when there are none, or they are damaged."""
    lanes = trace.lanes()
    if lanes is None:
        return None
    shifts = {row["source_id"]: row["shift_ps"] for row in dicts(trace.query(rows_of(SHIFT)))}
    sources = [
        (lane.place, lane.first_id, shifts[source_id])
        for source_id, lane in lanes.items()
        if source_id in shifts
    ]
    bars = trace.stream(rows_of(STACK_BARS, _COLUMNS)) if stacks else None
    try:
        return _core.Lod(bars, sources=sources)
    except _core.CoreError:
        return None  # the tables report the damage, or have the slices
