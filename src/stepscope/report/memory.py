"""Memory as a report: the peak, who holds it, and what would lower it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from stepscope import units
from stepscope.instruments.memory.allocators import APART_PS, AllocatorMemory
from stepscope.instruments.memory.blocks import MemoryBlock
from stepscope.instruments.memory.by_step import StepPeak, Windows, peaks_by_step
from stepscope.instruments.memory.peak import (
    PeakHolder,
    code_of,
    holders,
    is_frame,
    op_of,
    scope_of,
    tensor_of,
)
from stepscope.instruments.memory.whatif import MemoryWhatIf
from stepscope.library import statements
from stepscope.library.statements import Query, statement
from stepscope.report import document_keys, memory_steps
from stepscope.report.memory_sentences import bytes_by_kind, first_moment, sentences, sized, timed, turnover
from stepscope.report.names import endings
from stepscope.report.parts import Change, Chart, Column, Diff, Report, Section, Table

NOTHING = "These recordings say nothing about memory: they hold no allocations, and no outputs with a graph."


TODO = (
    "record with `stepscope record`, which tells the variables that hold arrays; or a session with "
    "trace_level=FULL_TRACE and output_partition_graphs=True, or torch.profiler with profile_memory=True"
)


Asked = Sequence[tuple[AllocatorMemory, Sequence[MemoryWhatIf]]]
"""Allocators, each with what changes would do to its peak."""


NO_STEPS: Windows = {}
"""Of sources that have none."""


_MOMENTS = {
    "held": "when the snapshot was taken",
    "stacks": "when the profile was taken",
    "variables": "between two steps",
}


_MOST_SAID = 3
"""Allocators that the headline of a summary speaks of."""
_MOST_KINDS = 3
"""Kinds of blocks that it names of each."""


_STRETCHES = 960
"""Points of the drawn curve: the largest value in each of so many equal stretches of time."""


_MOST = 10
"""Holders that are listed one by one."""


_HELD = (
    Column("ts_ps", "ps", "Time", "since the first allocation"),
    Column("bytes", "bytes", "Held", "the most that was held at once around this time"),
)


_HELD_AFTER = (Column("change", "int", "Change", "number of the allocation or free"), _HELD[1])


_HOLDERS = (
    Column("name", "text", "Holder"),
    Column("bytes", "bytes", "Held"),
    Column("share", "ratio", "Share", "of the peak"),
    Column("blocks", "int", "Blocks"),
)


_AROUND = (
    Column("what", "text", "What"),
    Column("bytes", "bytes", "Size"),
    Column("tensor", "text", "Tensor"),
)


_GAINS = (
    Column("saved_bytes", "bytes", "Saves", "by how much the peak becomes lower"),
    Column("peak_bytes", "bytes", "Peak then"),
    Column("cost_ps", "ps", "Costs", "time for which ops run again"),
    Column("blocks", "int", "Blocks", "blocks that the change affects"),
)


def build(asked: Asked, steps: Windows = NO_STEPS, process: Section | None = None) -> Report:
    """The report of all allocators, in the order given. steps: those of each source, for their peaks.
    process: what is known of the process as a whole."""
    more = () if process is None else (process,)
    peaks = peaks_by_step([memory for memory, _ in asked], steps)
    answered = [(memory, changes, sentences(memory)) for memory, changes in asked]
    document = document_keys.memory(answered)
    if not answered:
        if process is None:
            return Report("Memory", (NOTHING,), document=document)
        # Its sentence is the answer then, and said once.
        return Report("Memory", process.answer, (replace(process, answer=()),), document=document)
    if len(answered) > 1:
        groups = (group(*answer, of, steps) for answer, of in zip(asked, peaks, strict=True))
        title, sections = f"{len(answered)} allocators", tuple(groups)
    else:
        allocator_memory, changes = asked[0]
        parts = _parts(allocator_memory, changes, peaks[0], steps, "Why")
        title, sections = _place(allocator_memory), tuple(parts)
    return Report(title, (_peak_sentence(answered[0][0]),), (*sections, *more), document=document)


def headline(found: Sequence[AllocatorMemory]) -> list[str]:
    """What comes first of recordings that hold memory and no time: the peak of each, with what holds it."""
    sentences_ = []
    for memory in found[:_MOST_SAID]:
        kinds = f": {', '.join(parts)}" if (parts := bytes_by_kind(memory, _MOST_KINDS)) else ""
        size = sized(memory.peak.bytes)
        if memory.held.is_moment:
            held = f"{memory.device} held {size}" if memory.device else f"{size} was held"
            sentences_.append(f"{held} {_MOMENTS[memory.held.way]}{kinds}.")
        else:
            whose = f" on {memory.device}" if memory.device else ""
            sentences_.append(f"The peak of memory{whose} is {size}{_when(memory)}{kinds}.")
    if len(found) > _MOST_SAID:
        sentences_.append(
            f"{units.count(len(found) - _MOST_SAID, 'more allocator')}: `stepscope memory` shows them."
        )
    return sentences_


def failures(query: Query) -> list[str]:
    """What was asked of memory that it could not give."""
    return [f"Out of memory: {detail}." for (detail,) in query(statement("failed_allocations")).rows()]


def group(
    memory: AllocatorMemory,
    changes: Sequence[MemoryWhatIf] = (),
    peaks: Sequence[StepPeak] = (),
    steps: Windows = NO_STEPS,
) -> Section:
    """An allocator as a section of a larger report."""
    why, *parts = _parts(memory, changes, peaks, steps, "Peak memory")
    question = "What is the peak, who holds it, and what would make it lower?"
    answer = (_peak_sentence(memory), *why.answer)
    return Section("memory", why.title, question, answer, subject=_place(memory), parts=tuple(parts))


def _place(memory: AllocatorMemory) -> str:
    """Where an allocator is: its file, device and name."""
    names = dict.fromkeys(filter(None, (memory.device, memory.allocator)))
    return "  ".join(part for part in (memory.path, " ".join(names)) if part)


def _peak_sentence(memory: AllocatorMemory) -> str:
    if memory.held.way == "variables":
        where = f" on {memory.device}" if memory.device else ""
        return f"Variables of the program held {sized(memory.peak.bytes)}{where}."
    if memory.held.is_moment:
        return f"{sized(memory.peak.bytes)} was held {_MOMENTS[memory.held.way]}."
    if memory.held.way == "timeline":
        return f"The peak is {sized(memory.peak.bytes)}{_when(memory)}, as TensorFlow's Timeline reckons it."
    return f"The peak is {sized(memory.peak.bytes)}{_when(memory)}."


def _when(memory: AllocatorMemory) -> str:
    if memory.peak.ts_ps is None:
        return ""
    after = memory.peak.ts_ps - first_moment(memory)
    if after > 0 and not memory.timed:
        reached, whole = _change_number(memory.peak.ts_ps), _change_number(memory.curve[-1][0])
        return f", first reached with change {reached:,} of {whole:,}"
    if after <= 0:
        return ", reached with the first allocation"
    return f", first reached {timed(after)} after the first allocation"


def _change_number(at_ps: int) -> int:
    """The number of the change at a time, where they are drawn 1 µs apart: 0 for what was held before."""
    return at_ps // APART_PS


def _parts(
    memory: AllocatorMemory,
    changes: Sequence[MemoryWhatIf],
    peaks: Sequence[StepPeak],
    steps: Windows,
    title: str,
) -> Iterator[Section]:
    yield Section("why", title, "What should you know about these figures?", tuple(sentences(memory)))
    asked = partial(statements.text, source_id=memory.source_id, allocator=memory.allocator)
    held = highest(memory, _STRETCHES)
    if held and memory.peak.bytes and not memory.held.is_moment:
        points = memory.curve
        span = max(points[-1][0] - points[0][0], 1)
        rows = tuple((span * i // len(held), size) for i, size in enumerate(held))
        columns, title_, question = _HELD, "Over time", "How much is held when?"
        if not memory.timed:
            columns, title_, question = (
                _HELD_AFTER,
                "Over the changes",
                "How much is held after which change?",
            )
            rows = tuple((_change_number(points[0][0] + after), size) for after, size in rows)
        chart = Chart("area", columns[0].name, ("bytes",), f"Memory held {title_.lower()}")
        table = Table.whole(columns, rows)
        yield Section("curve", title_, question, table=table, chart=chart, sql=asked("memory_curve"))
    for name, title, by in _views(memory):
        table = _holders(
            holders(memory.peak.blocks, by), memory.peak.bytes, memory.held.way in ("sizes", "variables")
        )
        if table.rows:
            chart = Chart("bar", "name", ("bytes",), title)
            sql = asked(f"memory_peak_{'by_op' if name == 'by_scope' else name}")
            question = "Who holds the peak?"
            title += ", at the peak" if not memory.held.is_moment else ""
            yield Section(name, title, question, table=table, chart=chart, sql=sql)
    yield from memory_steps.sections(peaks, steps)
    order = tuple((what, block.bytes, tensor_of(block)) for what, block in turnover(memory))
    if order and memory.held.way == "events":
        title = "Allocated last before the peak, and freed first after it"
        question = "What makes the peak, and what ends it?"
        table = Table.whole(_AROUND, order)
        yield Section("around", title, question, table=table, sql=asked("memory_curve"))
    if changes:
        diff = Diff(_GAINS, tuple(map(_change, changes)))
        title = "What a change would do to the peak"
        yield Section("changes", title, "What would the peak be after a change?", diff=diff)


def _holders(found: Sequence[PeakHolder], peak: int, sizes: bool) -> Table:
    """The largest holders, and the others in one row. sizes: their blocks are none."""
    shown = list(found[:_MOST])
    if rest := found[_MOST:]:
        size, blocks = sum(holder.bytes for holder in rest), sum(holder.blocks for holder in rest)
        shown.append(PeakHolder(f"({len(rest):,} more)", size, blocks))
    wanted = len(_HOLDERS) - sizes
    rows = tuple(
        (holder.name, holder.bytes, holder.bytes / peak, holder.blocks)[:wanted] for holder in shown if peak
    )
    return Table.whole(_HOLDERS[:wanted], rows)


def _change(memory_what_if: MemoryWhatIf) -> Change:
    helps = memory_what_if.saved_bytes > 0
    what, note = document_keys.whatif_words(memory_what_if)
    outcome = note if helps else "would not help: another peak is as high"
    values = (
        memory_what_if.saved_bytes,
        memory_what_if.peak_bytes,
        memory_what_if.cost_ps or None,
        memory_what_if.blocks,
    )
    return Change(what, what, helps, values, outcome)


def _views(memory: AllocatorMemory) -> list[tuple[str, str, Callable[[MemoryBlock], str]]]:
    """Ways to look at the holders that show something each: name, title and key."""
    blocks = memory.peak.blocks
    views: list[tuple[str, str, Callable[[MemoryBlock], str]]] = []
    if memory.held.way == "sizes":
        return [("by_kind", "By category", lambda block: block.kind)]
    if memory.held.way == "variables":
        return [("by_op", "By variable", _variable_of)]
    if any("/" in (block.op_name or "") and not is_frame(block) for block in blocks):
        views.append(("by_scope", "By name scope", scope_of(2)))
    if any(block.code is not None for block in blocks):
        files = endings({block.code.file for block in blocks if block.code is not None})
        views.append(("by_line", "By line of the program", partial(code_of, files=files)))
    has_tensors = any(block.slot is not None or block.shape is not None for block in blocks)
    by_tensor = ("by_tensor", "By tensor", tensor_of)
    by_op = ("by_op", "By call" if memory.held.way == "stacks" else "By op", op_of)
    views.append(by_tensor if has_tensors else by_op)
    return views


def _variable_of(block: MemoryBlock) -> str:
    """A variable, and the line that keeps what it holds."""
    return f"{op_of(block)}, {code_of(block)}" if block.code else op_of(block)


def highest(memory: AllocatorMemory, count: int) -> list[int]:
    """The most that was held in each of `count` equal stretches of the recording."""
    points = memory.curve
    if not points:
        return []
    begin, end = points[0][0], max(points[-1][0], points[0][0] + 1)
    most = [0] * count
    held = points[0][1]
    place = 0
    for ts, now in points:
        at = min((ts - begin) * count // (end - begin), count - 1)
        while place < at:
            most[place] = max(most[place], held)
            place += 1
        most[at] = max(most[at], now, held if ts > begin else 0)
        held = now
    for rest in range(place, count):
        most[rest] = max(most[rest], held)
    return most
