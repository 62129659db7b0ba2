"""Costs of ops added up: by op, line or shape, and by device with its utilization."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from stepscope.instruments.roofline import of_torch, table
from stepscope.instruments.roofline.devices import TYPES, DevicePeaks
from stepscope.library.statements import Query, statement

_COLUMNS = (
    "run_id", "host_id", "source_id", "device", "op_name", "op_type", "shapes", "file", "line", "executions",
    "self_ps", "counted_by", "flops", "bytes", "number_type", "peak_flops", "peak_bytes", "peaks_by", "bound",
    "least_ps", "problem",
)  # fmt: skip
"""Those of the statement op_costs."""
_PS = 10**12


class Window(NamedTuple):
    """The stretch of a source that is judged: from the first step that averages include to the last."""

    steps: int
    window_ps: int
    steps_ps: int


class Use(NamedTuple):
    """What a device did while steps ran. window_ps: from the first step to the end of the last; steps_ps:
    the steps' part of it. flops: operations of ops whose cost is known. mfu, memory_share: the time that
    these operations and their bytes need at the peaks, as part of the window; None without peaks. least_ps:
    of ops whose least time is known, in least_of_ps. rows: streams whose times are added up in these."""

    run_id: str
    host_id: str
    source_id: int
    device: str
    steps: int
    window_ps: int
    steps_ps: int
    computing_ps: int
    unknown_ps: int
    flops: float
    mfu: float | None
    memory_share: float | None
    least_ps: int
    least_of_ps: int
    peaks_by: str | None
    rows: int


def costs(query: Query, peak: tuple[float, float] | None = None) -> list[dict[str, Any]]:
    """Rows of op_cost; of a recording without any, ops of PyTorch that ran on processors, which are not
    stored as no recording tells the peaks of those. peak: operations and bytes of a second, in place of those
    that are known."""
    asked = statement("op_costs")
    rows = [dict(zip(_COLUMNS, row, strict=True)) for row in query(asked).rows()]
    if not rows:
        rows = table.rows(query, of_torch.counted_on_hosts(query))
    if peak is None:
        return rows
    given = DevicePeaks("", dict.fromkeys(TYPES, peak[0]), peak[1], "--peak")
    # What was unknown for want of peaks, or was faster than those, is judged anew.
    for row in rows:
        row["problem"] = None if row["flops"] is not None else row["problem"]
        row.update(table.bounded_columns(row, given))
    return rows


def uses(rows: Iterable[Mapping[str, Any]], query: Query) -> list[Use]:
    """Each device, those that computed longest first."""
    windows = {at: Window(*rest) for at, *rest in query(statement("judged_windows")).rows()}
    groups: dict[tuple[str, str, int, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        key = row["run_id"], row["host_id"], row["source_id"], row["device"]
        groups.setdefault(key, []).append(row)
    streams = {(source, device): n for source, device, n in query(statement("computing_rows")).rows()}
    found = [
        _use(key, members, windows[key[2]], streams.get(key[2:], 1))
        for key, members in groups.items()
        if key[2] in windows
    ]
    return sorted(found, key=lambda use: (-use.computing_ps, use.source_id, use.device))


def _use(
    key: tuple[str, str, int, str], rows: Sequence[Mapping[str, Any]], window: Window, streams: int
) -> Use:
    known = [row for row in rows if row["flops"] is not None]
    computing_ps = sum(row["self_ps"] for row in rows)
    bounded = [row for row in rows if row["least_ps"] is not None]
    return Use(
        *key,
        *window,
        computing_ps,
        computing_ps - sum(row["self_ps"] for row in known),
        sum(row["flops"] for row in known),
        _share_of_peak(known, "flops", window.window_ps),
        _share_of_peak(known, "bytes", window.window_ps),
        sum(row["least_ps"] for row in bounded),
        sum(row["self_ps"] for row in bounded),
        next((row["peaks_by"] for row in rows if row["peaks_by"]), None),
        streams,
    )


def _share_of_peak(known: Sequence[Mapping[str, Any]], what: str, window_ps: int) -> float | None:
    """The share of its peak that a device reached; None where no op has both a cost and a peak."""
    peak = f"peak_{what}"
    seconds = [row[what] / row[peak] for row in known if row[peak]]
    return sum(seconds) * _PS / window_ps if seconds and window_ps else None


def grouped(rows: Iterable[Mapping[str, Any]], by: str) -> list[dict[str, Any]]:
    """Rows of one op, line or shape on a device added up, the longest first. Where the cost of a part is
    unknown, so is that of the whole."""
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["source_id"], row["device"], *_key(row, by)), []).append(row)
    wholes: dict[tuple[int, str], int] = {}
    for (source_id, device, *_), members in groups.items():
        at = source_id, device
        wholes[at] = wholes.get(at, 0) + sum(member["self_ps"] for member in members)
    found = [_sum(members, wholes[key[0], key[1]]) for key, members in groups.items()]
    return sorted(found, key=lambda row: (-row["self_ps"], row["source_id"], row["device"], row["op"]))


def _key(row: Mapping[str, Any], by: str) -> tuple[Any, ...]:
    line = (row["file"], row["line"])
    if by == "line" and row["file"]:
        return line
    return (*line, row["op_name"], row["shapes"]) if by == "shape" else (*line, row["op_name"])


def _sum(rows: Sequence[Mapping[str, Any]], whole_ps: int) -> dict[str, Any]:
    longest = max(rows, key=lambda row: (row["self_ps"], row["op_name"]))
    took = sum(row["self_ps"] for row in rows)
    bounds = {row["bound"] for row in rows}
    made: dict[str, Any] = {
        key: longest[key] for key in ("run_id", "host_id", "source_id", "device", "file", "line", "shapes")
    }
    made.update(
        op=longest["op_name"],
        self_ps=took,
        share=took / whole_ps if whole_ps else 0.0,
        executions=sum(row["executions"] for row in rows),
        bound=longest["bound"] if None not in bounds else None,
        number_type=longest["number_type"],
        counted_by=longest["counted_by"],
        problem=next((row["problem"] for row in rows if row["problem"]), None),
    )
    for key in ("flops", "bytes", "least_ps"):
        values = [row[key] for row in rows]
        made[key] = None if None in values else sum(values)
    made["roof_share"] = made["least_ps"] / took if made["least_ps"] is not None and took else None
    return made
