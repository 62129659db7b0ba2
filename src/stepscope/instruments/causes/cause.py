"""A cause: one label, with what makes it one, the line that it lies in and what goes when that is mended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import fmean
from typing import ClassVar

from stepscope.code_lines import CodeLine
from stepscope.instruments.causes import gain, traced_calls
from stepscope.instruments.causes.call_paths import innermost_call
from stepscope.instruments.causes.contention import Contention
from stepscope.instruments.causes.host_steps import HostSteps
from stepscope.instruments.causes.judgement import CauseName, Explanation, LabelShare
from stepscope.instruments.causes.sampled_lines import LineSearch, line_of_label
from stepscope.instruments.causes.side_effects import THRESHOLDS as SIDE_EFFECTS
from stepscope.instruments.causes.side_effects import (
    goes_by_stack,
    sampled_effects,
    stacks_of_function,
    stacks_of_line,
    traced_effects,
)
from stepscope.instruments.causes.thresholds import CauseThresholds
from stepscope.instruments.causes.untraced_steps import GoesAtStack
from stepscope.instruments.step_breakdown.labels import Label


@dataclass(frozen=True, eq=False, repr=False)
class Removal:
    """What goes from the steps when a cause is mended."""

    part: float = 1.0
    """Of the cause's own time."""
    besides: Mapping[int, int] = field(default_factory=dict)
    """Picoseconds by step, of other labels."""
    launches: int = 0
    """In a step, which stay and are made from a compiled function."""
    sure: Mapping[int, GoesAtStack] | None = None
    """The same without the ops that may stay; None where none may."""
    of_place: frozenset[int] = frozenset()
    """The stacks that come from its place; empty where none is known, or all of it is of one."""
    by_stack: Mapping[int, GoesAtStack] | None = None
    """What goes at each sampled stack; None where its own label alone does, or no steps after the recording
    were looked at."""


class Cause:
    """A label that can limit the steps. As it stands, one of which no line is known."""

    name: CauseName
    thresholds: CauseThresholds = CauseThresholds()
    by_samples: ClassVar[bool] = False
    """Samples of stacks tell how much it takes, where there are any."""

    def stands_out(self, part: LabelShare, contention: Contention | None) -> bool:
        """Whether a label takes enough of a mean step to be what limits it."""
        return part.share >= self.thresholds.stands_out

    def explain(self, host: HostSteps, share: float, ps_per_step: int) -> Explanation:
        """Where it lies and what is known of it. share, ps_per_step: what it takes of a mean step."""
        return Explanation()

    def removal(self, host: HostSteps, found: Explanation) -> Removal:
        """What goes with it, as it was explained."""
        return Removal()

    def step_without(self, host: HostSteps, found: Explanation) -> gain.Left:
        """How long a mean step would be without it."""
        goes = self.removal(host, found)
        steps = []
        for step in host.steps:
            besides_ps = goes.besides.get(step.id, 0)
            # What its line copies goes with it, though a device does it.
            copy_ps = max(step.sums.get("copy", 0) - besides_ps, 0)
            own_ps = step.sums.get(self.name, 0) + besides_ps
            steps.append((step.dur_ps, {**step.sums, "copy": copy_ps, self.name: own_ps}))
        left = gain.step_without(
            steps,
            self.name,
            host.paces,
            goes.part,
            goes.launches,
            host.had_cores,
            host.top_op.on_device,
            host.stacks.number() if self.by_samples else None,
            self.untraced(host, goes),
        )
        return left._replace(besides_ps=self.besides_ps(host, goes))

    def besides_ps(self, host: HostSteps, goes: Removal) -> int:
        """What goes of other labels in a mean step: by what each step has of its line, or by stacks, which
        tell of its function."""
        own_ps = fmean(step.sums.get(self.name, 0) for step in host.steps)
        by_step = fmean(goes.besides.get(step.id, 0) for step in host.steps)
        seen = goes.by_stack.values() if goes.by_stack else ()
        whole_ps = sum(stack.whole_ps for stack in seen)
        part = sum(stack.goes_ps for stack in seen) / whole_ps if whole_ps else 0.0
        return round(max(by_step, part * host.mean_ps - own_ps, 0))

    def untraced(self, host: HostSteps, goes: Removal) -> gain.LeftUntraced | None:
        """What is left of the steps after the recording. Stacks tell nothing of ops."""
        return None


class LineCause(Cause):
    """A cause that is a line of the program: samples of stacks tell it, else the calls that were traced. As
    it stands, that of any label whose module does not say more."""

    name: Label
    marked: ClassVar[bool] = False
    """It is what the program itself does, which its own marks tell apart where no line is known."""
    by_samples: ClassVar[bool] = True
    takes_along: ClassVar[bool] = True
    """Other labels of its line go with it."""
    as_a_function: ClassVar[bool] = True
    """Who mends its line does without its function, where that does nothing else."""

    def __init__(self, name: Label | None = None) -> None:
        """name: its label, where its class does not have it."""
        self.name = name or self.name

    @property
    def search(self) -> LineSearch:
        """How its line is found among samples."""
        return LineSearch()

    @property
    def most_of_line(self) -> float:
        """The part of a line from which on it goes as a whole."""
        return SIDE_EFFECTS.most_of_line

    def explain(self, host: HostSteps, share: float, ps_per_step: int) -> Explanation:
        """Its line."""
        if host.stacks.stacks:
            return self.sampled_line(host, share)
        found = self.traced_line(host)
        if found.place is None:
            found = Explanation(place=traced_calls.outermost_call(host.query, self.name, host.sources))
        if found.place is None and self.marked:
            return Explanation(mark=traced_calls.mark_of(host.query, self.name, host.sources))
        return found

    def sampled_line(self, host: HostSteps, share: float) -> Explanation:
        """The line that samples of stacks tell."""
        return line_of_label(host.stacks, self.name, self.search)

    def traced_line(self, host: HostSteps) -> Explanation:
        """The innermost function with most of it, where calls of Python were traced."""
        weights = host.traced.get(self.name)
        return Explanation(place=innermost_call(weights, by_function=True)[0] if weights else None)

    def removal(self, host: HostSteps, found: Explanation) -> Removal:
        """What else comes from its line."""
        if found.place is None or not self.takes_along:
            return Removal()
        if host.stacks.stacks:
            one_by_one = self.one_by_one(host)
            besides = sampled_effects(
                host.stacks, found.place, self.name, self.most_of_line, one_by_one, found.spent_in
            )
            by_stack = None
            if host.untraced is not None:
                by_stack = self.goes_by_stack(host, found, found.place, one_by_one)
            return Removal(besides=besides, by_stack=by_stack)
        steps = [(step.id, step.sums) for step in host.steps]
        return Removal(besides=traced_effects(host.traced, found.place, self.name, steps, self.most_of_line))

    def one_by_one(self, host: HostSteps) -> float:
        """Which part of the ops goes with their launching."""
        return 1.0

    def goes_by_stack(
        self, host: HostSteps, found: Explanation, place: CodeLine, one_by_one: float
    ) -> Mapping[int, GoesAtStack]:
        """What goes at each sampled stack."""
        rows = host.stacks.parts()
        stacks = stacks_of_line(host.stacks, place, self.name, found.spent_in)
        calls = [call for call in (found.spent_in, place) if call is not None and self.as_a_function]
        whole = (stacks_of_function(host.stacks, rows, call) for call in calls)
        function = next((found for found in whole if found), set())
        return goes_by_stack(rows, stacks, self.name, 1.0, self.most_of_line, one_by_one, function)

    def untraced(self, host: HostSteps, goes: Removal) -> gain.LeftUntraced | None:
        """What is left of the steps after the recording, where the recorder looked at them."""
        if host.untraced is None or host.top_op.on_device:
            return None
        by_stack = goes.by_stack
        if by_stack is None:
            by_stack = goes_by_stack(host.stacks.parts(), (), self.name, goes.part)
        return host.untraced.left_without(self.name, by_stack, host.stacks)
