"""A line of the program that takes much of a step under several labels, of which none stands out: what is
copied for Python to compute with is one thing to mend."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from stepscope.code_lines import CodeLine
from stepscope.instruments.causes.call_paths import CallPath, innermost_call
from stepscope.instruments.causes.host_steps import HostSteps
from stepscope.instruments.causes.judgement import LabelShare
from stepscope.instruments.causes.thresholds import CauseThresholds
from stepscope.instruments.step_breakdown.labels import Label
from stepscope.library.statements import statement

TOGETHER: tuple[Label, ...] = ("python", "copy", "wait")
"""Labels that a line has of itself. Some launching belongs to every op."""


_MOST_OF_STEP = 0.5
"""Callbacks that take this part of a step are what limits it: the training is the rest."""


class MixedLine(NamedTuple):
    """A line, and what labels take of a mean step in it, the longest first."""

    line: CodeLine
    parts: tuple[LabelShare, ...]
    by_step: Mapping[int, int] = {}
    """Picoseconds by step of what a callback takes; empty for other lines."""


def callback_line(host: HostSteps) -> MixedLine | None:
    """The line of callbacks in which Keras spends most of a step, where that runs ops: to evaluate takes ops
    and input of its own. What is mostly Python, copying or waiting is a cause by itself."""
    whole_ps = sum(step.dur_ps for step in host.steps)
    hooks = {stack: path for found in host.stacks.stacks.values() for stack, path in found.hooks.items()}
    if not any(hooks.values()):
        return None
    judged = {step.id for step in host.steps}
    calls: Counter[CallPath] = Counter()
    took: Counter[Label] = Counter()
    by_step: Counter[int] = Counter()
    asked = statement("parts_by_stack", sources=host.sources)
    for step_id, stack_id, label, dur_ps in host.query(asked).rows():
        if step_id in judged and (path := hooks.get(stack_id)):
            calls[path] += dur_ps
            took[label] += dur_ps
            by_step[step_id] += dur_ps
    line = innermost_call(calls, by_function=True, first_too=True)[0]
    runs_ops = 2 * sum(took[label] for label in TOGETHER) < took.total()
    if line is None or not runs_ops or took.total() < _MOST_OF_STEP * whole_ps:
        return None
    return MixedLine(line, _parts(took, len(host.steps), whole_ps), by_step)


def mixed_line(host: HostSteps) -> MixedLine | None:
    """The line with most of such time, where samples see it and all of it together stands out."""
    whole_ps = sum(step.dur_ps for step in host.steps)
    if not host.stacks.stacks or not whole_ps:
        return None
    judged = {step.id for step in host.steps}
    paths = {stack: path for stacks in host.stacks.stacks.values() for stack, path in stacks.paths.items()}
    lines: dict[CodeLine, Counter[Label]] = defaultdict(Counter)
    for step_id, stack_id, label, dur_ps in host.query(
        statement("parts_by_stack", sources=host.sources)
    ).rows():
        path = paths.get(stack_id)
        if path and label in TOGETHER and step_id in judged:
            lines[path[-1]][label] += dur_ps
    if not lines:
        return None
    line = max(lines, key=lambda place: (lines[place].total(), place.file, place.line or 0))
    if lines[line].total() < CauseThresholds.stands_out * whole_ps:
        return None
    return MixedLine(line, _parts(lines[line], len(host.steps), whole_ps))


def _parts(took: Counter[Label], steps: int, whole_ps: int) -> tuple[LabelShare, ...]:
    return tuple(LabelShare(label, ps // steps, ps / whole_ps) for label, ps in took.most_common())
