"""What is true of a trace of PyTorch, read with Python's json and decimals and none of stepscope's code.

An execution is a kernel, a copy or a set of memory on a device; a kernel whose name has `nccl` or `rccl`
communicates. A device is busy in the union of executions. Tools differ in which they look at, so three are
right: all, those within the host's steps, and those that the host launched within its steps.

The device's limit is the largest of: compute, what communication no kernel hides, what copies neither hide,
idle; of the host's steps and of the time from the device's first to its last execution. What comes within TIE
of the largest is right, too. The longest op is the kernel with the largest sum; where that one communicates,
the longest that computes is right as well.
"""

from __future__ import annotations

import gzip
import json
import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

Event = dict[str, Any]
Span = tuple[Decimal, Decimal]
"""Begin and end, in microseconds."""

EXECUTIONS = ("kernel", "gpu_memcpy", "gpu_memset", "Kernel", "Memcpy", "Memset")
KERNELS = ("kernel", "Kernel")
TIE = 0.05
"""Part of the time by which two limits may differ and both be right."""
SAME = 0.02
"""Part of its time by which an op may be shorter than the longest, and be right as well."""


def load(path: Path) -> list[Event]:
    """The events of a Chrome trace; numbers with a point are decimals."""
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt") as file:
        whole = json.load(file, parse_float=Decimal)
    return list(whole["traceEvents"] if isinstance(whole, dict) else whole)


def executions(events: Iterable[Event]) -> dict[str, list[Event]]:
    """Executions by number of their device."""
    found = defaultdict(list)
    for one in events:
        if one.get("ph") == "X" and one.get("cat") in EXECUTIONS:
            found[str(one.get("args", {}).get("device", one["pid"]))].append(one)
    return dict(found)


def steps(events: Iterable[Event]) -> list[Span]:
    """The host's steps as PyTorch's profiler marks them."""
    return [
        span(event)
        for event in events
        if event.get("ph") == "X"
        and re.fullmatch(r"ProfilerStep#\d+", event["name"])
        and event.get("cat") != "gpu_user_annotation"
    ]


def launches(events: Iterable[Event]) -> dict[int, Decimal]:
    """When calls of the runtime began, by the number that they share with what they launch."""
    return {
        _number(one): span(one)[0]
        for one in events
        if one.get("ph") == "X" and re.search("runtime|driver", str(one.get("cat"))) and _number(one)
    }


def _number(event: Event) -> int:
    return int(event.get("args", {}).get("correlation", 0))


def span(event: Event) -> Span:
    """From when to when."""
    begin = Decimal(event["ts"])
    return begin, begin + Decimal(event["dur"])


def union(spans: Iterable[Span]) -> Decimal:
    """How long at least one of them lasts."""
    covered, reached = Decimal(0), None
    for begin, end in sorted(spans):
        start = begin if reached is None else max(begin, reached)
        covered += max(Decimal(0), end - start)
        reached = end if reached is None else max(reached, end)
    return covered


def within(spans: Iterable[Span], window: Span) -> list[Span]:
    """What of them lies in a window."""
    low, high = window
    return [(max(begin, low), min(end, high)) for begin, end in spans if begin < high and end > low]


def truth(path: Path) -> dict[str, Any]:
    """What traces.json says of a trace and arithmetic can tell."""
    events = load(path)
    marks = steps(events)
    found: dict[str, Any] = {"limit": [], "busy_ms": {}}
    took: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    for device, run in sorted(executions(events).items()):
        spans = [span(one) for one in run]
        whole = (min(begin for begin, _ in spans), max(end for _, end in spans))
        windows = [whole]
        if marks:
            windows.append((min(begin for begin, _ in marks), max(end for _, end in marks)))
        busy = [union(within(spans, one)) for one in windows]
        if marks:
            begins = launches(events)
            low, high = windows[-1]
            busy.append(union(span(one) for one in run if low <= begins.get(_number(one), high) < high))
        found["busy_ms"][device] = [round(float(one) / 1e3, 4) for one in busy]
        for window in windows:
            found["limit"] += _largest(_parts(run, window))
        for one in run:
            if one["cat"] in KERNELS:
                took[_talks(one)][one["name"]] += int(Decimal(one["dur"]) * 10**6)
    found["limit"] = sorted(set(found["limit"]))
    most = max((ps for kind in took.values() for ps in kind.values()), default=0)
    computing = max(took[False].values(), default=0)
    found["longest"] = sorted(
        {name for kind in took.values() for name, ps in kind.items() if ps >= (1 - SAME) * most}
        | {name for name, ps in took[False].items() if ps >= (1 - SAME) * computing}
    )
    if marks:
        durations = [float(end - begin) / 1e3 for begin, end in marks]
        both = (statistics.mean(durations), statistics.median(durations))
        found["step_ms"] = sorted({round(ms, 4) for ms in both})
    return found


def _talks(kernel: Event) -> bool:
    return re.search("nccl|rccl", kernel["name"], re.IGNORECASE) is not None


def _parts(run: Sequence[Event], window: Span) -> dict[str, float]:
    """Parts of a window by limit."""
    kinds: dict[str, list[Span]] = {"compute": [], "communication": [], "copy": []}
    for one in run:
        kind = "copy" if one["cat"] not in KERNELS else "communication" if _talks(one) else "compute"
        kinds[kind].append(span(one))
    parts, seen, before = {}, list[Span](), Decimal(0)
    for kind, spans in kinds.items():
        seen += within(spans, window)
        covered = union(seen)
        parts[kind] = float(covered - before)
        before = covered
    parts["idle"] = float(window[1] - window[0] - before)
    return parts


def _largest(parts: dict[str, float]) -> list[str]:
    whole = sum(parts.values())
    return [kind for kind, us in parts.items() if us >= max(parts.values()) - TIE * whole]
