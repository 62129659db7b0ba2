"""What a step computes again because it was not kept for gradients, to save memory."""

from __future__ import annotations

from stepscope.instruments.causes.host_steps import HostSteps

_LISTED_FROM = 0.05
"""Less of a step is not told."""


def recomputed_share(host: HostSteps) -> float | None:
    """The part of a mean step in which samples see that; None where it is little."""
    stacks = frozenset(stack for found in host.stacks.stacks.values() for stack in found.recomputing)
    if not stacks or not host.whole_ps:
        return None
    again_ps = sum(dur_ps for _, stack, _, dur_ps in host.sampled_parts if stack in stacks)
    return again_ps / host.whole_ps if again_ps >= _LISTED_FROM * host.whole_ps else None
