"""Memory that is not told allocation by allocation: sizes by category over time (PyTorch's memory timeline),
what each stack held at one moment (pprof's profiles of memory), or each variable (the recorder's looks), and
what TensorFlow's Timeline reckons."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from stepscope import strict_json
from stepscope.code_lines import CodeLine, innermost
from stepscope.instruments.memory import timelines
from stepscope.instruments.memory.blocks import AllocatorBlocks, MemoryBlock
from stepscope.instruments.memory.moves import MOST_MOVES
from stepscope.library.statements import Query, statement


def read(query: Query, source_id: int) -> tuple[list[AllocatorBlocks], bool]:
    """What a source holds by category, by stack, by variable or by tensor; and whether that is all of it."""
    sizes = query(statement("memory_sizes", source_id=source_id, most=MOST_MOVES)).rows()
    if sizes:
        return [_category_blocks(sizes)], len(sizes) < MOST_MOVES
    stacks = query(statement("memory_stacks", source_id=source_id, most=MOST_MOVES)).rows()
    if stacks:
        return _count_stacks(text for (text,) in stacks), len(stacks) < MOST_MOVES
    variables = query(statement("memory_held", source_id=source_id, most=MOST_MOVES)).rows()
    if variables:
        return _variable_blocks(variables), len(variables) < MOST_MOVES
    return timelines.read(query, source_id)


def _category_blocks(rows: Sequence[Sequence[Any]]) -> AllocatorBlocks:
    """Sizes as blocks that add up to them. rows: (time, category, bytes), in the order of time.

    What a category grows by is one block; what it shrinks by is taken from the newest ones. They end just
    before the moment of the new size, because blocks count as held at the moment at which they end.
    """
    held = AllocatorBlocks("memory timeline", "", way="sizes")
    open_: dict[str, list[MemoryBlock]] = defaultdict(list)
    sums: dict[str, int] = defaultdict(int)
    for ts_ps, category, size in rows:
        grown = max(int(size or 0), 0) - sums[category]
        sums[category] += grown
        newest = open_[category]
        if grown > 0:
            newest.append(MemoryBlock(grown, ts_ps, None, kind=category))
            held.blocks.append(newest[-1])
        while grown < 0:
            block = newest[-1]
            if block.bytes > -grown:
                part = MemoryBlock(-grown, block.born_ps, ts_ps - 1, kind=category)
                block.bytes += grown
                held.blocks.append(part)
                break
            grown += block.bytes
            newest.pop().freed_ps = ts_ps - 1
    return held


def _count_stacks(texts: Iterable[str | None]) -> list[AllocatorBlocks]:
    found: dict[str, AllocatorBlocks] = {}
    for text in texts:
        record = strict_json.members(text)
        size, device = record.get("Bytes"), str(record.get("Device") or "")
        if not isinstance(size, int) or size <= 0:
            continue
        held = found.setdefault(device, AllocatorBlocks("memory profile", device, way="stacks"))
        calls = [
            CodeLine(file or "", line or 0, function) for function, file, line in record.get("Stack") or ()
        ]
        code = innermost([call for call in calls if call.file])
        name = calls[-1].function if calls else None
        held.blocks.append(MemoryBlock(size, 0, None, name, kind=record.get("Kind") or "unknown", code=code))
    return list(found.values())


def _variable_blocks(rows: Sequence[Sequence[Any]]) -> list[AllocatorBlocks]:
    """What the variables of a program hold on each device. rows: as the statement memory_held gives them."""
    found: dict[str, AllocatorBlocks] = {}
    for name, kind, device, size, file, line, function in rows:
        held = found.setdefault(device or "", AllocatorBlocks("arrays", device or "", way="variables"))
        code = CodeLine(file, line, function or "") if file and line else None
        held.blocks.append(MemoryBlock(size, 0, None, name, kind=kind or "unknown", code=code))
    return list(found.values())
