"""Pipelines drawn for tests: calls on threads, in milliseconds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from stepscope.instruments.pipeline.calls import StageCall, read
from stepscope.instruments.pipeline.waits import StepTime

MS = 10**9
LOOP, POOL, RUNNER = (
    "tf_data_iterator_get_next/1",
    "tf_data_private_threadpool/2",
    "tf_data_iterator_resource/3",
)


@dataclass
class Drawn:
    """Rows as a query of the events gives them."""

    rows: list[tuple[Any, ...]] = field(default_factory=list)
    tracks: dict[str, int] = field(default_factory=dict)

    def add(self, track: str, slice_name: str, begin: float, length: float, /, **args: Any) -> None:
        """A slice; `begin` and `length` in milliseconds."""
        number = self.tracks.setdefault(track, len(self.tracks))
        text = json.dumps(args) if args else None
        self.rows.append(
            (len(self.rows), number, track, round(begin * MS), round(length * MS), slice_name, text)
        )

    def call(self, track: str, name: str, begin: float, length: float, id: int, parent: int | None = None,
             user: str = "", **args: Any) -> None:  # fmt: skip
        """A call of an iterator."""
        if parent is not None:
            args["parent_id"] = parent
        self.add(track, f"Iterator::{name}", begin, length, id=id, name=user, **args)

    def take(self, begin: float, length: float, stage: str = "", user: str = "", /,
             root: Mapping[str, Any] = MappingProxyType({}), **args: Any) -> None:  # fmt: skip
        """The program takes a batch: a call of the root, 1, and of a stage within it, 2, if one is named."""
        self.add(LOOP, "IteratorGetNextOp::DoCompute", begin, length)
        self.call(LOOP, "Root", begin, length, 1, **root)
        if stage:
            self.call(LOOP, stage, begin, length, 2, 1, user, **args)

    def chain(self, *stages: tuple[str, str]) -> Drawn:
        """A call of each stage within the one before it: its name, and what the program wrote."""
        for i, (name, user) in enumerate(stages):
            self.call(LOOP, name, 0, 10 - i, i + 1, i or None, user)
        return self

    def calls(self) -> list[StageCall]:
        """The calls, nested."""
        return read(sorted(self.rows, key=lambda row: (row[1], row[3], -row[4], row[0])))


def steps(number: int, length: float) -> list[StepTime]:
    """Steps of the same length, one after the other, from 0 on."""
    return [
        StepTime(round(i * length * MS), round((i + 1) * length * MS), True, "marker") for i in range(number)
    ]


def sequential(number: int = 10, work: float = 8, program: float = 2) -> tuple[Drawn, list[StepTime]]:
    """A loop without prefetch: each step waits for batch(map(range)), of which the map takes `work`."""
    drawn = Drawn()
    for i in range(number):
        at = i * (work + program)
        drawn.add(LOOP, "IteratorGetNextOp::DoCompute", at, work)
        drawn.call(LOOP, "Root", at, work, 2**63 + 1)
        drawn.call(LOOP, "Root::BatchV2", at, work, 2, 2**63 + 1, "BatchDatasetV2:2")
        drawn.call(LOOP, "Root::BatchV2::Map", at, work * 0.9, 3, 2, "MapDataset:1")
        drawn.call(LOOP, "Root::BatchV2::Map::Range", at, work * 0.1, 4, 3, "RangeDataset:0")
    return drawn, steps(number, work + program)
