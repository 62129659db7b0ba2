"""Rows of the table op_cost: what ops compute and move while steps run, beside what their device can do."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from stepscope import strict_json
from stepscope.instruments.roofline import devices, roofs
from stepscope.lake.source_ids import first_id
from stepscope.library.statements import Query, statement


class Counted(NamedTuple):
    """Executions of an op on a device. flops, bytes: of all of them, None where unknown. number_type: of the
    numbers that it multiplies, one of devices.TYPES. problem: why something is unknown."""

    run_id: str
    host_id: str
    source_id: int
    device: str
    op_name: str
    op_type: str | None
    shapes: str | None
    file: str | None
    line: int | None
    executions: int
    self_ps: int
    counted_by: str | None
    flops: float | None
    bytes: float | None
    number_type: str | None
    problem: str | None


NO_PEAKS = "the peaks of the device are not known"
FASTER = "it is faster than these peaks: its numbers come from a cache, or are of another type"
_PS = 10**12
_GRAIN = 1.02
"""Times and peaks are not exact: an op may be so much faster than its peak."""


def rows(query: Query, counted: Iterable[Counted]) -> list[dict[str, Any]]:
    """Rows of the table, each with the least time that its device needs."""
    known = {
        (source_id, name): devices.peaks(strict_json.members(about))
        for source_id, _, _, name, _, about in query(statement("devices_told")).rows()
    }
    numbers: dict[int, int] = {}
    found = []
    for row in sorted(
        counted, key=lambda row: (row.source_id, row.device, -row.self_ps, row.op_name, row.shapes or "")
    ):
        number = numbers[row.source_id] = numbers.get(row.source_id, -1) + 1
        values = row._asdict()
        made = bounded_columns(values, known.get((row.source_id, row.device)))
        found.append({"id": first_id(row.source_id) + number, **values, **made})
    return found


def bounded_columns(row: Mapping[str, Any], peaks: devices.DevicePeaks | None) -> dict[str, Any]:
    """What a device could do at best: the columns of the table that rest on its peaks. row: values of the
    others."""
    made: dict[str, Any] = dict.fromkeys(("peak_flops", "peak_bytes", "peaks_by", "bound", "least_ps"))
    made.update(number_type=row["number_type"], problem=row["problem"])
    if peaks is None:
        made["problem"] = row["problem"] or NO_PEAKS
        return made
    kind = row["number_type"] or "f32"
    if kind == "tf32" and kind not in peaks.flops:
        made["number_type"] = kind = "f32"
    made.update(peak_flops=peaks.of(kind), peak_bytes=peaks.memory, peaks_by=peaks.told_by)
    if row["flops"] is not None and row["bytes"] is not None and (row["flops"] or row["bytes"]):
        _hold_against_peaks(made, row, kind, peaks)
    return made


def _hold_against_peaks(
    made: dict[str, Any], row: Mapping[str, Any], kind: str, peaks: devices.DevicePeaks
) -> None:
    """Fills what an op of a known cost could have taken at best. kind: type of its numbers."""
    flops, moved, took = row["flops"], row["bytes"], row["self_ps"]
    if kind == "f32" and made["peak_flops"] and flops * _PS > took * made["peak_flops"]:
        # What is faster than 32-bit floats can be was shortened.
        made.update(number_type="tf32", peak_flops=peaks.of("tf32"))
    if made["peak_bytes"] is None or (flops and made["peak_flops"] is None):
        made["problem"] = NO_PEAKS
        return
    bound, least_ps = roofs.least(flops, moved, made["peak_flops"] or 1.0, made["peak_bytes"])
    if least_ps > took * _GRAIN:
        made["problem"] = FASTER
        return
    made.update(bound=bound, least_ps=min(least_ps, took))
