"""Sentences about the memory of an allocator: where figures come from, the peak, what was not freed."""

import sys
from collections import Counter
from collections.abc import Iterator

from stepscope import units
from stepscope.instruments.memory.allocators import AllocatorMemory
from stepscope.instruments.memory.blocks import MemoryBlock, Spans
from stepscope.instruments.memory.peak import is_frame, tensor_of
from stepscope.instruments.memory.pools import fragmentation, rounded_up
from stepscope.report.names import place_of


def sentences(memory: AllocatorMemory) -> list[str]:
    """What there is to know of the figures, in words."""
    return [
        *_recorded(memory),
        *_held_before(memory),
        *_peak_use(memory),
        *_not_freed(memory),
        *_unknown_lines(memory),
        *_graph_comparison(memory),
    ]


def _recorded(memory: AllocatorMemory) -> Iterator[str]:
    """What the figures come from."""
    if not memory.recorded:
        yield (
            "No allocations were recorded, so each tensor is assumed to live from its producer to its last "
            "reader in the executed graph, and nothing else to be held."
        )
    if memory.held.way == "sizes":
        yield "The recording has sizes by category over time; it does not show single tensors."
    if memory.held.way == "held":
        yield "A snapshot without history shows one moment: not what was held before, nor what was freed."
    if memory.held.way == "stacks":
        yield "A profile shows one moment: not what was held before, nor what was freed by then."
    if memory.held.way == "variables":
        yield (
            "This is what the program's variables held between two steps, at that look of the recorder at "
            "which it was most. Within a step more may be held, by ops and by autograd."
        )
    if memory.held.spans is not None:
        yield from _timeline_caveats(memory.held.spans)
    if not memory.complete:
        yield "Only the first allocations were read and the recording has more: the peak may come later."


def _held_before(memory: AllocatorMemory) -> Iterator[str]:
    """What was held when the recording began, and whether all that was held adds up."""
    first = first_moment(memory) if memory.held.way == "sizes" else None
    before = memory.held.base_bytes + sum(b.bytes for b in memory.held.blocks if b.born_ps == first)
    if before and not memory.held.is_moment:
        yield f"{sized(before)} was already held when the recording began."
    elif memory.recorded and not memory.held.totals and memory.held.way == "events":
        yield "What was held before the step (variables, constants) was not recorded and is not counted."
    if memory.held.contradictions:
        yield (
            f"{memory.held.contradictions:,} of {units.count(memory.held.totals, 'event')} "
            f"{units.agree(memory.held.contradictions, 'contradicts', 'contradict')} the blocks: the "
            "allocator reports another total than they add up to, so events are missing."
        )


def _peak_use(memory: AllocatorMemory) -> Iterator[str]:
    """The uses of memory, and what is lost to rounding and fragmentation."""
    if parts := bytes_by_kind(memory):
        when = "By kind" if memory.held.is_moment else "At the peak"
        yield f"{when}: {', '.join(parts)}."
    if rounded := rounded_up(memory.peak.blocks):
        yield f"At the peak, blocks are {sized(rounded)} larger than the program asked for."
    pieces = fragmentation(memory.held.pools, memory.peak.ts_ps)
    if pieces is not None and pieces.most:
        at_peak = "" if pieces.at_peak is None else f"at the peak {units.show(pieces.at_peak, 'ratio')}, "
        at = timed(pieces.most_ps - first_moment(memory))
        yield (
            f"Free memory is fragmented: {at_peak}at most {units.show(pieces.most, 'ratio')} (at {at})"
            " of what the allocator had free was outside its largest piece."
        )


def _not_freed(memory: AllocatorMemory) -> Iterator[str]:
    """What the recording does not see freed."""
    if memory.never_freed and memory.recorded:
        size = sum(block.bytes for block in memory.never_freed)
        largest = memory.never_freed[0]
        # A block of which nothing is known but its size is named by that.
        what = sized(largest.bytes) if largest.op_name is None else tensor_of(largest)
        if largest.code is not None and is_frame(largest):
            what = f"{sized(largest.bytes)} allocated in {place_of(largest.code)}"
        yield (
            f"{units.count(len(memory.never_freed), 'block')} ({sized(size)}) "
            f"{units.agree(len(memory.never_freed), 'was', 'were')} not freed within the recording; "
            f"the largest is {what}."
        )


def _unknown_lines(memory: AllocatorMemory) -> Iterator[str]:
    """What to record to know the lines of the program, where they are unknown."""
    ops = [block for block in memory.peak.blocks if block.op_name is not None]
    if ops and all(block.code is None for block in ops):
        yield (
            "The lines of the program that made these ops are unknown: `stepscope record` writes an op log, "
            "which is also read where one lies beside the recording (tfprof_log); torch.profiler records the "
            "lines with with_stack=True, and so does `stepscope record --allocations`."
        )


def _graph_comparison(memory: AllocatorMemory) -> Iterator[str]:
    """What the executed graph says of the same tensors."""
    if (found := memory.compared) is not None and found.compared:
        late = "" if found.median_late_ps is None else f" (the median delay is {timed(found.median_late_ps)})"
        was = units.agree(found.within, "was", "were")
        yield (
            f"The executed graph shows when each tensor could be freed: {found.within:,} of "
            f"{units.count(found.compared, 'recorded tensor')} "
            f"{was} freed within 100 µs of the last reader{late}."
        )
        if found.later:
            names = ", ".join(_late(block) for block in found.later[:2])
            yield f"Held longer than the graph needs: {names}."
    if memory.graph_peak is not None and memory.timeline_bytes is not None:
        yield (
            f"From the graph alone the peak would be {sized(memory.graph_peak.bytes)}; TensorFlow's "
            "Timeline, which ignores shared memory and counts constants, would show "
            f"{sized(memory.timeline_bytes)}."
        )


def _timeline_caveats(spans: Spans) -> list[str]:
    """What the spans of tensors in a timeline are, and why some are but a moment."""
    alone = spans.tensors - spans.read_later - spans.endless
    kinds = [
        f"{spans.read_later:,} {units.agree(spans.read_later, 'is', 'are')} named by an op that ends later"
    ]
    if alone:
        verb = units.agree(alone, "ends with the op that made it", "end with the op that made them")
        kinds.append(f"{alone:,} {verb}, so that only the moment of making is seen")
    if spans.endless:
        run = units.agree(spans.endless, "has no end: its op", "have no end: their op")
        kinds.append(f"{spans.endless:,} {run} ran again under its name, and only the last run counts")
    besides = f" {spans.nowhere:,} more {units.agree(spans.nowhere, 'has', 'have')} no memory."
    return [
        "No allocator told this: Timeline lets a tensor live from the start of the op that makes it to the "
        "end of the last op whose label names it.",
        f"Of {units.count(spans.tensors, 'tensor')}, {'; '.join(kinds)}.{besides if spans.nowhere else ''}",
        "RunMetadata of the same step shows what allocators did, and with output_partition_graphs=True how "
        "long each tensor had to live.",
    ]


def bytes_by_kind(memory: AllocatorMemory, most: int = sys.maxsize) -> list[str]:
    """How many bytes of the peak are of each kind, most first; empty where no kind is known. most: kinds
    that are named; what others have is one sum."""
    sums: Counter[str] = Counter()
    for block in memory.peak.blocks:
        sums[block.kind] += block.bytes
    if not any(size for kind, size in sums.items() if kind != "unknown"):
        return []
    listed = [(kind, size) for kind, size in sums.most_common() if size]
    parts = [f"{sized(size)} {_KINDS.get(kind, kind)}" for kind, size in listed[:most]]
    rest = sum(size for _, size in listed[most:])
    return [*parts, f"{sized(rest)} of other kinds"] if rest else parts


_KINDS = {
    "parameter": "parameters",
    "input": "inputs",
    "activation": "activations",
    "gradient": "gradients",
    "buffer": "buffers",
    "executable": "executables",
    "autograd detail": "kept by autograd",
    "output": "outputs",
    "temporary": "temporary",
    "persistent": "persistent",
    "unknown": "of unknown kind",
}


def _late(block: MemoryBlock) -> str:
    assert block.freed_ps is not None
    assert block.last_use_ps is not None
    return f"{tensor_of(block)} ({sized(block.bytes)}, {timed(block.freed_ps - block.last_use_ps)} longer)"


def turnover(memory: AllocatorMemory) -> list[tuple[str, MemoryBlock]]:
    """The three blocks that came last before the peak, and the three that go first after it."""
    at = memory.peak.ts_ps
    if at is None:
        return []
    born = sorted(
        (b for b in memory.peak.blocks if b.born_ps is not None), key=lambda b: (-(b.born_ps or 0), -b.bytes)
    )
    gone = sorted(
        (b for b in memory.peak.blocks if b.freed_ps is not None), key=lambda b: (b.freed_ps or 0, -b.bytes)
    )
    return [("allocated", b) for b in reversed(born[:3])] + [("freed", b) for b in gone[:3]]


def first_moment(memory: AllocatorMemory) -> int:
    """When the first block was made that was made while the recorder ran."""
    return min((block.born_ps for block in memory.held.blocks if block.born_ps is not None), default=0)


def sized(value: int) -> str:
    """Bytes, as people read them."""
    return units.show(value, "bytes")


def timed(value: int) -> str:
    """Picoseconds, as people read them."""
    return units.show(value, "ps")
