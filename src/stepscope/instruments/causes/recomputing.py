"""What a step computes again because it was not kept for gradients, to save memory."""

from __future__ import annotations

from stepscope.instruments.causes.host_steps import HostSteps
from stepscope.library.statements import statement

_LISTED_FROM = 0.05
"""Less of a step is not told."""


def recomputed_share(host: HostSteps) -> float | None:
    """The part of a mean step in which samples see that; None where it is little."""
    stacks = frozenset(stack for found in host.stacks.stacks.values() for stack in found.recomputing)
    whole_ps = sum(step.dur_ps for step in host.steps)
    if not stacks or not whole_ps:
        return None
    judged = {step.id for step in host.steps}
    rows = host.query(statement("parts_by_stack", sources=host.sources)).rows()
    again_ps = sum(dur_ps for step, stack, _, dur_ps in rows if step in judged and stack in stacks)
    return again_ps / whole_ps if again_ps >= _LISTED_FROM * whole_ps else None
