"""What goes with a line: when it is mended, other parts of the steps that come from it go as well.

A constant that is made in every step is copied, and Python makes ready what is copied.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf

from stepscope.code_lines import CodeLine
from stepscope.instruments.causes.call_paths import CallPath, function_of, has_all
from stepscope.instruments.causes.gain import Sums
from stepscope.instruments.causes.sampled_lines import StackEvidence
from stepscope.instruments.thresholds import tuned
from stepscope.library.statements import statement

GOES = frozenset({"python", "copy", "dispatch", "wait"})
"""Labels that a line has of itself. Ops, the input and compilation have reasons of their own."""


@dataclass(frozen=True, eq=False, repr=False)
class SideEffectThresholds:
    """When a line goes as a whole."""

    most_of_line: float = tuned(
        0.65,
        "a line goes as a whole when the cause has this part of it, ops apart; else it does other things too",
        slack=(0.0, inf),
    )
    ops: float = tuned(
        0.2, "when ops run for more of a line's time, it is the model that is called there", slack=(0.0, inf)
    )
    launches: float = tuned(
        0.1, "a function that launches more than this part of all ops calls the model", slack=(0.0, inf)
    )


THRESHOLDS = SideEffectThresholds()

StackPart = tuple[int, int, str, int]
"""A step, a stack, a label, picoseconds."""


def sampled_effects(
    evidence: StackEvidence,
    place: CodeLine,
    cause: str,
    most_of_line: float | None = None,
    one_by_one: float = 1.0,
    spent_in: CodeLine | None = None,
) -> dict[int, int]:
    """Picoseconds of each step besides the cause's own that go when a line is mended. one_by_one: which part
    of the ops is launched one by one; spent_in: the function called in the line that has most of the cause,
    which stands for the line where that calls all of a step."""
    paths = {stack_id: path for stack in evidence.stacks.values() for stack_id, path in stack.paths.items()}
    rows = evidence.query(statement("parts_by_stack", sources=evidence.sources)).rows()
    by_function = cause == "dispatch"  # many small calls: no line of the function is the cause
    stacks_at_place = {
        stack_id
        for stack_id, path in paths.items()
        if (_in_function(path, place) if by_function else place in path)
    }
    others: Counter[CallPath] = Counter()
    for _, stack_id, label, dur_ps in rows:
        if label != cause and stack_id in paths:
            others[paths[stack_id]] += dur_ps
    if spent_in is not None and has_all(place, others):
        stacks_at_place = {stack_id for stack_id, path in paths.items() if _in_function(path, spent_in)}
    return effects_of_stacks(rows, stacks_at_place, cause, most_of_line, one_by_one)


def effects_of_stacks(
    rows: Iterable[StackPart],
    stacks: Iterable[int],
    cause: str,
    most_of_line: float | None = None,
    one_by_one: float = 1.0,
) -> dict[int, int]:
    """The same from rows of stack_part. stacks: those that come from the line."""
    at_place = set(stacks)
    steps: dict[int, Counter[str]] = defaultdict(Counter)
    whole: Counter[str] = Counter()
    for step_id, stack_id, label, dur_ps in rows:
        if stack_id in at_place:
            steps[step_id][label] += dur_ps
            whole[label] += dur_ps
    if not _goes_as_a_whole(whole, cause, most_of_line):
        return {}
    # Ops that are compiled into one function take what that leaves of each, launching included.
    goes = dict.fromkeys(GOES - {cause}, 1.0) | ({"compute": one_by_one} if cause == "dispatch" else {})
    return {
        step_id: round(sum(dur_ps * goes.get(label, 0.0) for label, dur_ps in parts.items()))
        for step_id, parts in steps.items()
    }


def _in_function(path: CallPath, place: CodeLine) -> bool:
    return any(function_of(call) == function_of(place) for call in path)


def _goes_as_a_whole(whole: Mapping[str, int], cause: str, most_of_line: float | None) -> bool:
    least = THRESHOLDS.most_of_line if most_of_line is None else most_of_line
    ops = whole.get("compute", 0)
    rest = sum(whole.values()) - ops
    return whole.get(cause, 0) >= least * rest and ops <= THRESHOLDS.ops * (ops + rest)


def traced_effects(
    weights: Mapping[str | None, Counter[CallPath]],
    place: CodeLine,
    cause: str,
    steps: Iterable[tuple[int, Sums]],
    most_of_line: float | None = None,
) -> dict[int, int]:
    """The same where calls of Python were traced. weights: as traced_calls.label_times has them; steps:
    number and parts of each. Nothing where the model is called from there as well: whose launches are whose,
    calls do not tell."""
    if cause not in GOES - {"dispatch"}:
        return {}
    whole = {
        label: sum(ps for path, ps in paths.items() if _in_function(path, place))
        for label, paths in weights.items()
        if label is not None
    }
    launched = sum(weights.get("dispatch", Counter()).values())
    calls_model = whole.get("dispatch", 0) > THRESHOLDS.launches * launched
    if calls_model or not _goes_as_a_whole(whole, cause, most_of_line):
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
