"""What another thread of the program runs while the steps wait for a lock."""

from __future__ import annotations

from collections import Counter

from stepscope.capture import c_functions
from stepscope.code_lines import CodeLine
from stepscope.instruments.causes.call_paths import CallPath, innermost_call
from stepscope.instruments.causes.sampled_lines import StackEvidence
from stepscope.library.statements import statement

_LOCKS = frozenset({"acquire", "__enter__"})


def line_beside_lock(evidence: StackEvidence, place: CodeLine, most: float) -> CodeLine | None:
    """The line in which one other thread has its time while a line of the driving thread waits for a lock;
    None where that waits for other things, or no thread of the program's runs its code for this part of that
    time."""
    beside: dict[tuple[int | None, str | None], Counter[CallPath]] = {}
    waits_ps = 0
    for source_id, stacks in evidence.stacks.items():
        ending = _lock_stacks(evidence, source_id)
        locks = {stack for stack in ending if stacks.paths.get(stack, ())[-1:] == (place,)}
        if not locks:
            continue
        asked = statement("stacks_beside", source_id=source_id, stacks=sorted(locks))
        for track_id, thread, stack_id, time_ps in evidence.query(asked).rows():
            path = stacks.paths.get(stack_id, ())
            if path and stacks.meanings[stack_id].label == "python":
                beside.setdefault((track_id, thread), Counter())[path] += time_ps
        waits_ps += sum(
            weight_ps for _, rows in evidence.samples(1) for stack, weight_ps, *_ in rows if stack in locks
        )
    if not beside:
        return None
    paths = max(beside.values(), key=Counter.total)
    if paths.total() < most * waits_ps:
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
