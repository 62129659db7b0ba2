"""A cause: one label, with what makes it one, the line that it lies in and what goes when that is mended."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import fmean
from typing import ClassVar

from stepscope.code_lines import CodeLine
from stepscope.instruments.causes import gain, traced_calls
from stepscope.instruments.causes.call_paths import innermost_call
from stepscope.instruments.causes.contention import Contention
from stepscope.instruments.causes.explanation import Explanation
from stepscope.instruments.causes.host_steps import HostSteps
from stepscope.instruments.causes.label_shares import CauseName, LabelShare
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
    """The time that disappears from the steps when a cause is fixed."""

    part: float = 1.0
    """Of the cause's own time."""
    besides: Mapping[int, int] = field(default_factory=dict)
    """Picoseconds by step, of other labels."""
    launches: int = 0
    """Calls in a step that remain, launched from a compiled function."""
    of_place: frozenset[int] = frozenset()
    """Stacks that come from its place; empty where none is known, or all of the cause comes from it."""
    by_stack: Mapping[int, GoesAtStack] | None = None
    """The part that disappears at each sampled stack; None if only the cause's own label does, or if no steps
    after the recording were sampled."""
    sure: Mapping[int, GoesAtStack] | None = None
    """by_stack without the ops that may remain; None if none may."""


class Cause:
    """A label that can limit the steps. This base class knows no line of it."""

    name: CauseName
    thresholds: CauseThresholds = CauseThresholds()
    by_samples: ClassVar[bool] = False
    """Its time is known from stack samples, where there are any."""

    def stands_out(self, part: LabelShare, contention: Contention | None) -> bool:
        """Whether a label takes enough of a mean step to be what limits it."""
        return part.share >= self.thresholds.stands_out

    def explain(self, host: HostSteps, share: float, ps_per_step: int) -> Explanation:
        """Its line and other evidence. share, ps_per_step: what it takes of a mean step."""
        return Explanation()

    def removal(self, host: HostSteps, found: Explanation) -> Removal:
        """What disappears with it, given its explanation."""
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
        """Time of other labels in a mean step that disappears with it: by the steps of its line, or by
        stacks, which show its function."""
        own_ps = fmean(step.sums.get(self.name, 0) for step in host.steps)
        by_step = fmean(goes.besides.get(step.id, 0) for step in host.steps)
        seen = goes.by_stack.values() if goes.by_stack else ()
        whole_ps = sum(stack.whole_ps for stack in seen)
        part = sum(stack.goes_ps for stack in seen) / whole_ps if whole_ps else 0.0
        return round(max(by_step, part * host.mean_ps - own_ps, 0))

    def untraced(self, host: HostSteps, goes: Removal) -> gain.LeftUntraced | None:
        """What remains of the steps after the recording. Stacks do not show ops."""
        return None


class LineCause(Cause):
    """A cause that lies in a line of the program, found from stack samples, or else from traced calls. Labels
    without a module of their own use this class."""

    name: Label
    marked: ClassVar[bool] = False
    """The program itself does it, so its own marks can name the part of the step if no line is known."""
    by_samples: ClassVar[bool] = True
    takes_along: ClassVar[bool] = True
    """Time of other labels on its line disappears with it."""
    as_a_function: ClassVar[bool] = True
    """Fixing its line removes the function, if that does nothing else."""

    def __init__(self, name: Label | None = None) -> None:
        """name: its label, where its class does not have it."""
        self.name = name or self.name

    @property
    def search(self) -> LineSearch:
        """How its line is found from samples."""
        return LineSearch()

    @property
    def most_of_line(self) -> float:
        """If it has at least this part of a line, the whole line disappears with it."""
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
        """The line that stack samples show."""
        return line_of_label(host.stacks, self.name, self.search)

    def traced_line(self, host: HostSteps) -> Explanation:
        """The innermost function with most of it, where calls of Python were traced."""
        weights = host.traced.get(self.name)
        return Explanation(place=innermost_call(weights, by_function=True)[0] if weights else None)

    def removal(self, host: HostSteps, found: Explanation) -> Removal:
        """Other labels that come from its line."""
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
        """The part of the ops that disappears with their launching."""
        return 1.0

    def goes_by_stack(
        self, host: HostSteps, found: Explanation, place: CodeLine, one_by_one: float
    ) -> Mapping[int, GoesAtStack]:
        """The part that disappears at each sampled stack."""
        rows = host.stacks.parts()
        stacks = stacks_of_line(host.stacks, place, self.name, found.spent_in)
        calls = [call for call in (found.spent_in, place) if call is not None and self.as_a_function]
        whole = (stacks_of_function(host.stacks, rows, call) for call in calls)
        function = next((found for found in whole if found), set())
        return goes_by_stack(rows, stacks, self.name, 1.0, self.most_of_line, one_by_one, function)

    def untraced(self, host: HostSteps, goes: Removal) -> gain.LeftUntraced | None:
        """What remains of the steps after the recording, if the recorder sampled them."""
        if host.untraced is None or host.top_op.on_device:
            return None
        by_stack = goes.by_stack
        if by_stack is None:
            by_stack = goes_by_stack(host.stacks.parts(), (), self.name, goes.part)
        return host.untraced.left_without(self.name, by_stack, host.stacks)
