"""A line of the program that takes much of a step under several labels, none of which stands out: data that
is copied for Python to compute with is one thing to fix."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from stepscope.code_lines import CodeLine
from stepscope.instruments.causes.call_paths import CallPath, FunctionKey, function_of, innermost_call
from stepscope.instruments.causes.cause_facts import Stored
from stepscope.instruments.causes.host_steps import HostSteps
from stepscope.instruments.causes.label_shares import LabelShare
from stepscope.instruments.causes.thresholds import CauseThresholds
from stepscope.instruments.causes.untraced_steps import GoesAtStack
from stepscope.instruments.step_breakdown.labels import OF_LINES, STORES, Label

_OPS: tuple[Label, ...] = ("compute",)
_MOST_OF_STEP, _NEARLY_ALL = 0.5, 0.9
"""Work beside the training with this part of a step limits it, unless one label has nearly all of it."""
WHOLE = GoesAtStack(1.0, 1.0)
"""All of the time at a stack disappears."""
_OTHER_BATCHES = 2
"""The batches that a function must draw in a step, beside the step's own, to count as a loop over them."""


class MixedLine(NamedTuple):
    """A line, and the time of its labels in a mean step, the longest first."""

    line: CodeLine
    parts: tuple[LabelShare, ...]
    by_step: Mapping[int, int] = {}
    """Picoseconds by step of the work beside the training; empty for other lines."""
    goes: Mapping[int, GoesAtStack] = {}
    """Its part at each sampled stack, by step."""
    stores: Stored | None = None
    called_from: CodeLine | None = None
    """The line of the steps' loop that calls it, where it is a loop over other batches."""

    @property
    def aside(self) -> bool:
        """Whether it is beside the training."""
        return bool(self.by_step)

    @property
    def share(self) -> float:
        """Of a mean step, by all labels."""
        return sum(part.share for part in self.parts)


def aside_line(host: HostSteps) -> MixedLine | None:
    """The line of what takes most of a step beside the training and runs ops of its own: callbacks of Keras,
    a loop over other batches, what loads or makes a model, or what stores a checkpoint or a summary. What
    has little else than its own label is a cause by itself."""
    stacks = host.stacks.stacks.values()
    hooks = {stack: path for found in stacks for stack, path in found.hooks.items() if path}
    if (called := _line_of(host, hooks, CauseThresholds.stands_out)) is not None:
        if called.share < _MOST_OF_STEP and called.share <= _most_of_rest(host, hooks):
            return None
        itself = sum(part.share for part in called.parts if part.label in OF_LINES)
        return (
            called
            if 2 * itself < called.share or called.parts[0].share < CauseThresholds.stands_out
            else None
        )
    if (drawing := _other_batches(host)) is not None:
        return drawing if drawing.parts[0].share < _NEARLY_ALL * drawing.share else None
    if (loading := _loading_line(host)) is not None:
        return loading
    stores = {
        stack: path
        for found in stacks
        for stack, path in found.paths.items()
        if path and found.meanings[stack] == STORES
    }
    stored = _line_of(host, stores)
    if stored is None or stored.parts[0].share >= _NEARLY_ALL * stored.share:
        return None
    if host.purposes.get(host.stores, 0) < max(host.purposes.values(), default=1):
        return None
    return stored._replace(stores=host.stores)


def _loading_line(host: HostSteps) -> MixedLine | None:
    """The line that loads or makes a model in the steps. What is compiled then is compiled because of that:
    a model that is new is called for the first time."""
    models = {stack: path for found in host.stacks.stacks.values() for stack, path in found.models.items()}
    found = _line_of(host, models, CauseThresholds.stands_out)
    if found is None or found.share <= _most_of_rest(host, models, _OPS):
        return None
    by_step, goes = _goes(
        host, lambda stack, label: stack in models or label == "compile", dict.fromkeys(models, WHOLE)
    )
    return found._replace(by_step=by_step, goes=goes, stores="model")


def _other_batches(host: HostSteps) -> MixedLine | None:
    """The function with most of a step that draws batches of its own, as an evaluation does, where the loop
    of the steps draws theirs: it takes no gradient, and draws several in each."""
    drawing: set[FunctionKey] = set()
    training: set[FunctionKey] = set()
    of_loop, loops = False, host.stacks.loops
    calls: dict[int, CallPath] = {}
    for found in host.stacks.stacks.values():
        for stack, path in found.paths.items():
            inner = max((n for n, call in enumerate(path) if function_of(call) in loops), default=-1)
            called = path[inner + 1 : inner + 2] if inner >= 0 else ()
            if called:
                calls[stack] = path[inner:]
                if stack in found.gradients:
                    training.add(function_of(called[0]))
            if inner >= 0 and found.meanings[stack].label == "input":
                of_loop = of_loop or not called
                drawing.update(map(function_of, called))
    others = drawing - training
    if not of_loop or not others:
        return None
    within = {stack: path[1:] for stack, path in calls.items() if function_of(path[1]) in others}
    line = _line_of(host, within)
    if line is None or host.batches <= _OTHER_BATCHES * len(host.all_steps):
        return None
    callers = Counter(calls[stack][0] for _, stack, _, _ in host.stacks.parts() if stack in within)
    return line._replace(called_from=callers.most_common(1)[0][0])


def _most_of_rest(host: HostSteps, stacks: Mapping[int, CallPath], besides: Collection[Label] = ()) -> float:
    """What the label takes of a mean step that takes most beside some stacks; what no sample sees is one.
    besides: labels that do not count."""
    most: Counter[Label] = Counter({"unknown": host.whole_ps})
    for _, stack_id, label, dur_ps in host.stacks.parts():
        most["unknown"] -= dur_ps
        if not stacks.get(stack_id) and label not in besides:
            most[label] += dur_ps
    return max(most.values()) / host.whole_ps


def _line_of(
    host: HostSteps, stacks: Mapping[int, CallPath], least: float = _MOST_OF_STEP
) -> MixedLine | None:
    """The line with most of what samples see on some stacks; None where that takes little of the steps."""
    if not stacks:
        return None
    calls: Counter[CallPath] = Counter()
    took: Counter[Label] = Counter()
    for _, stack_id, label, dur_ps in host.stacks.parts():
        if path := stacks.get(stack_id):
            calls[path] += dur_ps
            took[label] += dur_ps
    line = innermost_call(calls, by_function=True, first_too=True)[0]
    if line is None or took.total() < least * host.whole_ps:
        return None
    known = {stack: WHOLE for stack, path in stacks.items() if path}
    return MixedLine(line, _parts(host, took), *_goes(host, lambda stack, _: stack in known, known))


def _goes(
    host: HostSteps, has: Callable[[int, Label], bool], known: Mapping[int, GoesAtStack]
) -> tuple[Mapping[int, int], Mapping[int, GoesAtStack]]:
    """What goes of each step, and at each stack. has: whether what samples see at a stack, by a label, goes;
    known: stacks of which all goes, whether recorded steps were there or not."""
    by_step: Counter[int] = Counter()
    gone: Counter[int] = Counter()
    whole: Counter[int] = Counter()
    for step_id, stack_id, label, dur_ps in host.stacks.parts():
        whole[stack_id] += dur_ps
        if has(stack_id, label):
            gone[stack_id] += dur_ps
            by_step[step_id] += dur_ps
    return by_step, {**known, **{stack: GoesAtStack(gone[stack], ps) for stack, ps in whole.items()}}


def mixed_line(host: HostSteps) -> MixedLine | None:
    """The line with most of such time, if samples show it and its labels together stand out."""
    if not host.stacks.stacks or not host.whole_ps:
        return None
    paths = {stack: path for stacks in host.stacks.stacks.values() for stack, path in stacks.paths.items()}
    lines: dict[CodeLine, Counter[Label]] = defaultdict(Counter)
    for _, stack_id, label, dur_ps in host.stacks.parts():
        path = paths.get(stack_id)
        if path and label in OF_LINES:
            lines[path[-1]][label] += dur_ps
    if not lines:
        return None
    line = max(lines, key=lambda place: (lines[place].total(), place.file, place.line or 0))
    if lines[line].total() < CauseThresholds.stands_out * host.whole_ps:
        return None
    return MixedLine(line, _parts(host, lines[line]))


def _parts(host: HostSteps, took: Counter[Label]) -> tuple[LabelShare, ...]:
    steps, whole_ps = len(host.steps), host.whole_ps
    return tuple(LabelShare(label, ps // steps, ps / whole_ps) for label, ps in took.most_common())
