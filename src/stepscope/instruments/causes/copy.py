"""Copying and converting data: the line that does it, how much it is, and whether cores wait for it."""

import json
from dataclasses import replace
from typing import Literal

from stepscope.instruments.causes.cause import LineCause
from stepscope.instruments.causes.explanation import Explanation
from stepscope.instruments.causes.host_steps import HostSteps
from stepscope.instruments.causes.query_cache import AskHost
from stepscope.instruments.causes.sampled_lines import LineSearch
from stepscope.instruments.roofline import torch_shapes
from stepscope.library.statements import statement

HOST_MEMORY = "S(5)"
"""How XLA writes in a shape that an array lies in the memory of the host."""


class CopyCause(LineCause):
    """Copying and converting. A call that moves data launches as well; its stack shows only that."""

    name = "copy"

    @property
    def search(self) -> LineSearch:
        """By lines of the loop of steps."""
        return LineSearch(stands_in="dispatch", of_loop=True, functions_too=True)

    def explain(self, host: HostSteps, share: float, ps_per_step: int) -> Explanation:
        """The line, how much is copied, and which copies the cores of devices wait for."""
        found = super().explain(host, share, ps_per_step)
        copied = copied_bytes(host, ps_per_step)
        return replace(
            found,
            awaits_copies=awaited_copies(host.ask),
            copied_bytes=copied,
            session_bytes=session_bytes(host.ask),
        )


def copied_bytes(host: HostSteps, ps_per_step: int) -> int | None:
    """What a mean step copies on a processor. None where PyTorch recorded the shapes of less than half of
    ps_per_step, which is what copying takes: NumPy, say, copies the rest."""
    copied, took_ps, steps = 0.0, 0, len(host.all_steps)
    for text, dur_ps in host.query(statement("copied_tensors", sources=host.sources)).rows():
        tensors = None if text is None else torch_shapes.read(json.loads(text))
        if tensors is not None and tensors.has(0):
            copied += tensors.bytes(0)
            took_ps += dur_ps
    return round(copied / steps) if 2 * took_ps >= ps_per_step * steps and copied else None


def session_bytes(ask: AskHost) -> tuple[int, int] | None:
    """What a mean step feeds to runs of a session, and fetches from them. None where nobody counted."""
    ((fed, fetched),) = ask("session_bytes")
    return None if fed is None else (round(fed), round(fetched or 0))


def awaited_copies(ask: AskHost) -> Literal["host", "device"] | None:
    """The copies that the cores of devices wait for; None if there are none."""
    rows = ask("copy_waits")
    if not rows:
        return None
    with_host = sum(took for name, took in rows if HOST_MEMORY in name)
    return "host" if 2 * with_host >= sum(took for _, took in rows) else "device"
