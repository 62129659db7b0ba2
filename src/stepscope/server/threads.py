"""Threads that let others go first."""

from __future__ import annotations

import contextlib
import os
import sys
import threading

NICE = 5
"""So much the page goes first. The lowest priority would stop what it asks on a machine that trains."""


def give_way() -> None:
    """Lowers the priority of the thread that calls. Only Linux has priorities of threads."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # forbidden, which costs others a little time
            thread_id = threading.get_native_id()
            os.setpriority(os.PRIO_PROCESS, thread_id, os.getpriority(os.PRIO_PROCESS, thread_id) + NICE)
