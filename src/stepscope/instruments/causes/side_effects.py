"""Time that disappears with a line: when it is fixed, other parts of the steps that come from it disappear as
well. A constant that is made in every step is copied, and Python prepares the copy."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from stepscope.code_lines import CodeLine
from stepscope.instruments.causes.call_paths import CallPath, function_of, has_all
from stepscope.instruments.causes.gain import Sums
from stepscope.instruments.causes.sampled_lines import StackEvidence
from stepscope.instruments.causes.untraced_steps import GoesAtStack
from stepscope.instruments.thresholds import ANY, tuned

GOES = frozenset({"python", "copy", "dispatch", "wait"})
"""Labels that a line causes by itself. Ops, the input and compilation have other causes."""


@dataclass(frozen=True, eq=False, repr=False)
class SideEffectThresholds:
    """When a line disappears as a whole."""

    most_of_line: float = tuned(
        0.65,
        "a line goes as a whole when the cause has this part of it, ops apart; else it does other things too",
        slack=ANY,
    )
    ops: float = tuned(
        0.2, "when ops run for more of a line's time, it is the model that is called there", slack=ANY
    )
    between: float = tuned(
        0.25,
        "what a line does beside launching lies between its launches when these have this part of it, ops "
        "apart, as where it reads each result; no compiled function returns there",
        fitted_on="a program of JAX that reads each token as it decodes",
        slack=ANY,
    )
    launches: float = tuned(
        0.1, "a function that launches more than this part of all ops calls the model", slack=ANY
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
    stacks = stacks_of_line(evidence, place, cause, spent_in)
    return effects_of_stacks(evidence.parts(), stacks, cause, most_of_line, one_by_one)


def stacks_of_line(
    evidence: StackEvidence, place: CodeLine, cause: str, spent_in: CodeLine | None = None
) -> set[int]:
    """The stacks that come from a line, as `sampled_effects` has them."""
    paths = evidence.paths
    if cause == "dispatch":  # many small calls: no line of the function is the cause
        in_function = {stack_id: path for stack_id, path in paths.items() if _passes_function(path, place)}
        return _launching_stacks(evidence.parts(), in_function)
    stacks_at_place = {stack_id for stack_id, path in paths.items() if place in path}
    others: Counter[CallPath] = Counter()
    for _, stack_id, label, dur_ps in evidence.parts():
        if label != cause and stack_id in paths:
            others[paths[stack_id]] += dur_ps
    if spent_in is not None and has_all(place, others):
        return {stack_id for stack_id, path in paths.items() if _passes_function(path, spent_in)}
    return stacks_at_place


def _launching_stacks(rows: Iterable[StackPart], paths: Mapping[int, CallPath]) -> set[int]:
    """Of the stacks of a function, those of lines that launch: what they do besides lies between launches."""
    parts: dict[CodeLine, Counter[str]] = defaultdict(Counter)
    for _, stack_id, label, dur_ps in rows:
        if stack_id in paths and label in GOES:
            parts[paths[stack_id][-1]][label] += dur_ps
    return {
        stack_id
        for stack_id, path in paths.items()
        if (of_line := parts[path[-1]])["dispatch"] >= THRESHOLDS.between * of_line.total()
    }


def stacks_of_function(evidence: StackEvidence, rows: Iterable[StackPart], place: CodeLine) -> set[int]:
    """The stacks that come from the function of a line, where all that it does is the cause's: who mends it
    does not call it any more. Empty where it runs ops, or has the loop of steps."""
    if function_of(place) in evidence.loops:
        return set()
    found = {stack_id for stack_id, path in evidence.paths.items() if _passes_function(path, place)}
    parts: Counter[str] = Counter()
    everywhere: Counter[str] = Counter()
    for _, stack_id, label, dur_ps in rows:
        everywhere[label] += dur_ps
        if stack_id in found:
            parts[label] += dur_ps
    goes = sum(ps for label, ps in parts.items() if label in GOES)
    calls_model = _op_time(parts) > THRESHOLDS.launches * _op_time(everywhere)
    return found if goes > (1 - THRESHOLDS.ops) * sum(parts.values()) and not calls_model else set()


def _op_time(parts: Mapping[str, int]) -> int:
    return parts.get("compute", 0) + parts.get("dispatch", 0)


def goes_by_stack(
    rows: Iterable[StackPart],
    stacks: Iterable[int],
    cause: str,
    part: float = 1.0,
    most_of_line: float | None = None,
    one_by_one: float = 1.0,
    whole_function: Iterable[int] = (),
) -> dict[int, GoesAtStack]:
    """What goes of the time at each stack, the cause's own included. part: of that which goes.
    whole_function: stacks of which everything goes but ops. The rest as for `effects_of_stacks`."""
    at_place, of_function = set(stacks), set(whole_function)
    of_stack: dict[int, Counter[str]] = defaultdict(Counter)
    for _, stack_id, label, dur_ps in rows:
        of_stack[stack_id][label] += dur_ps
    whole: Counter[str] = Counter()
    for stack_id in at_place & of_stack.keys():
        whole.update(of_stack[stack_id])
    besides = _side_effects(cause, one_by_one) if _goes_as_a_whole(whole, cause, most_of_line) else {}
    # What no recorded step did of the function goes with it: any weight says so.
    found = {stack_id: GoesAtStack(1.0, 1.0) for stack_id in of_function}
    for stack_id, parts in of_stack.items():
        goes = dict.fromkeys(GOES - {cause}, 1.0) if stack_id in of_function else {}
        goes = {**(besides if stack_id in at_place else {}), **goes, cause: part}
        found[stack_id] = GoesAtStack(
            sum(ps * goes.get(label, 0.0) for label, ps in parts.items()), sum(parts.values())
        )
    return found


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
    goes = _side_effects(cause, one_by_one)
    return {
        step_id: round(sum(dur_ps * goes.get(label, 0.0) for label, dur_ps in parts.items()))
        for step_id, parts in steps.items()
    }


def _side_effects(cause: str, one_by_one: float) -> dict[str, float]:
    """The part that goes of each other label of a line that goes as a whole. Ops that are compiled into one
    function take what that leaves of each, launching included."""
    return dict.fromkeys(GOES - {cause}, 1.0) | ({"compute": one_by_one} if cause == "dispatch" else {})


def _passes_function(path: CallPath, place: CodeLine) -> bool:
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
        label: sum(ps for path, ps in paths.items() if _passes_function(path, place))
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
