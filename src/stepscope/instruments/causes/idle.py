"""The accelerator has nothing to do; and what is launched in that time, where launches are recorded."""

from dataclasses import dataclass

from stepscope.instruments.causes.cause import Cause
from stepscope.instruments.causes.cause_facts import GapLaunches
from stepscope.instruments.causes.explanation import Explanation
from stepscope.instruments.causes.host_steps import HostSteps
from stepscope.instruments.causes.thresholds import CauseThresholds
from stepscope.instruments.thresholds import ANY, tuned


@dataclass(frozen=True, eq=False, repr=False)
class IdleThresholds(CauseThresholds):
    """From this share on, launching is named with an idle accelerator."""

    launching: float = tuned(0.5, "launching is named where it takes this part of the idle time", slack=ANY)


class IdleCause(Cause):
    """An idle accelerator."""

    name = "idle"
    thresholds: IdleThresholds = IdleThresholds()

    def explain(self, host: HostSteps, share: float, ps_per_step: int) -> Explanation:
        """The launch that takes most of that time, or how long launches take of it together."""
        steps = len(host.steps)
        least = self.thresholds.launching * ps_per_step * steps
        if not any(launch_ps >= least for (launch_ps,) in host.ask("launching_hosts")):
            return Explanation()  # whether they lie in gaps takes a look at each work of the device
        for op, op_ps, all_ps, called in host.ask("launches_in_gaps"):
            if op_ps >= least:
                return Explanation(
                    gap_launches=GapLaunches(op, min(op_ps // steps, ps_per_step), bool(called))
                )
            if all_ps >= least:
                return Explanation(
                    gap_launches=GapLaunches(None, min(all_ps // steps, ps_per_step), bool(called))
                )
        return Explanation()
