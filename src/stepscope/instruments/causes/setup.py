"""Setting up the device: the calls that allocate its memory or bring code to it."""

from dataclasses import dataclass, replace

from stepscope.instruments.causes.cause import LineCause
from stepscope.instruments.causes.cause_facts import Allocating
from stepscope.instruments.causes.explanation import Explanation
from stepscope.instruments.causes.host_steps import HostSteps
from stepscope.instruments.causes.thresholds import CauseThresholds
from stepscope.instruments.thresholds import ANY, MEASURED, tuned


@dataclass(frozen=True, eq=False, repr=False)
class SetupThresholds(CauseThresholds):
    """When a call that allocates is the first use of a device."""

    first_use_ps: int = tuned(
        25 * 10**9,
        "the first call of a process, before any work of the device, makes its context, whatever it is asked "
        "for: that takes 200 to 400 ms, 49 ms where a display uses the device, and allocating 0.02 to 1 ms",
        fitted_on=MEASURED,
        slack=ANY,
    )
    most: float = tuned(
        0.5, "it is what takes the time when it has this part of it", fitted_on=MEASURED, slack=ANY
    )


class SetupCause(LineCause):
    """Setting up the device."""

    name = "setup"
    takes_along = False
    thresholds: SetupThresholds = SetupThresholds()

    def explain(self, host: HostSteps, share: float, ps_per_step: int) -> Explanation:
        """The line, and the calls that allocate, free or unload, of the kind that takes longest."""
        found = super().explain(host, share, ps_per_step)
        rows = host.ask("setup_calls")
        if not rows:
            return found
        name, calls, took_ps = rows[0][:3]
        all_ps = sum(row[2] for row in rows)
        least_ps = self.thresholds.first_use_ps
        first_ps = sum(dur_ps for (dur_ps,) in host.ask("first_setup") if dur_ps >= least_ps)
        if first_ps >= max(self.thresholds.most * all_ps, 1):
            return found
        of_code_ps = sum(row[2] for row in rows if "Unload" in row[0])
        on_host_ps = sum(row[2] for row in rows if "Host" in row[0])
        return replace(found, allocating=Allocating(name, calls, took_ps, all_ps, of_code_ps, on_host_ps))
