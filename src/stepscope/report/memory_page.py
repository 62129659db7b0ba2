"""Memory on one page: the highest peak of which it is known who holds it, how steps differ, what helps, and
the other peaks."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath

from stepscope import units
from stepscope.instruments.memory.allocators import AllocatorMemory
from stepscope.instruments.memory.by_step import Windows
from stepscope.report import memory
from stepscope.report.parts import Column, Report, Section, Table

_SENTENCES = 2
_HOLDERS = 5
_CHANGES = 2
_OTHERS = 5
_LEFT_OUT = frozenset({"around", "by_tensor", "by_op"})
"""What another section says more shortly; where it is the only one of holders, it stays."""
_OTHER = (
    Column("where", "text", "Where", "recording and allocator, as far as they differ from those above"),
    Column("bytes", "bytes", "Peak"),
)


def build(asked: memory.Asked, steps: Windows = memory.NO_STEPS, process: Section | None = None) -> Report:
    """The page. It shows a part of what build() of the whole report shows."""
    if not asked:
        return memory.build(asked, steps, process)
    first = max(asked, key=lambda answer: (_is_told(answer[0]), answer[0].peak.bytes))
    whole = memory.build([first], steps)
    others = [allocator_memory for allocator_memory, _ in asked if allocator_memory is not first[0]]
    more = () if process is None else (process,)
    return replace(whole, sections=(*_short(whole), *_others(first[0], others), *more))


def _is_told(allocator_memory: AllocatorMemory) -> bool:
    """Whether it is known of any of the peak who holds it, and not only that it was held before."""
    return any(block.op_name is not None or block.kind != "unknown" for block in allocator_memory.peak.blocks)


def _short(whole: Report) -> Iterator[Section]:
    named = {section.name for section in whole.sections}
    holders = named & {"by_scope", "by_line", "by_kind"}
    for section in whole.sections:
        if section.name in _LEFT_OUT and (holders or section.name == "around"):
            continue
        if section.name == "why":
            yield replace(section, answer=section.answer[:_SENTENCES])
        elif section.name.startswith("by_") and section.name != "by_step":
            yield replace(section, table=_first(section.table))
        elif section.diff is not None:
            yield replace(section, diff=replace(section.diff, changes=section.diff.changes[:_CHANGES]))
        else:
            yield section


def _first(table: Table | None) -> Table | None:
    if table is None or len(table.rows) <= _HOLDERS + 1:
        return table
    names = [column.name for column in table.columns]
    sums = [names.index(name) for name in ("bytes", "share", "blocks") if name in names]
    kept, rest = table.rows[:_HOLDERS], table.rows[_HOLDERS:]
    count = sum(_many(str(row[0])) for row in rest)
    added: list[object] = [f"({count:,} more)", *[None] * (len(names) - 1)]
    for at in sums:
        added[at] = sum(row[at] for row in rest)
    return replace(table, rows=(*kept, tuple(added)), total=_HOLDERS + 1)


def _many(name: str) -> int:
    """How many holders a row stands for: the last one of the whole report sums up the small ones."""
    counted = name.removeprefix("(").removesuffix(" more)").replace(",", "")
    return int(counted) if name.startswith("(") and counted.isdigit() else 1


def _others(first: AllocatorMemory, others: Sequence[AllocatorMemory]) -> Iterator[Section]:
    """The other peaks. first: the one that the page is about."""
    if not others:
        return
    ordered = sorted(others, key=lambda allocator_memory: -allocator_memory.peak.bytes)
    rows = tuple((_apart(other, first), other.peak.bytes) for other in ordered[:_OTHERS])
    what = "other allocator" if len({other.path for other in (first, *others)}) == 1 else "other peak"
    yield Section(
        "others",
        units.count(len(others), what),
        "How high are the other peaks?",
        table=Table(_OTHER, rows, len(others)),
    )


def _apart(other: AllocatorMemory, first: AllocatorMemory) -> str | None:
    """What distinguishes an allocator from the first: the recording, its own name, or both."""
    recording = PurePath(other.path).name if other.path != first.path else ""
    is_other = (other.device, other.allocator) != (first.device, first.allocator)
    allocator = f"{other.device} {other.allocator}".strip() if is_other else ""
    return f"{recording} {allocator}".strip() or None
