"""Unexplained time, and the line in which it passes if samples show it."""

from collections.abc import Sequence
from dataclasses import dataclass

from stepscope import library
from stepscope.code_lines import CodeLine
from stepscope.instruments.causes.call_paths import innermost_call
from stepscope.instruments.causes.cause import Cause
from stepscope.instruments.causes.explanation import Explanation
from stepscope.instruments.causes.host_steps import HostSteps
from stepscope.instruments.causes.label_shares import LabelShare
from stepscope.instruments.causes.sampled_lines import StackEvidence
from stepscope.instruments.causes.thresholds import CauseThresholds
from stepscope.instruments.causes.traced_calls import marked_shares
from stepscope.instruments.thresholds import ANY, tuned


@dataclass(frozen=True, eq=False, repr=False)
class UnknownThresholds(CauseThresholds):
    """When unexplained time hides the cause."""

    stands_out: float = tuned(
        0.4,
        "when nothing is known of this part, the cause is not known either, unless a label has more",
        slack=(0.0, 0.481),
        by=("tf_guide/no_prefetch.xplane.pb.gz",),
    )
    before: float = tuned(0.2, "what passes before the first op is named where it is this part of it")
    waits: float = tuned(
        0.5, "it is waiting for a device when this part of it passes in calls that wait for one"
    )
    of_call: float = tuned(0.2, "the function with so many of the samples of processors is named")
    of_range: float = tuned(0.1, "a slice that stands for no label is named where it is this part of a step")
    of_line: float = tuned(0.5, "it passes in a line that has this part of it itself", slack=ANY)


_MOST_RANGES = 3


def _launches_alone(host: HostSteps) -> bool:
    """Whether of a device of the host only what launched its work was recorded: calls that launch kernels, or
    rows as the finding has them."""
    if host.launches_unseen:
        return True
    found = library.entry("rows_are_launches")
    place = [field.name for field in found.columns].index("run_id")
    rows = host.query(found.statement).rows()
    return any(row[place : place + 2] == (host.run_id, host.host_id) for row in rows)


def sampled_call(host: HostSteps, least: float) -> tuple[str, float] | None:
    """The function with most samples of the processor, where it has at least such a part of them."""
    rows = host.ask("sampled_calls")
    share = rows[0][1] / sum(row[1] for row in rows) if rows else 0.0
    return (rows[0][0], share) if share >= least else None


class UnknownCause(Cause):
    """Unexplained time."""

    name = "unknown"
    thresholds: UnknownThresholds = UnknownThresholds()

    def explain(self, host: HostSteps, share: float, ps_per_step: int) -> Explanation:
        """The line in which it passes, or how much of it passes before the first op."""
        if host.stacks.number() > 0:
            return Explanation(place=self.line_of(host.stacks), sampled=True)
        rows = host.ask("before_first_op") if len(host.steps) == 1 else ()
        before_ps = max((row[0] for row in rows), default=0)
        telling = before_ps >= self.thresholds.before * ps_per_step
        return Explanation(
            before_ps=min(before_ps, ps_per_step) if telling else None,
            launches_alone=_launches_alone(host),
            sampled_call=sampled_call(host, self.thresholds.of_call),
            awaited_ps=self.awaited_ps(host, ps_per_step),
            ranges=self.ranges(host),
        )

    def ranges(self, host: HostSteps) -> tuple[tuple[str, float], ...]:
        """The slices of the driving thread, whatever they are, in which most of a step lies."""
        found = marked_shares(host.query, host.sources)[:_MOST_RANGES]
        return tuple((name, share) for name, share in found if share >= self.thresholds.of_range)

    def awaited_ps(self, host: HostSteps, ps_per_step: int) -> int | None:
        """The time of a mean step in calls that wait for a device, none of whose work was recorded."""
        waits: dict[int, int] = dict(host.ask("waits_for_device"))
        waited_ps = round(sum(waits.get(step.id, 0) for step in host.steps) / len(host.steps))
        return min(waited_ps, ps_per_step) if waited_ps >= self.thresholds.waits * ps_per_step else None

    def line_of(self, evidence: StackEvidence) -> CodeLine | None:
        """The line of the program that has most of it, as the last of the calls on the stack."""
        took = evidence.times(self.name)[0]
        place, _ = innermost_call(took)
        in_line = sum(weight for calls, weight in took.items() if calls[-1] == place)
        return place if in_line >= self.thresholds.of_line * sum(took.values()) else None

    def hides_the_rest(self, parts: Sequence[LabelShare]) -> bool:
        """Whether the unexplained time is longer than any label, and long enough for any cause to hide in
        it."""
        share = {part.label: part.share for part in parts}
        known = max((part for label, part in share.items() if label != self.name), default=0.0)
        return share.get(self.name, 0.0) >= max(self.thresholds.stands_out, known)
