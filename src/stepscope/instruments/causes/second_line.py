"""What else to know of the line of a cause: a second line that takes nearly as much by the same label, so
that mending the first alone gains only half, and what its function takes by other labels."""

from collections import Counter

from stepscope.code_lines import CodeLine
from stepscope.instruments.causes.call_paths import CallPath, function_of, innermost_call
from stepscope.instruments.causes.cause_facts import SharedLine
from stepscope.instruments.causes.explanation import Explanation
from stepscope.instruments.causes.host_steps import HostSteps
from stepscope.instruments.causes.label_shares import CauseName, LabelShare
from stepscope.instruments.step_breakdown.labels import OF_LINES, Label

_NEARLY, _LITTLE = 0.5, 0.1
"""A second line is named if it takes at least this part of what the first takes, and this part of a step."""
_MOST, _MORE, _ALL, _TOLD = 0.5, 1.5, 0.95, 0.01
"""Other labels are listed if the function takes at least this part of a step, and at least this many times
what it takes by the label of the cause; above this part, it is the step itself. A label needs this part of a
step."""


def lines_of(host: HostSteps, name: CauseName, found: Explanation) -> tuple[SharedLine, ...]:
    """The shares of the cause's line and of the second line in a mean step; nothing if one line has most of
    it, as far as samples show."""
    first = _sampled_line(host, name, found)
    if first is None:
        return ()
    took = _took(host, name)
    of_first = Counter({path: ps for path, ps in took.items() if _passes(path, first)})
    rest = took - of_first
    second = innermost_call(rest, by_function=True)[0]
    if second is None or function_of(second) in host.stacks.loops:
        return ()
    second_ps = sum(ps for path, ps in rest.items() if _passes(path, second))
    if second_ps < max(_NEARLY * of_first.total(), _LITTLE * host.whole_ps) or not of_first:
        return ()
    shares = ((first, of_first.total()), (second, second_ps))
    return tuple(SharedLine(line, ps / host.whole_ps) for line, ps in shares)


def _sampled_line(host: HostSteps, name: CauseName, found: Explanation) -> CodeLine | None:
    """The line of a cause, if it lies in one, as samples show it."""
    sampled = name in OF_LINES and found.op is None and host.stacks.stacks
    return (found.spent_in or found.place) if sampled else None


def other_labels(
    host: HostSteps, name: CauseName, found: Explanation, share: float
) -> tuple[LabelShare, ...]:
    """What the function of the line takes of a mean step by each label, the longest first, where that is most
    of the step and much more than it takes by the label of the cause; nothing for the loop of the steps. A
    metric that reads element by element is Python, and launches and runs as many ops."""
    line = _sampled_line(host, name, found)
    if line is None or line.function == "<module>" or function_of(line) in host.stacks.loops:
        return ()
    took: Counter[Label] = Counter()
    paths = host.stacks.paths
    for _, stack_id, label, dur_ps in host.stacks.parts():
        if _passes(paths.get(stack_id, ()), line):
            took[label] += dur_ps
    least = max(_MOST, _MORE * share) * host.whole_ps
    if not least <= took.total() < _ALL * host.whole_ps:
        return ()
    steps = len(host.steps)
    parts = (LabelShare(label, ps // steps, ps / host.whole_ps) for label, ps in took.most_common())
    return tuple(part for part in parts if part.share >= _TOLD)


def _took(host: HostSteps, name: CauseName) -> Counter[CallPath]:
    """The time of a label in the steps by the program's own calls, without those of the loop of steps, which
    all of it passes through."""
    took: Counter[CallPath] = Counter()
    paths = host.stacks.paths
    for _, stack_id, label, dur_ps in host.stacks.parts():
        within = tuple(call for call in paths.get(stack_id, ()) if function_of(call) not in host.stacks.loops)
        if label == name and within:
            took[within] += dur_ps
    return took


def _passes(path: CallPath, line: CodeLine) -> bool:
    return function_of(line) in map(function_of, path)
