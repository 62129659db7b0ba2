"""The memory of each allocator: read from the tables of a trace, and written back as the table `buffer`."""

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import median
from typing import Any, NamedTuple

from stepscope import strict_json
from stepscope.background import go_on
from stepscope.code_lines import CodeLine
from stepscope.instruments.memory import lanes, lifetimes, moves, summaries
from stepscope.instruments.memory.blocks import AllocatorBlocks, MemoryBlock, most_held, pair
from stepscope.instruments.memory.lifetimes import Life, Tensor
from stepscope.instruments.memory.peak import Peak, curve, peak
from stepscope.lake.source_ids import first_id
from stepscope.library.statements import Query, Stream, statement


@dataclass(frozen=True)
class Compared:
    """Lifetimes that the graph implies, compared with what the allocator recorded."""

    buffers: int
    """Buffers that the graph implies and that die within the step."""
    compared: int
    """Buffers whose block was recorded."""
    within: int
    """Buffers that were freed within 100 µs of their last use."""
    median_late_ps: int | None
    """The median delay between last use and freeing."""
    later: tuple[MemoryBlock, ...]
    """The largest buffers that were held longest after their last use."""
    earlier: int
    """Buffers freed before their last reader ended: the program ran another graph."""


@dataclass(frozen=True)
class AllocatorMemory:
    """One allocator of one device in one source."""

    source_id: int
    run_id: str
    host_id: str
    path: str
    allocator: str
    device: str
    held: AllocatorBlocks
    peak: Peak
    recorded: bool
    """False when the allocator recorded nothing, and blocks are derived from lifetimes."""
    complete: bool
    """False when there were more moves than are read."""
    never_freed: tuple[MemoryBlock, ...]
    """Blocks allocated and not freed during the recording, largest first."""
    compared: Compared | None
    """None without partition graphs."""
    graph_peak: Peak | None
    """The peak if every buffer died at its last use."""
    timeline_bytes: int | None
    """The peak that TensorFlow's Timeline would show."""

    timed: bool = True
    """False where the recording has the order of changes and no times: they are drawn 1 µs apart."""
    drawn: list[tuple[int, int]] | None = field(default=None, repr=False, compare=False)
    """The memory curve, where it has been computed already."""

    @cached_property
    def curve(self) -> list[tuple[int, int]]:
        """Points of the curve, in order of time."""
        return curve(self.held.blocks, self.held.base_bytes) if self.drawn is None else self.drawn


APART_PS = 10**6
"""Between two changes of which no times are known; what was held before the first lies before it."""

NEAR_PS = 100_000_000
"""Allocators record whole microseconds, and freeing takes some: delays up to 100 µs count as none."""


Of = Callable[[str, str], bool]
"""Whether a run and a host are selected."""


def find(query: Query, stream: Stream | None = None) -> list[AllocatorMemory]:
    """The allocators of all sources, in order of source and then of peak, highest first. stream: as
    moves.read() takes it."""
    found = []
    lines: dict[str, dict[str, CodeLine]] = {}
    for source in _sources(query):
        all_moves, complete = moves.read(query, source[0], stream)
        found += _allocators_of_source(query, source, all_moves, complete, lines)
    return found


def sorted_by_peak(query: Query, stream: Stream | None = None) -> list[AllocatorMemory]:
    """The allocators of all sources together, highest peak first."""
    return sorted(find(query, stream), key=lambda allocator_memory: -allocator_memory.peak.bytes)


def peaks(query: Query, of: Of = lambda run_id, host_id: True) -> list[tuple[str, str, int]]:
    """Device, allocator and peak bytes of each allocator: what find() returns, without the holders."""
    found: list[tuple[str, str, int]] = []
    lines: dict[str, dict[str, CodeLine]] = {}
    for source in _sources(query, of):
        all_moves, complete = moves.read(query, source[0])
        if all_moves:
            found += [(*key, most) for key, most in most_held(all_moves).items()]
            continue
        known = _allocators_of_source(query, source, all_moves, complete, lines)
        found += [(memory.device, memory.allocator, memory.peak.bytes) for memory in known]
    return found


class _Source(NamedTuple):
    source_id: int
    run_id: str
    host_id: str
    path: str
    timed: bool
    """As of AllocatorMemory."""


def _sources(query: Query, of: Of = lambda run_id, host_id: True) -> list[_Source]:
    """The sources that recorded memory; among a thousand sources, most did not."""
    timed = {source_id: bool(has_times) for source_id, has_times in query(statement("memory_sources")).rows()}
    rows = query(statement("sources")).rows()
    return [
        _Source(source_id, run_id, host_id, path, timed[source_id])
        for source_id, run_id, host_id, path, *_ in rows
        if source_id in timed and of(run_id, host_id)
    ]


def _allocators_of_source(
    query: Query,
    source: _Source,
    all_moves: Sequence[moves.Move],
    complete: bool,
    lines: dict[str, dict[str, CodeLine]],
) -> list[AllocatorMemory]:
    """The allocators of a source, highest peak first. lines: lines of the runs that were read before. Each
    part reads up to half a million blocks, and the caller may stop before the last."""
    source_id, run_id = source.source_id, source.run_id
    lives = lifetimes.read(query, source_id)
    recorded = bool(all_moves)
    go_on()
    helds = pair(all_moves)
    go_on()
    if recorded:
        _label(query, source_id, helds, lives)
    else:
        helds, complete = summaries.read(query, source_id)
        recorded = bool(helds)
        helds = helds or _allocators_of_lives(lives)
    if run_id not in lines:
        lines[run_id] = _code(query, run_id)
    made_at = lines[run_id]
    for block in (block for held in helds for block in held.blocks) if made_at else ():
        if block.code is None and block.op_name is not None:
            block.code = _made_at(made_at, block.op_name)
    go_on()
    here = [_memory(source, held, lives, recorded, complete) for held in helds if held.blocks]
    return sorted(here, key=lambda memory: -memory.peak.bytes)


def _code(query: Query, run_id: str) -> dict[str, CodeLine]:
    """The lines that created the ops of a run, from its op logs."""
    rows = query(statement("lines_of_ops", run_id=run_id)).rows()
    return {name: CodeLine(file, line, function) for name, file, line, function in rows}


def _made_at(lines: Mapping[str, CodeLine], op_name: str) -> CodeLine | None:
    """The line that created an op. Nodes added by partitioning are named after the op (name_S7, name/_7,
    name/ctrl_S7), and so are those left by constant folding (ConstantFolding/name-folded-0)."""
    if op_name in lines:
        return lines.get(op_name)
    name = op_name.removeprefix("ConstantFolding/")
    if name != op_name:
        name = name.rpartition("-folded-")[0] or name
    front = name.rstrip("0123456789")
    if front != name and front.endswith(("_S", "/_")):
        name = front[:-2].removesuffix("/ctrl").removesuffix("/replicate")
    return lines.get(name)


def _memory(
    source: _Source, held: AllocatorBlocks, lives: Sequence[Life], recorded: bool, complete: bool
) -> AllocatorMemory:
    lives_on_device = [life for life in lives if not held.device or life.first.run.device == held.device]
    passing = [life for life in lives_on_device if not life.lasting and life.first.bytes]
    graph = [_block(life) for life in passing]
    points = curve(held.blocks, held.base_bytes)
    if not source.timed and points[-1][0] < APART_PS:
        held.way = "held"
    return AllocatorMemory(
        *source[:4],
        held.allocator,
        held.device,
        held,
        peak(held.blocks, held.base_bytes, points),
        recorded,
        complete,
        _kept_at_end(held),
        _compare(held, passing) if recorded and passing else None,
        peak(graph) if graph else None,
        peak([_guess(tensor) for life in lives_on_device for tensor in life.tensors]).bytes
        if lives_on_device
        else None,
        source.timed,
        points,
    )


def _kept_at_end(held: AllocatorBlocks) -> tuple[MemoryBlock, ...]:
    """Blocks allocated and not freed during the recording, largest first."""
    kept = [block for block in held.blocks if block.freed_ps is None and block.born_ps is not None]
    return tuple(sorted(kept, key=lambda block: -block.bytes)) if held.way == "events" else ()


def _allocators_of_lives(lives: Sequence[Life]) -> list[AllocatorBlocks]:
    by_device: dict[str, AllocatorBlocks] = {}
    for life in lives:
        if life.first.bytes and not life.lasting:
            device = life.first.run.device
            held = by_device.setdefault(device, AllocatorBlocks("(from the graph)", device))
            held.blocks.append(_block(life))
    return list(by_device.values())


def _block(life: Life) -> MemoryBlock:
    """A block whose lifetime is exactly the one that the graph implies."""
    block = MemoryBlock(life.first.bytes, life.born_ps, life.last_use_ps, kind="output")
    _tell(block, life)
    return block


def _guess(tensor: Tensor) -> MemoryBlock:
    return MemoryBlock(tensor.bytes, tensor.run.begin_ps, tensor.timeline_ps())


def _tell(block: MemoryBlock, life: Life) -> None:
    first = life.first
    block.op_name, block.op_type, block.op_run_id = first.run.name, first.run.op_type, first.run.number
    block.slot, block.dtype, block.shape = first.slot, first.dtype, first.shape
    block.uses, block.last_use_ps, block.timeline_ps = tuple(life.uses), life.last_use_ps, first.timeline_ps()
    block.address = first.address


def _label(query: Query, source_id: int, helds: Sequence[AllocatorBlocks], lives: Sequence[Life]) -> None:
    """Marks the blocks that are outputs, and the kind of all others."""
    outputs: dict[int, list[Sequence[Any]]] = defaultdict(list)
    for run, slot, requested, allocated, dtype, shape, _ in query(
        statement("op_outputs", source_id=source_id)
    ).rows():
        outputs[run].append((slot, dtype, shape, requested, allocated))
    ends = {
        number: (end, persistent or 0)
        for number, end, persistent in query(statement("op_ends", source_id=source_id)).rows()
    }
    by_first = {(life.first.run.number, life.first.slot): life for life in lives}
    for held in helds:
        for block in held.blocks:
            if block.op_run_id is None or block.born_ps is None:
                continue
            run = block.op_run_id
            _label_block(block, run, *ends.get(run, (0, 0)), outputs[run], by_first)


def _label_block(
    block: MemoryBlock,
    op_run: int,
    end: int,
    persistent: int,
    outputs: list[Sequence[Any]],
    by_first: Mapping[tuple[int, int], Life],
) -> None:
    """Classifies a block that an op allocated. outputs: outputs of its run that have no block yet."""
    match = next((row for row in outputs if block.bytes in (row[3], row[4])), None)
    is_gone = block.freed_ps is not None and block.freed_ps <= end
    if match is not None and not (is_gone and persistent == block.bytes):
        outputs.remove(match)
        block.kind, block.slot, block.dtype = "output", match[0], match[1]
        dims = strict_json.value(match[2])
        block.shape = tuple(dims) if isinstance(dims, list) else None
        life = by_first.get((op_run, match[0]))
        if life is not None:
            _tell(block, life)
    elif is_gone:
        block.kind = "temporary"
    elif persistent and block.bytes <= persistent:
        block.kind = "persistent"


def _compare(held: AllocatorBlocks, lives: Sequence[Life]) -> Compared:
    both = [
        (block, block.freed_ps - block.last_use_ps)
        for block in held.blocks
        if block.freed_ps is not None and block.last_use_ps is not None
    ]
    late = sorted((pair for pair in both if pair[1] > NEAR_PS), key=lambda pair: -pair[1] * pair[0].bytes)
    return Compared(
        len(lives),
        len(both),
        sum(abs(delta) <= NEAR_PS for _, delta in both),
        int(median(delta for _, delta in both)) if both else None,
        tuple(block for block, _ in late[:5]),
        sum(delta < -NEAR_PS for _, delta in both),
    )


def buffer_rows(found: Sequence[AllocatorMemory]) -> list[dict[str, Any]]:
    """Rows of the table buffer."""
    rows: list[dict[str, Any]] = []
    for memory in found:
        at_peak = {id(block) for block in memory.peak.blocks}
        blocks = list(memory.held.blocks)
        if memory.held.base_bytes:  # so that the rows add up to what the allocator tells
            blocks.insert(0, MemoryBlock(memory.held.base_bytes, None, None))
            at_peak.add(id(blocks[0]))
        for block, lane in zip(blocks, lanes.pack(blocks), strict=True):
            rows.append(
                {
                    "id": first_id(memory.source_id) + len(rows),
                    "run_id": memory.run_id,
                    "host_id": memory.host_id,
                    "source_id": memory.source_id,
                    "allocator": memory.allocator,
                    "device": memory.device,
                    "op_run_id": block.op_run_id,
                    "op_name": block.op_name,
                    "op_type": block.op_type,
                    "kind": block.kind,
                    "slot": block.slot,
                    "dtype": block.dtype,
                    "shape": None if block.shape is None else json.dumps(list(block.shape)).replace(" ", ""),
                    "bytes": block.bytes,
                    "born_ps": block.born_ps,
                    "freed_ps": block.freed_ps,
                    "last_use_ps": block.last_use_ps,
                    "timeline_ps": block.timeline_ps,
                    "readers": len(block.uses),
                    "at_peak": id(block) in at_peak,
                    "lane": lane,
                    "file": block.code.file if block.code else None,
                    "line": block.code.line if block.code else None,
                    "function": block.code.function if block.code else None,
                }
            )
    return rows
