"""The program's own Python: the line of the loop of steps, or what ops call."""

from collections import Counter
from dataclasses import dataclass, replace
from typing import NamedTuple

from stepscope.instruments.causes.cause import LineCause
from stepscope.instruments.causes.explanation import Explanation
from stepscope.instruments.causes.host_steps import HostSteps
from stepscope.instruments.causes.query_cache import AskHost
from stepscope.instruments.causes.sampled_lines import LineSearch, line_of_callbacks, line_of_loader
from stepscope.instruments.causes.thresholds import STANDS_OUT, CauseThresholds
from stepscope.instruments.thresholds import ANY, tuned


@dataclass(frozen=True, eq=False, repr=False)
class PythonThresholds(CauseThresholds):
    """Whose Python it is."""

    stands_out: float = tuned(
        0.25, STANDS_OUT, slack=(0.003, 0.574), by=("gpu/torch_svd.json.gz", "capture/python_loop")
    )
    called_back: float = tuned(
        0.5, "Python is that of ops which call it when they take this part of it", slack=ANY
    )
    sampled: float = tuned(
        0.5,
        "Python runs on a thread of the framework when the driving thread's samples see less than this part "
        "of it",
        slack=(0.0, 0.766),
        by=("capture/python_loop",),
    )


class CallingOp(NamedTuple):
    """Ops that call Python."""

    op: str | None = None
    op_type: str | None = None
    """Name of the longest one."""
    all_ps: int = 0
    """Time of all of them."""


class PythonCause(LineCause):
    """The program's own Python."""

    name = "python"
    marked = True
    thresholds: PythonThresholds = PythonThresholds()

    @property
    def search(self) -> LineSearch:
        """By lines of the loop of steps."""
        return LineSearch(of_loop=True)

    def explain(self, host: HostSteps, share: float, ps_per_step: int) -> Explanation:
        """The line, and the op that calls it, if one does."""
        op = calling_op(host.ask)
        if op.all_ps <= self.thresholds.called_back * ps_per_step * len(host.steps):
            return super().explain(host, share, ps_per_step)
        found = line_of_callbacks(host.stacks)
        if found.place is None:
            found = super().explain(host, 0.0, ps_per_step)
        return replace(found, op=op.op, op_type=op.op_type)

    def sampled_line(self, host: HostSteps, share: float) -> Explanation:
        """The line of the loop. An op that calls Python runs it on a thread of the framework, so where hardly
        any of it was sampled on the driving thread, another has it."""
        found = super().sampled_line(host, share)
        least = self.thresholds.sampled * share
        number = 0.0 if found.samples is None else found.samples.number
        if number < least * host.stacks.number():
            elsewhere = line_of_loader(host.stacks, least)
            if elsewhere.place is not None:
                return replace(elsewhere, called_from=None)
        return found


def calling_op(ask: AskHost) -> CallingOp:
    """The ops of a host that call Python; none of a name where there are none."""
    found: Counter[tuple[str, str]] = Counter()
    for _, op_type, op, name, kind, self_ps, _ in ask("computing_ops"):
        if kind == "python" and self_ps:
            found[op or name, op_type or op or name] += self_ps
    if not found:
        return CallingOp()
    return CallingOp(*max(found, key=lambda pair: (found[pair], pair)), all_ps=sum(found.values()))
