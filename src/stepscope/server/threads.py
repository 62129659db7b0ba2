"""Threads with a low priority."""

import contextlib
import os
import sys
import threading

NICE = 5
"""Nice value of slow work. The lowest priority would stall it on a machine that trains."""


def give_way() -> None:
    """Lowers the priority of the calling thread. Only Linux has priorities of threads."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # forbidden, which slows others a little
            thread_id = threading.get_native_id()
            os.setpriority(os.PRIO_PROCESS, thread_id, os.getpriority(os.PRIO_PROCESS, thread_id) + NICE)
