"""What goes with a line: when it is mended, other parts of the steps that come from it go as well.

A constant that is made in every step is copied, and Python makes ready what is copied.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from stepscope.instruments.causes.gain import Sums
from stepscope.instruments.causes.judgement import Place
from stepscope.instruments.causes.sampled_lines import Path, Stacks, has_all
from stepscope.library.statements import Query, statement

GOES = frozenset({"python", "copy", "dispatch", "wait"})
"""Labels that a line has of itself. Ops, the input and compilation have reasons of their own."""
TAKES = GOES | {"compile"}
"""Causes that take such labels of their line along. So does compilation: Python traces, and what is launched
finds no compiled call."""
MOST_OF_LINE = 0.65
"""A line goes as a whole when the cause has this part of it, ops apart; else it does other things too."""
MOST_OF_WAIT = 0.5
"""The same of a line that waits: what it stores or sends is copied and made ready first."""
LITTLE = 0.2
"""When ops run for more than this part of a line's time, it is the model that is called there."""

LITTLE_LAUNCHED = 0.1
"""A function that launches more than this part of all ops calls the model."""

Row = tuple[int, int, str, int]
"""A step, a stack, a label, picoseconds."""


def goes_with(
    query: Query,
    stacks: Iterable[Stacks],
    place: Place,
    cause: str,
    sources: Sequence[int],
    one_by_one: float = 1.0,
    spent_in: Place | None = None,
) -> dict[int, int]:
    """Picoseconds of each step besides the cause's own that go when a line is mended. stacks: of the host;
    sources: those that have the steps; one_by_one: which part of the ops is launched one by one; spent_in:
    the function called in the line that has most of the cause, which stands for the line where that calls all
    of a step."""
    if cause not in TAKES:
        return {}
    paths = {stack_id: path for one in stacks for stack_id, path in one.paths.items()}
    rows = query(statement("parts_by_stack", sources=sources)).rows()
    by_function = cause == "dispatch"  # many small calls: no line of the function is the cause
    there = {
        stack_id
        for stack_id, path in paths.items()
        if any(call == place or (by_function and _alike(call, place)) for call in path)
    }
    others: Counter[Path] = Counter()
    for _, stack_id, label, dur_ps in rows:
        if label != cause and stack_id in paths:
            others[paths[stack_id]] += dur_ps
    if spent_in is not None and has_all(place, others):
        there = {stack_id for stack_id, path in paths.items() if any(_alike(call, spent_in) for call in path)}
    return beside(rows, there, cause, one_by_one)


def beside(rows: Iterable[Row], stacks: Iterable[int], cause: str, one_by_one: float = 1.0) -> dict[int, int]:
    """The same from rows of stack_part. stacks: those that come from the line."""
    there = set(stacks)
    steps: dict[int, Counter[str]] = defaultdict(Counter)
    whole: Counter[str] = Counter()
    for step_id, stack_id, label, dur_ps in rows:
        if stack_id in there:
            steps[step_id][label] += dur_ps
            whole[label] += dur_ps
    if not _is_one(whole, cause):
        return {}
    # Ops that are compiled into one function take what that leaves of each, launching included.
    goes = dict.fromkeys(GOES - {cause}, 1.0) | ({"compute": one_by_one} if cause == "dispatch" else {})
    return {
        step_id: round(sum(dur_ps * goes.get(label, 0.0) for label, dur_ps in parts.items()))
        for step_id, parts in steps.items()
    }


def _alike(call: Place, place: Place) -> bool:
    return (call.file, call.function) == (place.file, place.function)


def _is_one(whole: Mapping[str, int], cause: str) -> bool:
    ops = whole.get("compute", 0)
    rest = sum(whole.values()) - ops
    least = MOST_OF_WAIT if cause == "wait" else MOST_OF_LINE
    return whole.get(cause, 0) >= least * rest and ops <= LITTLE * (ops + rest)


def traced(
    weights: Mapping[str | None, Counter[Path]], place: Place, cause: str, steps: Iterable[tuple[int, Sums]]
) -> dict[int, int]:
    """The same where calls of Python were traced. weights: by label and calls, as traced.by_label has them;
    steps: number and parts of each. Nothing where the model is called from there as well: whose launches are
    whose, calls do not tell."""
    whole = {
        label: sum(ps for path, ps in paths.items() if any(_alike(call, place) for call in path))
        for label, paths in weights.items()
        if label is not None
    }
    launched = sum(weights.get("dispatch", Counter()).values())
    if cause not in GOES - {"dispatch"} or whole.get("dispatch", 0) > LITTLE_LAUNCHED * launched:
        return {}
    if not _is_one(whole, cause):
        return {}
    goes = {
        label: whole.get(label, 0) / sum(weights[label].values())
        for label in GOES - {cause, "dispatch"}
        if label in weights
    }
    return {
        number: round(sum(parts.get(label, 0) * part for label, part in goes.items()))
        for number, parts in steps
    }
