"""The peak of each step, and what the highest one holds that the others do not."""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from stepscope.instruments.memory.allocators import AllocatorMemory
from stepscope.instruments.memory.blocks import MemoryBlock
from stepscope.instruments.memory.peak import is_held
from stepscope.library.statements import Query, statement


@dataclass(frozen=True)
class StepPeak:
    """The most that an allocator held during a step."""

    step: int
    bytes: int
    at_ps: int
    """When it was held, on the axis of the allocator's source."""
    memory: AllocatorMemory
    """Moves of the allocator that were recorded in the step."""

    def held(self) -> list[MemoryBlock]:
        """The blocks that were held then."""
        return [block for block in self.memory.held.blocks if is_held(block, self.at_ps)]


Windows = Mapping[int, Sequence[tuple[int, int, int]]]
"""Steps of each source: number, beginning and end in picoseconds."""


def windows(query: Query) -> Windows:
    """When the steps of each source were."""
    found: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for source_id, step, begin, length in query(statement("memory_steps")).rows():
        found[source_id].append((step, begin, begin + length))
    return found


def peaks_by_step(found: Sequence[AllocatorMemory], steps: Windows) -> list[list[StepPeak]]:
    """The peaks of each allocator by step, in order of step, where at least two are known. Files that hold
    single steps are steps of one allocator: the one of that name on the same device of the same host and run.
    The file with the highest peak lists them all; the lists of the other files are empty."""
    alike: dict[tuple[str, str, str, str], list[int]] = defaultdict(list)
    for number, memory in enumerate(found):
        alike[memory.run_id, memory.host_id, memory.device, memory.allocator].append(number)
    answer: list[list[StepPeak]] = [[] for _ in found]
    for numbers in alike.values():
        peaks = [peak for number in numbers for peak in _peaks(found[number], steps)]
        if len(peaks) > 1:
            first = max(numbers, key=lambda number: found[number].peak.bytes)
            answer[first] = sorted(peaks, key=lambda peak: peak.step)
    return answer


def _peaks(memory: AllocatorMemory, steps: Windows) -> list[StepPeak]:
    if memory.held.is_moment:
        return []
    points = memory.curve
    times = [ts for ts, _ in points]
    found = []
    for step, begin, end in steps.get(memory.source_id, ()):
        if not times or end < times[0] or begin > times[-1]:
            continue  # the allocator recorded nothing in this step
        # Blocks held when the step begins are older; those freed at that moment still count.
        before = points[max(bisect_left(times, begin) - 1, 0)]
        inside = points[bisect_left(times, begin) : bisect_right(times, end)]
        at, most = max([(max(before[0], begin), before[1]), *inside], key=lambda point: (point[1], -point[0]))
        found.append(StepPeak(step, most, at, memory))
    return found


def typical(peaks: Sequence[StepPeak]) -> StepPeak:
    """The median of all steps but the highest."""
    ordered = sorted(peaks, key=lambda peak: (peak.bytes, peak.step))[:-1]
    return ordered[len(ordered) // 2]


def difference(high: StepPeak, low: StepPeak, by: Callable[[MemoryBlock], str]) -> list[tuple[str, int, int]]:
    """Holders whose bytes differ between the two peaks, the largest difference first."""
    sums: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    for total, peak in zip(sums, (high, low), strict=True):
        for block in peak.held():
            total[by(block)] += block.bytes
    rows = [(name, sums[0][name], sums[1][name]) for name in {*sums[0], *sums[1]}]
    differing = [row for row in rows if row[1] != row[2]]
    return sorted(differing, key=lambda row: (-abs(row[1] - row[2]), row[0]))
