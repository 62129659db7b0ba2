"""What the thread that runs the steps does itself while it gets a batch from workers of a loader.

It waits for them, unpickles what they send, and begins and ends them. More of them shorten nothing but the
first.
"""

from collections import Counter

from stepscope.instruments.causes.cause_facts import LoaderWork
from stepscope.instruments.causes.sampled_lines import StackEvidence
from stepscope.instruments.step_breakdown import labels
from stepscope.library.statements import statement

_MOST = 0.5
"""Work with at least this part of the wait for input is named."""


def loader_work(evidence: StackEvidence) -> tuple[LoaderWork, float] | None:
    """What takes most of the time of the steps that is labelled input, and which part of it; None where that
    is to wait for workers, or to make the batch, or where no stack tells."""
    kinds = _kinds(evidence)
    if not kinds:
        return None
    took: Counter[LoaderWork] = Counter()
    input_ps = 0
    parts = [row for row in evidence.parts() if row[2] == "input"]
    # What a step waits for that begins workers is the first batch of a process that still starts.
    begins = {step for step, stack_id, *_ in parts if kinds.get(stack_id) == "workers"}
    for step, stack_id, _, dur_ps in parts:
        input_ps += dur_ps
        kind = kinds.get(stack_id, "workers" if step in begins else None)
        if kind is not None:
            took[kind] += dur_ps
    for kind, taken_ps in took.most_common(1):
        if taken_ps >= _MOST * input_ps > 0:
            return kind, taken_ps / input_ps
    return None


def _kinds(evidence: StackEvidence) -> dict[int, LoaderWork]:
    """What stacks are of: those of workers that begin or end; those in which a queue between processes has
    its bytes, and makes objects of them."""
    kinds: dict[int, LoaderWork] = {}
    taking: set[int] = set()
    if not evidence.stacks:
        return kinds
    rows = evidence.query(statement("frames_of_stacks", sources=list(evidence.stacks))).rows()
    for _, stack_id, parent_id, file, _, function, code, _ in rows:
        place, around = (file or "", function), kinds.get(parent_id)
        if around == "workers" or (code != "program" and labels.runs_workers(*place)):
            kinds[stack_id] = "workers"
        elif code != "program" and labels.takes_from_process(*place):
            taking.add(stack_id)
            kinds[stack_id] = "unpickling"
        elif around == "unpickling" and not labels.waits_in_c(*place):
            if parent_id in taking and labels.receives(*place):
                continue
            kinds[stack_id] = "unpickling"
    return kinds
