"""What a step computes again because it was not kept for gradients, to save memory."""

from stepscope.instruments.causes.cause_facts import Recomputed
from stepscope.instruments.causes.host_steps import HostSteps
from stepscope.library.statements import statement

_LISTED_FROM = 0.05
"""A smaller part of a step is not reported."""


def recomputed(host: HostSteps) -> Recomputed | None:
    """The part of a mean step that goes to it; None where it is little. Samples see PyTorch do it, the
    compiled programs of JAX say which ops they have for it, and lines of TensorFlow's ops by what call they
    were made."""
    found = max(
        Recomputed("torch.utils.checkpoint", _seen(host)),
        Recomputed("jax.checkpoint", _ran(host, "recomputed_ops")),
        Recomputed("tf.recompute_grad", _ran(host, "recomputed_for_tape")),
        key=lambda again: again.share,
    )
    return found if found.share >= _LISTED_FROM else None


def _seen(host: HostSteps) -> float:
    stacks = frozenset(stack for found in host.stacks.stacks.values() for stack in found.recomputing)
    if not stacks or not host.whole_ps:
        return 0.0
    return sum(dur_ps for _, stack, _, dur_ps in host.stacks.parts() if stack in stacks) / host.whole_ps


def _ran(host: HostSteps, name: str) -> float:
    """Of the time in which a step computes, such ops have the part that they have of all ops. name: of the
    statement about them."""
    place = "device" if host.top_op.on_device else "host"
    asked = statement(name, run_id=host.run_id, host_id=host.host_id, place=place)
    rows = host.query(asked).rows()
    computing_ps = sum(step.sums.get("compute", 0) for step in host.steps)
    return rows[0][0] / rows[0][1] * computing_ps / host.whole_ps if rows and host.whole_ps else 0.0
