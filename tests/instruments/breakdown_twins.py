"""The breakdown of GPU time that HolisticTraceAnalysis (HTA) makes, from its published definitions: a second
reading of Kineto's JSON, plainly, in picoseconds."""

import gzip
import json
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

Interval = tuple[int, int]


class Breakdown(NamedTuple):
    """Picoseconds of a window. idle, compute and non_compute add up to it."""

    idle: int
    compute: int
    non_compute: int
    """GPU time with copies or communication and no kernel that computes."""
    communication: int
    overlapped: int
    """Communication while a kernel computes."""


def executions(path: Path) -> tuple[list[Interval], list[Interval], list[Interval]]:
    """Kernels that compute, kernels that communicate, and copies and sets."""
    with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file:
        whole = json.loads(file.read().decode("utf-8", "replace"), parse_float=Decimal)
    events: list[Any] = whole["traceEvents"] if isinstance(whole, dict) else whole
    found: tuple[list[Interval], list[Interval], list[Interval]] = ([], [], [])
    for event in events:
        category = str(event.get("cat", "")).lower()
        if event.get("ph") != "X" or category not in (
            "kernel",
            "gpu_memcpy",
            "gpu_memset",
            "memcpy",
            "memset",
        ):
            continue
        begin = int(Decimal(event["ts"]) * 10**6)
        interval = (begin, begin + int(Decimal(event.get("dur", 0)) * 10**6))
        kind = 2 if category != "kernel" else 1 if "nccl" in str(event["name"]).lower() else 0
        found[kind].append(interval)
    return found


def breakdown(kinds: tuple[list[Interval], list[Interval], list[Interval]], window: Interval) -> Breakdown:
    """HTA's temporal breakdown and its overlap within a window."""
    computing, talking, _ = (union(clipped(one, window)) for one in kinds)
    busy = union(clipped([*kinds[0], *kinds[1], *kinds[2]], window))
    compute, span = length(computing), window[1] - window[0]
    both = length(computing) + length(talking) - length(union([*computing, *talking]))
    return Breakdown(span - length(busy), compute, length(busy) - compute, length(talking), both)


def clipped(intervals: Iterable[Interval], window: Interval) -> list[Interval]:
    cut = ((max(begin, window[0]), min(end, window[1])) for begin, end in intervals)
    return [(begin, end) for begin, end in cut if begin < end]


def union(intervals: Iterable[Interval]) -> list[Interval]:
    found: list[Interval] = []
    for begin, end in sorted(intervals):
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((begin, end))
    return found


def length(intervals: Iterable[Interval]) -> int:
    return sum(end - begin for begin, end in intervals)
