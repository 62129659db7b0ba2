"""What a report of everything adds to a summary: stacks, pipelines and memory, as their verbs show them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from stepscope import units
from stepscope.instruments import flame as stack_samples
from stepscope.instruments.memory import allocators
from stepscope.instruments.pipeline import diagnoses
from stepscope.report import flame, memory, memory_answer, pipeline
from stepscope.report.parts import Section

if TYPE_CHECKING:
    from stepscope.session.trace import OpenTrace

_MOST_SUBJECTS = 4
"""Pipelines, and allocators, that a report of everything holds."""


def added(sections: Iterable[Section], trace: OpenTrace) -> list[Section]:
    """The sections, each followed by what belongs to it."""
    return _interleaved(
        sections,
        {
            "step_part_lines": _stacks(trace),
            "pipeline_stages": _pipelines(trace),
            "memory_by_op": _memory(trace),
        },
    )


def _interleaved(sections: Iterable[Section], more: Mapping[str, Iterable[Section]]) -> list[Section]:
    """The sections, each followed by what belongs to it; what belongs to none goes before the last one."""
    *found, last = sections
    after = dict(more)
    ordered = [part for section in found for part in (section, *after.pop(section.name, ()))]
    return [*ordered, *(section for rest in after.values() for section in rest), last]


def _stacks(trace: OpenTrace) -> Iterator[Section]:
    """Flame graphs of what samples of stacks show."""
    section = flame.section(stack_samples.find(trace.query))
    if section is not None:
        yield section


def _pipelines(trace: OpenTrace) -> Iterator[Section]:
    """The sections of the verb pipeline: stages, and what changes would gain."""
    found = pipeline.ordered(diagnoses.find(trace.query))
    yield from map(pipeline.group, found[:_MOST_SUBJECTS])
    yield from _more("pipeline", "pipeline", len(found))


def _memory(trace: OpenTrace) -> Iterator[Section]:
    """The sections of the verb memory: the curve, and who holds the peak."""
    found = allocators.sorted_by_peak(trace.query, trace.stream)
    for allocator_memory, changes in memory_answer.changes(trace, found[:_MOST_SUBJECTS]):
        yield memory.group(allocator_memory, changes)
    yield from _more("allocator", "memory", len(found))


def _more(subject: str, verb: str, number: int) -> Iterator[Section]:
    """Which verb shows the others."""
    if number > _MOST_SUBJECTS:
        more = f"{units.count(number - _MOST_SUBJECTS, f'more {subject}')}: `stepscope {verb}` shows them."
        yield Section(f"more_{subject}s", f"More {subject}s", answer=(more,))
