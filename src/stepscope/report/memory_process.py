"""Memory of the recorded process over time, whatever holds it: as the operating system counts it."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from stepscope import units
from stepscope.library.statements import Query, statement, text
from stepscope.report.parts import Chart, Column, Section, Table

_MOST = 1_000_000
"""Samples that are read: at ten a second, those of a day."""
_STRETCHES = 960
"""Points of the drawn curve: the largest value in each of so many equal stretches of time."""
_TIME = (
    Column("ts_ps", "ps", "Time", "since the first sample"),
    Column("bytes", "bytes", "Process", "memory that the process had of the machine"),
)


def section(query: Query) -> Section | None:
    """The process that took most. None where none was sampled."""
    rows = query(statement("process_memory", most=_MOST)).rows()
    processes = [list(found) for _, found in groupby(rows, key=lambda row: row[2])]
    if not processes:
        return None
    most = max(processes, key=lambda found: max(row[4] for row in found))
    times, sizes = [row[3] for row in most], [int(row[4]) for row in most]
    others = units.count(len(processes) - 1, "other process", "other processes")
    more = f" {others} took less." if len(processes) > 1 else ""
    table = Table(_TIME, _drawn(times, sizes), len(sizes))
    return Section(
        "process",
        "The process over time",
        "How much memory does the process take?",
        (_sentence(sizes) + more,),
        table,
        Chart("area", "ts_ps", ("bytes",), "Memory of the process"),
        text("process_memory", most=_MOST),
    )


def _sentence(sizes: Sequence[int]) -> str:
    first, last, peak = sizes[0], sizes[-1], max(sizes)
    if peak - first < first // 100:
        return f"The process takes {_size(peak)} from the beginning of the recording to its end."
    return (
        f"The process takes {_size(first)} as the recording begins, {_size(peak)} at most, and {_size(last)} "
        "as it ends. What the profiler keeps until then is part of that."
    )


def _drawn(times: Sequence[int], sizes: Sequence[int]) -> tuple[tuple[Any, ...], ...]:
    begin, span = times[0], max(times[-1] - times[0], 1)
    highest: dict[int, int] = {}
    for at, size in zip(times, sizes, strict=True):
        place = (at - begin) * (_STRETCHES - 1) // span
        highest[place] = max(highest.get(place, 0), size)
    return tuple((span * place // (_STRETCHES - 1), size) for place, size in sorted(highest.items()))


def _size(value: int) -> str:
    return units.show(value, "bytes")
