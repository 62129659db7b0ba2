"""Sleeping and waiting: for locks, files, sockets and checkpoints."""

from dataclasses import dataclass, replace

from stepscope.instruments.causes import traced_calls
from stepscope.instruments.causes.cause import LineCause
from stepscope.instruments.causes.explanation import Explanation
from stepscope.instruments.causes.host_steps import STORES, HostSteps
from stepscope.instruments.causes.lock_holders import line_beside_lock, line_holding_lock
from stepscope.instruments.causes.op_lines import creating_line
from stepscope.instruments.causes.sampled_lines import LineSearch
from stepscope.instruments.causes.thresholds import STANDS_OUT, CauseThresholds
from stepscope.instruments.thresholds import ANY, tuned


@dataclass(frozen=True, eq=False, repr=False)
class WaitThresholds(CauseThresholds):
    """Which line waits, and whether it disappears as a whole."""

    stands_out: float = tuned(
        0.25, STANDS_OUT, slack=(0.008, 0.831), by=("tf1/unfed.tar.xz", "chrome/jax.trace.json.gz")
    )
    of_line: float = tuned(
        0.55,
        "a line is followed into what it calls while it has this part of the waiting: other calls, of a "
        "framework, block as well, while ops run",
        slack=ANY,
    )
    most_of_line: float = tuned(
        0.5,
        "a line that waits goes as a whole when waiting has this part of it: what it stores is copied first",
        slack=ANY,
    )


_NEARLY_ALL = 0.9
"""Storing with this part of the waiting is all of it, except for time that samples miss."""


_MOST = 0.5


def _late_copy(host: HostSteps, ps_per_step: int) -> str | None:
    """The call that waits longest until the device begins a copy, where such calls have most of it."""
    waits: list[tuple[str, int]] = host.ask("late_copies")
    waits_ps = sum(call_ps for _, call_ps in waits)
    return waits[0][0] if waits and waits_ps >= _MOST * ps_per_step * len(host.all_steps) else None


def _storing_op(host: HostSteps, found: Explanation, ps_per_step: int) -> Explanation | None:
    """The op of a graph that writes a file or a stream for most of the wait, with the line that made it; None
    if there is none."""
    ops: list[tuple[str, str, int]] = host.ask("storing_ops")
    if not ops or ops[0][2] < _MOST * ps_per_step:
        return None
    op, op_type, _ = ops[0]
    made = creating_line(host.query, host.run_id, op)
    return replace(found, op=op, op_type=op_type, place=made or found.place, samples=None)


def _storing_call(host: HostSteps, found: Explanation) -> Explanation:
    """The call that stores something for most of the wait, as its op type; the explanation unchanged if there
    is none."""
    call = None if found.late_copy else traced_calls.storing_call(host.query, host.sources)
    return found if call is None else replace(found, op_type=call)


class WaitCause(LineCause):
    """Sleeping and waiting."""

    name = "wait"
    marked = True
    thresholds: WaitThresholds = WaitThresholds()

    def explain(self, host: HostSteps, share: float, ps_per_step: int) -> Explanation:
        """Its line, whether that line stores, the op that does, and what another thread runs while it waits
        for a lock."""
        found = replace(super().explain(host, share, ps_per_step), late_copy=_late_copy(host, ps_per_step))
        if found.place is None or not host.stacks.stacks:
            return _storing_op(host, found, ps_per_step) or _storing_call(host, found)
        waits_ps = _NEARLY_ALL * ps_per_step * len(host.steps)
        stored_ps = sum(host.purposes.get(what, 0) for what in STORES)
        stores = host.stores if stored_ps >= waits_ps > 0 else None
        if stores is None and (in_op := _storing_op(host, found, ps_per_step)) is not None:
            return in_op
        meanwhile = line_beside_lock(host.stacks, found.place, _NEARLY_ALL)
        holds = None if meanwhile else line_holding_lock(host.stacks, found.place, _NEARLY_ALL)
        return replace(found, stores=stores, meanwhile=meanwhile or holds, meanwhile_waits=holds is not None)

    @property
    def search(self) -> LineSearch:
        """By lines, else by the function that has them."""
        return LineSearch(most_of=self.thresholds.of_line, functions_too=True)

    @property
    def most_of_line(self) -> float:
        """The part of a line that waits from which on it goes as a whole."""
        return self.thresholds.most_of_line
