"""Chrome's trace-event JSON: TensorFlow's Timeline and profiler, JAX, Kineto, Horovod, VizTracer, others."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stepscope._core import Store

NAME = "chrome_trace"
DECODER = "chrome_trace"

_EVENTS = re.compile(rb'"traceEvents"\s*:\s*(\[|$)')
_PHASE = re.compile(rb'"ph"\s*:\s*"')
_TOP_KEY = re.compile(rb'^\{\s*"(displayTimeUnit|schemaVersion|otherData|stackFrames|metadata|traceName)"')
_TRACE_NAME = re.compile(r"trace|timeline", re.IGNORECASE)


def sniff(head: bytes, name: str) -> bool:
    """An object with traceEvents, or an array whose first elements have a phase."""
    head = head.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n")
    if head.startswith(b"{"):
        if _EVENTS.search(head):
            return True
        # Kineto and Chromium can write more than a head's worth of facts before the events.
        return len(head) > 32768 and _TOP_KEY.match(head) is not None
    if head.startswith(b"["):
        if _PHASE.search(head):
            return True
        inside = head[1:].strip(b" \t\r\n],{}")
        return not inside and _TRACE_NAME.search(name) is not None
    return False


def finish(store: Store, path: str) -> None:
    """Says what the tracks are, and adds the devices that they belong to."""
    from stepscope.formats import _chrome_rows

    _chrome_rows.classify(store)
