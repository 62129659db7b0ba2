"""What another thread of the program runs while the steps wait for a lock, or for the interpreter's."""

from collections import Counter
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from functools import partial

from stepscope.capture import c_functions
from stepscope.code_lines import CodeLine
from stepscope.instruments.causes.call_paths import CallPath, innermost_call
from stepscope.instruments.causes.sampled_lines import StackEvidence
from stepscope.instruments.step_breakdown import stack_samples
from stepscope.instruments.step_breakdown.labels import OF_LINES
from stepscope.library.statements import statement

_LOCKS = frozenset({"acquire", "__enter__"})
_USUALLY = 0.75
"""A thread that is in a line for this part of the other time as well is there whether anything waits or
not."""


def line_beside_lock(evidence: StackEvidence, place: CodeLine, most: float) -> CodeLine | None:
    """The line in which one other thread has its time while a line of the driving thread waits for a lock;
    None where that waits for other things, or no thread of the program's runs its code for this part of that
    time."""
    locks = {
        source_id: {
            stack
            for stack in _lock_stacks(evidence, source_id)
            if stacks.paths.get(stack, ())[-1:] == (place,)
        }
        for source_id, stacks in evidence.stacks.items()
    }
    return _line_beside(evidence, locks, most)


def line_holding_lock(evidence: StackEvidence, place: CodeLine, most: float) -> CodeLine | None:
    """The line in which one other thread sleeps, or waits for something else, while a line of the driving
    thread waits for a lock, and where it is much less often otherwise; None where none is."""
    locks, others = _Waiting(), _Waiting()
    for source_id, stacks in evidence.stacks.items():
        taking = set(_lock_stacks(evidence, source_id))
        at_place = {stack for stack in taking if stacks.paths.get(stack, ())[-1:] == (place,)}
        locks.look(evidence, source_id, at_place, taking)
        others.look(evidence, source_id, stacks.paths.keys() - taking, taking)
    if not locks.paths or not others.driving_ps:
        return None
    thread, paths = max(locks.paths.items(), key=lambda found: found[1].total())
    line = innermost_call(paths, most_of=most)[0]
    if line is None or paths.total() < most * locks.driving_ps:
        return None
    otherwise = others.paths.get(thread, Counter())
    also_ps = sum(time_ps for path, time_ps in otherwise.items() if line in path)
    return line if also_ps < _USUALLY * others.driving_ps else None


class _Waiting:
    """Where other threads wait for anything but a lock while the driving thread has some stacks."""

    def __init__(self) -> None:
        self.driving_ps = 0
        self.paths: dict[tuple[int | None, str | None], Counter[CallPath]] = {}

    def look(
        self, evidence: StackEvidence, source_id: int, chosen: AbstractSet[int], taking: AbstractSet[int]
    ) -> None:
        """Adds what one source shows. chosen: the stacks of the driving thread; taking: those that take a
        lock."""
        stacks = evidence.stacks[source_id]
        if not chosen:
            return
        asked = statement("stacks_beside", source_id=source_id, stacks=sorted(chosen))
        for track_id, thread, stack_id, time_ps, _ in evidence.query(asked).rows():
            path = stacks.paths.get(stack_id, ())
            if path and stack_id not in taking and stacks.meanings[stack_id].label == "wait":
                self.paths.setdefault((track_id, thread), Counter())[path] += time_ps
        # Those beside are of all steps, too.
        of_steps = partial(statement, "samples_in_steps", sources=evidence.sources, averaged=0)
        rows = evidence.query(of_steps(source_id=source_id, main=1)).rows()
        self.driving_ps += sum(weight_ps for stack, weight_ps, *_ in rows if stack in chosen)


def line_beside_label(evidence: StackEvidence, label: str, most: float) -> CodeLine | None:
    """The line in which one other thread runs Python of the program for this part of the time of a label that
    needs the interpreter as well; None where no thread does, nothing tells whether it ran, or both can run
    at the same time. Threads of loaders, and those on which ops call Python, work for the steps."""
    having = {stack_id for _, stack_id, part, _ in evidence.parts() if part == label}
    free = stack_samples.free_threaded(evidence.query)
    driving = {source_id: set() if source_id in free else having for source_id in evidence.stacks}
    return _line_beside(evidence, driving, most, active=True)


def _line_beside(
    evidence: StackEvidence, driving: Mapping[int, AbstractSet[int]], most: float, active: bool = False
) -> CodeLine | None:
    """The line of the other thread that runs Python for most of the time of some stacks of the driving
    thread, by source. active: count only the time in which it is known to have run, or to have wanted a
    core."""
    labels = OF_LINES if active else ("python",)
    beside: dict[tuple[int | None, str | None], Counter[CallPath]] = {}
    driving_ps = 0
    for source_id, stacks in evidence.stacks.items():
        chosen = driving[source_id]
        if not chosen:
            continue
        asked = statement("stacks_beside", source_id=source_id, stacks=sorted(chosen))
        for track_id, thread, stack_id, time_ps, active_ps in evidence.query(asked).rows():
            path = stacks.paths.get(stack_id, ())
            works = active and (stack_id in stacks.loaders or stack_id in stacks.called_back)
            if path and not works and stacks.meanings[stack_id].label in labels:
                paths = beside.setdefault((track_id, thread), Counter())
                paths[path] += (active_ps or 0) if active else time_ps
        driving_ps += sum(
            weight_ps for _, rows in evidence.samples(1) for stack, weight_ps, *_ in rows if stack in chosen
        )
    if not beside:
        return None
    paths = max(beside.values(), key=Counter.total)
    if not paths.total() or paths.total() < most * driving_ps:
        return None
    return innermost_call(paths, by_function=True, most_of=most)[0]


def _lock_stacks(evidence: StackEvidence, source_id: int) -> list[int]:
    """Stacks whose innermost call takes a lock."""
    rows = evidence.query(statement("frames_of_stacks", sources=[source_id])).rows()
    return [
        stack_id
        for _, stack_id, _, file, _, function, *_ in rows
        if file == c_functions.FILE and function in _LOCKS
    ]
