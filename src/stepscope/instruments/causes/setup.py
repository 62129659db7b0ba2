"""Setting up the device: the calls that allocate its memory or bring code to it."""

from __future__ import annotations

from dataclasses import replace

from stepscope.instruments.causes.cause import LineCause
from stepscope.instruments.causes.host_steps import HostSteps
from stepscope.instruments.causes.judgement import Allocating, Explanation


class SetupCause(LineCause):
    """Setting up the device."""

    name = "setup"
    takes_along = False

    def explain(self, host: HostSteps, share: float, ps_per_step: int) -> Explanation:
        """The line, and the calls that allocate, free or unload, of the kind that takes longest."""
        found = super().explain(host, share, ps_per_step)
        rows = host.ask("setup_calls")
        if not rows:
            return found
        name, calls, took_ps = rows[0][:3]
        all_ps = sum(row[2] for row in rows)
        of_code_ps = sum(row[2] for row in rows if "Unload" in row[0])
        return replace(found, allocating=Allocating(name, calls, took_ps, all_ps, of_code_ps))
