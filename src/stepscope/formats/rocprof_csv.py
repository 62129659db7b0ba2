"""Tables of AMD's rocprof and rocprofv3 as CSV: kernels and copies of GPUs, and calls that asked for them.

Format: <https://rocm.docs.amd.com/projects/rocprofiler-sdk/en/latest/how-to/using-rocprofv3.html>; the
results.csv of rocprof itself has BeginNs and EndNs.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from stepscope._core import Store
from stepscope.formats import Damaged, Pieces
from stepscope.formats._csv_rows import names_in, rows_below
from stepscope.formats._profile_events import MOST_BYTES, Events
from stepscope.formats._rocprof_rows import (
    MOST_NS,
    NS,
    Place,
    Span,
    copies_track,
    queue_track,
    stored,
    thread_track,
)
from stepscope.sources.source import Traits

NAME = "rocprof_csv"
TRAITS = Traits(
    endings=(".csv",),
    table_names=r"(.+?)_(?:kernel|memory_copy|memory_allocation|scratch_memory|[a-z]+_(?:api|runtime|compiler))"
    r"_trace\.csv",
)
"""rocprofv3 writes a file for each kind of record, all called after the process or as `-o` says."""


class _TableColumns(NamedTuple):
    """How a table calls what it tells."""

    producer: str
    begin: str
    end: str
    name: str
    gpu: str | None = None
    """Of what runs on a GPU."""
    row: str = ""
    """Its queue, or the thread that called."""
    process: str = ""
    source: str | None = None
    """Where a copy comes from; `gpu` is where it goes."""


_TABLES = (
    _TableColumns("rocprof", "BeginNs", "EndNs", "KernelName", "gpu-id", "queue-id"),
    _TableColumns("rocprofv3", "Start_Timestamp", "End_Timestamp", "Kernel_Name", "Agent_Id", "Queue_Id"),
    _TableColumns(
        "rocprofv3",
        "Start_Timestamp",
        "End_Timestamp",
        "Direction",
        "Destination_Agent_Id",
        source="Source_Agent_Id",
    ),
    _TableColumns(
        "rocprofv3", "Start_Timestamp", "End_Timestamp", "Function", row="Thread_Id", process="Process_Id"
    ),
)


def _table(line: str) -> tuple[_TableColumns, list[str]] | None:
    """Which table has such a first line, and the names of its columns."""
    names = names_in(line)
    for table in _TABLES:
        needed = {table.begin, table.end, table.name, table.gpu or table.row, table.source or table.name}
        if needed <= set(names):
            return table, names
    return None


def sniff(head: bytes, name: str) -> bool:
    """A first line with the columns of a table."""
    line, ended, _ = head.partition(b"\n")
    return bool(ended) and _table(line.decode("utf-8", "replace")) is not None


def build(pieces: Pieces) -> Store:
    """Kernels and copies on the GPUs that ran them, and calls on their threads. Damaged when a table of the
    recording is none."""
    events = Events()
    spans: list[Span] = []
    producer = ""
    files = [pieces.read(MOST_BYTES), *(pieces.read_piece(piece, MOST_BYTES) for piece in pieces.beside)]
    for data in files:
        first, _, rest = data.decode("utf-8-sig", "replace").partition("\n")
        found = _table(first)
        if found is None:
            raise Damaged("its first line names no columns with the times of kernels, copies or calls")
        spans += _spans(*found, rest, events)
        producer = found[0].producer
    return stored(events, spans, pieces, files[0], producer)


def _spans(table: _TableColumns, names: list[str], text: str, events: Events) -> Iterator[Span]:
    for row in rows_below(names, text, events):
        begin, end = (_time(row.get(column)) for column in (table.begin, table.end))
        if begin is None or end is None:
            events.miss()
            continue
        where = _gpu_track(table, row, events) if table.gpu is not None else _thread_track(table, row, events)
        pid, tid, category, args = where
        correlation = _number(row.get("Correlation_Id"))
        if correlation is not None:
            args["correlation"] = correlation
        yield begin * NS, end * NS, _named(table, row), pid, tid, category, args


def _gpu_track(table: _TableColumns, row: Mapping[str, str], events: Events) -> Place:
    """Where a kernel or a copy ran. Of a copy with one end on the host, the other is the GPU."""
    agent = row.get(table.gpu or "") or ""
    if table.source is None:
        return queue_track(events, _number(agent) or 0, _number(row.get(table.row)) or 0)
    if row.get(table.name, "").upper().endswith("DEVICE_TO_HOST"):
        agent = row.get(table.source) or ""
    return copies_track(events, _number(agent) or 0)


def _thread_track(table: _TableColumns, row: Mapping[str, str], events: Events) -> Place:
    pid, thread = (_number(row.get(column)) or 0 for column in (table.process, table.row))
    domain = row.get("Domain", "").lower()
    return thread_track(events, pid, thread, "user_annotation" if "marker" in domain else "hip_runtime")


def _named(table: _TableColumns, row: Mapping[str, str]) -> str:
    name = row.get(table.name) or "kernel"
    if table.source is None:
        return name.removesuffix(" [clone .kd]").removesuffix(".kd")
    return f"Memcpy {name.removeprefix('MEMORY_COPY_')}"


def _time(cell: str | None) -> int | None:
    found = _number(cell)
    return found if found is not None and 0 < found < MOST_NS else None


def _number(cell: str | None) -> int | None:
    """The number that a cell is or ends with: 4, or `Agent 4`."""
    digits = (cell or "").strip().rpartition(" ")[2]
    return int(digits) if digits.isdecimal() and len(digits) < 20 else None
