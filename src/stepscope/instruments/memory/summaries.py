"""Memory recorded as totals, not as allocations.

Sources: sizes by category over time (PyTorch's memory timeline), the holdings of each stack at one moment
(pprof), those of each variable (the recorder's snapshots), and the estimates of TensorFlow's Timeline.
"""

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
    """The holdings of a source by category, stack, variable or tensor; and whether these are all."""
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
    """Sizes as blocks that add up to them. rows: (time, category, bytes), in order of time. Growth of a
    category is one block; shrinking takes from its newest blocks. Blocks end just before the moment of the
    new size, because a block counts as held at the moment at which it ends."""
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
    """The holdings of a program's variables on each device. rows: those of the statement memory_held."""
    found: dict[str, AllocatorBlocks] = {}
    for name, kind, device, size, file, line, function in rows:
        held = found.setdefault(device or "", AllocatorBlocks("arrays", device or "", way="variables"))
        code = CodeLine(file, line, function or "") if file and line else None
        held.blocks.append(MemoryBlock(size, 0, None, name, kind=kind or "unknown", code=code))
    return list(found.values())
