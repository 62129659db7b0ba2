"""Rows that rocprof's tables and rocprofv3's JSON have in common: queues and copies of GPUs, and threads."""

from collections.abc import Sequence
from typing import Any

from stepscope._core import Store
from stepscope.formats import Damaged, Pieces
from stepscope.formats._profile_events import Events

NS = 1000
"""Picoseconds of a nanosecond."""
MOST_NS = 2**63
"""Times are below."""
Place = tuple[Any, Any, str, dict[str, Any]]
"""Process, thread, category and args of what ran."""
Span = tuple[int, int, str, Any, Any, str, dict[str, Any]]
"""Begin and end in picoseconds, name and place."""


def queue_track(events: Events, gpu: int, queue: int) -> Place:
    """Where a kernel ran."""
    events.thread(f"GPU {gpu}", queue, f"GPU {gpu}", f"stream {queue}")
    return f"GPU {gpu}", queue, "kernel", {"device": gpu}


def copies_track(events: Events, gpu: int) -> Place:
    """Where a copy ran: a table has no queue for it."""
    events.thread(f"GPU {gpu}", "copies", f"GPU {gpu}", "stream of copies")
    return f"GPU {gpu}", "copies", "gpu_memcpy", {"device": gpu}


def thread_track(events: Events, pid: int, thread: int, category: str) -> Place:
    """Where a call was made."""
    events.thread(pid, thread, f"process {pid}", f"thread {thread}")
    return pid, thread, category, {}


def stored(events: Events, spans: Sequence[Span], pieces: Pieces, data: bytes, producer: str) -> Store:
    """The store of all spans, in order of time. Damaged when there are none."""
    if not spans:
        raise Damaged("it holds no kernels, copies or calls with their times")
    for start, end, name, pid, tid, category, args in sorted(spans, key=lambda span: (span[0], -span[1])):
        events.slice(name, start, end, pid, tid, category, args)
    return events.store(pieces, data, producer)
