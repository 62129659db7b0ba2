"""Threads of the program that make something for its steps, and hand it over by a queue with few places.

While all places are taken, such a thread waits for one. That tells what it needs for a step: all other time
of the step. No slice shows it, and it costs nothing as long as what limits the step takes longer.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import sqrt
from typing import NamedTuple

from stepscope.instruments.step_breakdown import labels
from stepscope.library.statements import Query, statement

FEW_SAMPLES = 20
"""Fewer of a thread tell nothing."""


class FeederNeeds(NamedTuple):
    """What threads that put into one queue need for a step, as a part of it."""

    part: float
    had_cores: float
    """For which part of that they did not lack a core."""
    error: float
    """The standard error of the part, as samples tell it."""


@dataclass
class _ThreadTimes:
    """Where the samples of one thread see it."""

    samples: int = 0
    all_ps: int = 0
    puts_ps: dict[int, int] = field(default_factory=dict)
    """Waiting for a place, by the stack that calls `put`."""
    no_core_ps: int = 0
    """Of other time."""


def longest(query: Query, run_id: str, host_id: str) -> FeederNeeds | None:
    """Of the queues that threads of a host fill and wait for, the one whose threads need most of a step.
    Several threads take turns: each needs its part for the batches of as many steps."""
    found: list[FeederNeeds] = []
    for (source_id,) in query(statement("sampled_sources", run_id=run_id, host_id=host_id)).rows():
        puts = _puts(query, source_id)
        if puts:
            found += _needs_of_queues(_threads(query, source_id, puts))
    return max(found, default=None)


def _puts(query: Query, source_id: int) -> Mapping[int, int]:
    """Stacks within a call that puts into a queue, with the stack that calls it."""
    puts: dict[int, int] = {}
    for _, stack_id, parent_id, file, _, function, code, _ in query(
        statement("frames_of_stacks", sources=[source_id])
    ).rows():
        if parent_id in puts:
            puts[stack_id] = puts[parent_id]
        elif parent_id is not None and code != "program" and labels.puts_into_queue(file or "", function):
            puts[stack_id] = parent_id
    return puts


def _threads(query: Query, source_id: int, puts: Mapping[int, int]) -> list[_ThreadTimes]:
    times: dict[tuple[int | None, str | None], _ThreadTimes] = defaultdict(_ThreadTimes)
    rows = query(statement("stacks_of_threads", source_id=source_id)).rows()
    for track_id, thread_name, stack_id, samples, time_ps, no_core_ps in rows:
        thread = times[track_id, thread_name]
        thread.samples += samples
        thread.all_ps += time_ps
        if stack_id in puts:
            line = puts[stack_id]
            thread.puts_ps[line] = thread.puts_ps.get(line, 0) + time_ps
        else:
            thread.no_core_ps += no_core_ps
    return [thread for thread in times.values() if thread.puts_ps and thread.samples >= FEW_SAMPLES]


def _needs_of_queues(threads: list[_ThreadTimes]) -> list[FeederNeeds]:
    """What the threads of each queue need, by the line that puts into it."""
    queues: dict[int, list[_ThreadTimes]] = defaultdict(list)
    for thread in threads:
        queues[max(thread.puts_ps, key=thread.puts_ps.__getitem__)].append(thread)
    found = []
    for fed in queues.values():
        all_ps = sum(thread.all_ps for thread in fed)
        works_ps = all_ps - sum(sum(thread.puts_ps.values()) for thread in fed)
        lacked_ps = sum(thread.no_core_ps for thread in fed)
        part, samples = works_ps / all_ps, sum(thread.samples for thread in fed)
        had_cores = 1 - lacked_ps / works_ps if works_ps else 1.0
        found.append(FeederNeeds(part, had_cores, sqrt(part * (1 - part) / samples)))
    return found
