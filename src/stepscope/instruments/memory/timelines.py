"""Memory as TensorFlow's Timeline estimates it (show_memory), from tensors with guessed lifetimes.

In Timeline, a tensor begins with the op that makes it and ends with the last op whose label names it; the
counters are the sums. An op that runs again replaces its first run, whose tensors then have no end and are in
no sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from stepscope import strict_json
from stepscope.instruments.memory.blocks import AllocatorBlocks, MemoryBlock, Spans
from stepscope.instruments.memory.moves import MOST_MOVES
from stepscope.library.statements import Query, statement

_MICRO_PS = 10**6


def read(query: Query, source_id: int) -> tuple[list[AllocatorBlocks], bool]:
    """The tensors of each allocator, which add up to the timeline's counters; and whether these are all."""
    rows = query(statement("timeline_tensors", source_id=source_id, most=MOST_MOVES)).rows()
    found: dict[str, _Allocator] = {}
    nowhere = 0
    for row in rows:
        description = _described(row[-1])
        allocation = description.message("allocation_description")
        name, size = allocation.text("allocator_name"), allocation.number("requested_bytes")
        if not name and not size:
            nowhere += 1
            continue
        allocator = found.setdefault(name or "unknown", _Allocator(name or "unknown"))
        allocator.add(row, description, allocation)
    if found:
        max(found.values(), key=lambda allocator: allocator.tensors).nowhere = nowhere
    return [allocator.held() for allocator in found.values()], len(rows) < MOST_MOVES


@dataclass
class _Allocator:
    """The tensors of one allocator on all devices: Timeline's counters do not tell devices apart."""

    name: str
    devices: set[str] = field(default_factory=set)
    blocks: list[MemoryBlock] = field(default_factory=list)
    tensors: int = 0
    read_later: int = 0
    endless: int = 0
    nowhere: int = 0

    def add(self, row: Sequence[Any], description: _TimelineText, allocation: _TimelineText) -> None:
        """A tensor: (name, device, beginning, a microsecond before it was made, end, description)."""
        name, device, born, made, gone, _ = row
        self.tensors += 1
        self.devices.add(device or "")
        if gone is None:
            self.endless += 1
            return
        self.read_later += gone > max(born, (born if made is None else made) + _MICRO_PS)
        op_name, _, slot = name.rpartition(":")
        is_numbered = bool(op_name) and slot.isdecimal()
        if gone <= born:
            return  # held at no moment
        self.blocks.append(
            MemoryBlock(
                allocation.number("requested_bytes"),
                born,
                gone - 1,  # blocks count at both ends; Timeline subtracts a tensor at its end
                op_name if is_numbered else name,
                kind="output",
                slot=int(slot) if is_numbered else 0,
                dtype=description.text("dtype") or None,
                shape=_shape(description),
                timeline_ps=gone,
                address=allocation.number("ptr") or None,
            )
        )

    def held(self) -> AllocatorBlocks:
        """The allocator."""
        device = next(iter(self.devices)) if len(self.devices) == 1 else ""
        spans = Spans(self.tensors, self.read_later, self.endless, self.nowhere)
        return AllocatorBlocks(self.name, device, self.blocks, way="timeline", spans=spans)


@dataclass
class _TimelineText:
    """A message in Protocol Buffers' text format: its fields by name, the last of each."""

    values: dict[str, list[str]] = field(default_factory=dict)
    messages: dict[str, list[_TimelineText]] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """A field as text; empty when missing."""
        return self.values.get(name, [""])[-1]

    def number(self, name: str) -> int:
        """A field as a number; 0 when missing or not a number."""
        text = self.text(name)
        return int(text) if text.isdecimal() and len(text) < 20 else 0

    def message(self, name: str) -> _TimelineText:
        """A message inside it; an empty one when missing."""
        return self.messages.get(name, [_TimelineText()])[-1]


def _described(args_json: str | None) -> _TimelineText:
    """The description of a tensor in a snapshot. Timeline removes all quotes from it."""
    snapshot = strict_json.members(args_json).get("snapshot")
    text = snapshot.get("tensor_description") if isinstance(snapshot, dict) else None
    root = _TimelineText()
    open_ = [root]
    for line in text.splitlines() if isinstance(text, str) else ():
        words = line.strip()
        if words.endswith("{"):
            inner = _TimelineText()
            open_[-1].messages.setdefault(words[:-1].strip(" :"), []).append(inner)
            open_.append(inner)
        elif words == "}":
            if len(open_) > 1:
                open_.pop()
        else:
            name, colon, value = words.partition(":")
            if colon:
                open_[-1].values.setdefault(name, []).append(value.strip())
    return root


def _shape(description: _TimelineText) -> tuple[int, ...] | None:
    """The shape of a tensor; None when the description has none or an unknown one."""
    if "shape" not in description.messages or description.message("shape").text("unknown_rank") == "true":
        return None
    return tuple(dim.number("size") for dim in description.message("shape").messages.get("dim", ()))
