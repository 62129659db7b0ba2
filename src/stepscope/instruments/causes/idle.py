"""The accelerator has nothing to do."""

from __future__ import annotations

from stepscope.instruments.causes.cause import Cause


class IdleCause(Cause):
    """An idle accelerator."""

    name = "idle"
