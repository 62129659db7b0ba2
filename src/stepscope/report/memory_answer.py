"""Memory of recordings: blocks of allocators, else totals, else compiled programs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from stepscope.background import go_on
from stepscope.instruments.memory import allocators, by_step, whatif
from stepscope.instruments.memory.moves import HOST
from stepscope.library.statements import statement
from stepscope.report import memory, memory_page, memory_process, memory_totals, program_memory

if TYPE_CHECKING:
    from stepscope.instruments.memory.allocators import AllocatorMemory
    from stepscope.instruments.memory.whatif import MemoryWhatIf
    from stepscope.report.parts import Report
    from stepscope.session.trace import OpenTrace

Counting = Callable[[str, int, int], object]
"""Called with each calculation, its number, and how many there are."""


def build(
    trace: OpenTrace, *, page: bool = False, all: bool = True, counting: Counting | None = None, **meant: Any
) -> Report:
    """The report; without sections where nothing is known. page: what fits on one. all: every type of op of
    totals. meant: as stepscope.instruments.memory.whatif.ask() takes it."""
    found = allocators.find(trace.query, trace.stream)
    if not found and (totals := memory_totals.build(trace.query, trace.given, all=all)) is not None:
        return totals
    process = memory_process.section(trace.query)
    if not found:
        programs = program_memory.build(trace) if process is None else None
        return programs or memory.build([], process=process)
    asked, steps = list(changes(trace, found, counting, **meant)), by_step.windows(trace.query)
    report = memory_page.build(asked, steps, process) if page else memory.build(asked, steps, process)
    return replace(
        report, headline=(*memory.failures(trace.query), *report.headline, *_unrecorded(trace, found))
    )


def _unrecorded(trace: OpenTrace, found: Sequence[AllocatorMemory]) -> Iterator[str]:
    """A device that worked while only allocations of the host were recorded."""
    if all(allocator_memory.device == HOST for allocator_memory in found):
        for (device,) in trace.query(statement("busiest_device")).rows():
            yield f"This is memory of the host: no allocations of {device} were recorded."


def changes(
    trace: OpenTrace, found: Sequence[AllocatorMemory], counting: Counting | None = None, **meant: Any
) -> Iterator[tuple[AllocatorMemory, list[MemoryWhatIf]]]:
    """Allocators, each with what changes would do to its peak."""
    # Only of what tensors' lifetimes tell that it may be made again.
    durations = functools.cache(lambda: whatif.durations(trace.query))
    for number, allocator_memory in enumerate(found):
        go_on()
        if counting is not None:
            counting(f"what would lower the peak of {allocator_memory.allocator}", number, len(found))
        yield (
            allocator_memory,
            whatif.ask(allocator_memory, run_ps=lambda run: durations().get(run, 0), **meant),
        )
