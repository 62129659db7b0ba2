"""A line of the program that takes much of a step under several labels, of which none stands out: what is
copied for Python to compute with is one thing to mend."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import NamedTuple

from stepscope.code_lines import CodeLine
from stepscope.instruments.causes.host_steps import HostSteps
from stepscope.instruments.causes.judgement import LabelShare
from stepscope.instruments.causes.thresholds import CauseThresholds
from stepscope.instruments.step_breakdown.labels import Label
from stepscope.library.statements import statement

TOGETHER: tuple[Label, ...] = ("python", "copy", "wait")
"""Labels that a line has of itself. Some launching belongs to every op."""


class MixedLine(NamedTuple):
    """A line, and what the labels of TOGETHER take of a mean step in it, the longest first."""

    line: CodeLine
    parts: tuple[LabelShare, ...]


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
    steps = len(host.steps)
    parts = [LabelShare(label, ps // steps, ps / whole_ps) for label, ps in lines[line].most_common()]
    return MixedLine(line, tuple(parts))
