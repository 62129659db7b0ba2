"""Ops against the peaks of their devices as a report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from stepscope import units
from stepscope.instruments.roofline import summed
from stepscope.report import pricing
from stepscope.report.parts import Column, Report, Section, Table

if TYPE_CHECKING:
    from stepscope.instruments.roofline.summed import Use
    from stepscope.report.pricing import Price
    from stepscope.session.trace import OpenTrace

NOTHING = "Nothing is known of what ops compute and how long devices take for it"
TODO = (
    "record PyTorch with record_shapes=True, or a program with an accelerator that XLA compiled; "
    "stepscope tfprof counts the operations of a graph of TensorFlow"
)
_MOST = 15
"""Rows of a report that is one page; --all shows the rest."""
_NO_ROOM = 0.01
_HARDLY_LONGER = 1.05
"""Steps and the time between them, as a part of the steps."""
_OPS = (
    Column("op", "text", "Op", "op, or the line that made it"),
    Column("device", "text", "Device", "device that ran it"),
    Column("self_ps", "ps", "Time", "time on the device"),
    Column("share", "ratio", "Share", "of the time of all ops of the device"),
    Column("least_ps", "ps", "Least", "least time that the device needs"),
    Column("roof_share", "ratio", "Of peak", "least time as part of the time"),
    Column("bound", "text", "Bound", "compute or memory, whichever takes longer at the peaks"),
    Column("executions", "int", "Runs", "executions"),
    Column("flops", "flop", "Operations", "floating-point operations"),
    Column("bytes", "bytes", "Bytes", "bytes read and written at least"),
    Column("number_type", "text", "Type", "type of the numbers that it multiplies"),
    Column("shapes", "text", "Shapes", "of its inputs, or what it makes"),
    Column("problem", "text", "Unknown", "why something is unknown"),
)
_PAGE = ("op", "self_ps", "share", "least_ps", "roof_share", "bound")
_DEVICES = (
    Column("device", "text", "Device", "device"),
    Column("mfu", "ratio", "MFU", "time that known operations need at the peaks, as part of the window"),
    Column("memory_share", "ratio", "Memory", "the same of bytes"),
    Column("computing", "ratio", "Computing", "time of ops that compute, as part of the window"),
    Column("unknown", "ratio", "Unknown", "part of that in ops whose cost is not known"),
    Column("peaks_by", "text", "Peaks", "what tells the peaks"),
)


def build(
    trace: OpenTrace,
    title: str,
    by: str = "op",
    peak: tuple[float, float] | None = None,
    all: bool = False,
    price: Price | None = None,
) -> Report:
    """The report; without sections where nothing computes on a device. peak: operations and bytes of a
    second, in place of those that are known."""
    rows = summed.costs(trace.query, peak)
    used = summed.uses(rows, trace.query)
    if not used:
        return Report(title, (f"{NOTHING}.",), document={"devices": [], "ops": []})
    ops = summed.grouped(rows, by)
    sections = [_devices(used), _ops(ops, by, all)]
    if price is not None:
        sections.append(pricing.section(_priced(used), price))
    return Report(
        title,
        tuple(_sentences(used[0], ops)),
        tuple(sections),
        document={"devices": [use._asdict() for use in used], "ops": ops},
    )


def _sentences(use: Use, ops: Sequence[dict[str, Any]]) -> list[str]:
    time = _time(use)
    sentences = []
    if use.unknown_ps == use.computing_ps:
        why = next(
            (row["problem"] for row in _mine(ops, use) if row["problem"]), "the recording does not say"
        )
        sentences.append(f"What ops of {use.device} compute is not known: {why}.")
    elif use.mfu is None:
        sentences.append(
            f"The peaks of {use.device} are not known: say what it does in a second, as --peak 100T,1T."
        )
    else:
        is_bound = use.unknown_ps > _NO_ROOM * use.computing_ps
        does, moves = (
            units.bounded("at least", share) if is_bound else _share(share)
            for share in (use.mfu, use.memory_share or 0.0)
        )
        sentences.append(
            f"{use.device} does {does} of the operations that it could in {time} (MFU), and moves {moves} of "
            f"the bytes."
        )
    if use.computing_ps and use.window_ps:
        some = 0 < use.unknown_ps < use.computing_ps
        # Streams may compute at once, so the sum may be more than the time.
        added = f", those of {use.rows} streams added up" if use.rows > 1 else ""
        sentences.append(
            f"Ops compute for {_share(use.computing_ps / use.window_ps)} of {time}{added}"
            + (f", {_share(use.unknown_ps / use.computing_ps)} of it with unknown cost." if some else ".")
        )
    far = next((row for row in _mine(ops, use) if row["roof_share"] is not None), None)
    if far is not None:
        what = "the arithmetic" if far["bound"] == "compute" else "the memory"
        sentences.append(
            f"Of ops whose cost is known, {_name(far)} takes longest: {_share(far['share'])} of the time of "
            f"ops, at {_share(far['roof_share'])} of what {what} allows."
        )
    return sentences


def _time(use: Use) -> str:
    """What shares are parts of: steps alone would mislead where most of the time is between them."""
    if not use.steps:
        return "the recording"
    steps = units.count(use.steps, "step")
    if use.window_ps <= _HARDLY_LONGER * use.steps_ps:
        return f"the time of {steps}"
    return f"the {units.show(use.window_ps, 'ps')} from the first of {steps} to the end of the last"


def _mine(ops: Sequence[dict[str, Any]], use: Use) -> list[dict[str, Any]]:
    return [row for row in ops if (row["source_id"], row["device"]) == (use.source_id, use.device)]


def _share(value: float) -> str:
    return units.show(value, "ratio")


def _name(row: dict[str, Any]) -> str:
    if row["file"]:
        return f"{row['op']} ({row['file'].rpartition('/')[2]}:{row['line']})"
    return str(row["op"])


def _devices(used: Sequence[Use]) -> Section:
    rows = tuple(
        (
            use.device,
            use.mfu,
            use.memory_share,
            use.computing_ps / use.window_ps if use.window_ps else None,
            use.unknown_ps / use.computing_ps if use.computing_ps else None,
            use.peaks_by,
        )
        for use in used
    )
    return Section(
        "devices", "Devices", "How much of its peaks does each device use?", table=Table.whole(_DEVICES, rows)
    )


def _ops(ops: Sequence[dict[str, Any]], by: str, all: bool) -> Section:
    several = len({row["device"] for row in ops}) > 1
    name = _line if by == "line" else _name
    op_rows = [{**row, "op": name(row)} for row in (ops if all else ops[:_MOST])]
    shown = _OPS if all else _page_columns(several, by)
    columns = tuple(column for column in shown if any(row[column.name] is not None for row in op_rows))
    rows = tuple(tuple(row[column.name] for column in columns) for row in op_rows)
    question = "How long do ops take, and how long would the device need at least?"
    return Section(
        "ops", f"Ops by {by}" if by != "op" else "Ops", question, table=Table(columns, rows, len(ops))
    )


def _page_columns(several_devices: bool, by: str) -> list[Column]:
    """The columns for which there is room."""
    names = [*_PAGE, "device" if several_devices else "executions", *(("shapes",) if by == "shape" else ())]
    return [column for column in _OPS if column.name in names]


def _line(row: dict[str, Any]) -> str:
    return f"{row['file'].rpartition('/')[2]}:{row['line']}" if row["file"] else str(row["op"])


def _priced(used: Sequence[Use]) -> list[tuple[str, float]]:
    """What ops take beyond the least time that their device needs, as part of the window; of several devices
    the mean."""
    lost = [
        (use.least_of_ps - use.least_ps) / use.window_ps for use in used if use.window_ps and use.least_of_ps
    ]
    return [("Ops beyond the least time of their device, at most", sum(lost) / len(lost))] if lost else []
