"""Exports of Nsight Systems (`nsys export --type sqlite`): work of GPUs, CUDA's calls, and NVTX ranges, which
PyTorch makes of its ops under `torch.autograd.profiler.emit_nvtx()`.

Format: the tables of <https://docs.nvidia.com/nsight-systems/UserGuide/index.html>. Which of them there are,
and which columns they have, differs from version to version; what is not there is left out. Times are
nanoseconds of the host's clock.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from stepscope import units
from stepscope.formats import Damaged, Pieces
from stepscope.formats._profile_events import Events

if TYPE_CHECKING:
    from stepscope._core import Store

NAME = "nsys"
_MAGIC = b"SQLite format 3\0"
_OF_NSYS = (b"CUPTI_ACTIVITY_KIND_", b"ENUM_NSYS_", b"TARGET_INFO_SESSION_START_TIME")
_KERNELS, _COPIES, _FILLS = (f"CUPTI_ACTIVITY_KIND_{kind}" for kind in ("KERNEL", "MEMCPY", "MEMSET"))
_CUDA, _RANGES = "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS"
_CALLS = {"CUDNN_EVENTS": "cudnn", "CUBLAS_EVENTS": "cublas", "OSRT_API": "operating_system"}
"""Tables of the calls of other libraries, and the category of their slices."""
_WAITS = ("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",)
"""Waits, which the calls of the threads show already."""
_PUSHED, _STARTED = 59, 60
"""Types of NVTX ranges: of one thread, where they nest; from one place to another, where they need not."""
_MOST_INSTRUCTIONS = 2 * 10**9
"""Of SQLite's machine for one statement: more than any export of a size that is read needs."""
_PID, _TID = "(e.globalTid >> 24 & 0xFFFFFF)", "(e.globalTid & 0xFFFFFF)"


def sniff(head: bytes, name: str) -> bool:
    """A database of SQLite with tables of Nsight Systems."""
    return head.startswith(_MAGIC) and any(table in head for table in _OF_NSYS)


def build(pieces: Pieces) -> Store:
    """Kernels and copies on the streams of their GPUs; calls and ranges on their threads."""
    with pieces.on_disk() as path:
        try:
            with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro&immutable=1", uri=True)) as base:
                export = _Export(base)
                export.read()
        except (sqlite3.Error, OverflowError) as error:
            raise Damaged(f"it is damaged: {error}") from error
        if not export.events.any:
            raise Damaged("it holds no kernels, copies, calls or ranges with their times")
        store = export.events.store(pieces, path, "nsys")
    store.update_facts({"origin_unix_ns": export.origin_unix_ns})
    return store


class _Spans(NamedTuple):
    """Slices in SQL: where their rows come from (e is the table with start and end), and what they are."""

    rows: str
    name: str
    category: str
    pid: str
    tid: str
    args: str = ""
    where: str = "TRUE"


class _Export:
    """An export that is being read into events."""

    def __init__(self, base: sqlite3.Connection) -> None:
        self.base = base
        self.events = Events()
        self.origin_unix_ns: int | None = None
        base.text_factory = lambda text: text.decode("utf-8", "replace")
        base.execute("PRAGMA trusted_schema = OFF")
        base.set_progress_handler(lambda: 1, _MOST_INSTRUCTIONS)
        tables = base.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        self.columns = {
            str(name): {str(column[1]) for column in base.execute(f"PRAGMA table_info({_quoted(str(name))})")}
            for (name,) in tables
        }
        self.timed = [name for name, columns in self.columns.items() if {"start", "end"} <= columns]
        starts = [self._number(f"SELECT MIN(start) FROM {table}") for table in self._known()]
        self.start_ns = min((start for start in starts if start), default=0)
        self.is_of_several = self._number(f"SELECT COUNT(DISTINCT globalPid) FROM {_KERNELS}") > 1

    def _known(self) -> list[str]:
        return [name for name in (_KERNELS, _COPIES, _FILLS, _CUDA, *_CALLS, _RANGES) if name in self.timed]

    def _number(self, statement: str) -> int:
        """What a statement of one number gives; 0 where a table or a row lacks."""
        try:
            (found,) = self.base.execute(statement).fetchone() or (0,)
        except sqlite3.OperationalError:
            return 0
        return found if isinstance(found, int) else 0

    def read(self) -> None:
        """Adds all slices, names of their rows, and what is left out."""
        for spans in self._spans():
            self._add(spans)
        self._name_threads()
        wall = "TARGET_INFO_SESSION_START_TIME"
        if {"utcEpochNs", "systemClockNs"} <= self.columns.get(wall, set()):
            offset_ns = self._number(f"SELECT utcEpochNs - systemClockNs FROM {wall}")
            self.origin_unix_ns = self.start_ns + offset_ns if offset_ns > 0 else None
        for table in self.timed:
            rows = self._number(f"SELECT COUNT(*) FROM {_quoted(table)}")
            if table not in self._known() and table not in _WAITS and rows:
                self.events.note(
                    "not-read",
                    "info",
                    rows,
                    f"{units.count(rows, 'row')} of {table} {units.agree(rows, 'is', 'are')} not read",
                )

    def _spans(self) -> Iterator[_Spans]:
        for table, category, name in (
            (_KERNELS, "kernel", "text.value"),
            (_COPIES, "gpu_memcpy", f"'Memcpy ' || {_COPY_KIND}"),
            (_FILLS, "gpu_memset", "'Memset'"),
        ):
            if table in self.timed:
                yield self._work(table, category, name)
        if _CUDA in self.timed:
            # The version of the interface is part of the name: cudaLaunchKernel_v7000.
            at = "instr(text.value, '_v')"
            versioned = f"{at} AND substr(text.value, {at} + 2) NOT GLOB '*[^0-9]*'"
            yield _Spans(
                f"{_CUDA} AS e LEFT JOIN StringIds AS text ON text.id = e.nameId",
                f"CASE WHEN {versioned} THEN substr(text.value, 1, {at} - 1)"
                " ELSE COALESCE(text.value, 'call') END",
                "CASE WHEN text.value LIKE 'cuda%' THEN 'cuda_runtime' ELSE 'cuda_driver' END",
                _PID,
                _TID,
                f"'correlation', {self._correlation('e.globalTid')}",
            )
        for table, category in _CALLS.items():
            if table in self.timed:
                strings = "LEFT JOIN StringIds AS text ON text.id = e.nameId"
                yield _Spans(
                    f"{table} AS e {strings}", "COALESCE(text.value, 'call')", f"'{category}'", _PID, _TID
                )
        if _RANGES in self.timed:
            yield from self._ranges()

    def _work(self, table: str, category: str, name: str) -> _Spans:
        """Slices of what GPUs do. Streams are numbered by each process."""
        rows = f"{table} AS e"
        if table == _KERNELS:
            column = "demangledName" if "demangledName" in self.columns[table] else "shortName"
            rows += f" LEFT JOIN StringIds AS text ON text.id = e.{column}"
        process = "' of process ' || (e.globalPid >> 24 & 0xFFFFFF)" if self.is_of_several else "''"
        stream = f"'stream ' || e.streamId || {process}"
        for device, row in self.base.execute(f"SELECT DISTINCT e.deviceId, {stream} FROM {table} AS e"):
            self.events.thread(f"GPU {device}", row, f"GPU {device}", row)
        args = (
            f"'device', e.deviceId, 'stream', e.streamId, 'correlation', {self._correlation('e.globalPid')}"
        )
        args += ", 'bytes', e.bytes" if "bytes" in self.columns[table] else ""
        return _Spans(
            rows, f"COALESCE({name}, 'kernel')", f"'{category}'", "'GPU ' || e.deviceId", stream, args
        )

    def _correlation(self, owner: str) -> str:
        """The number that joins a call with what it launched; each process counts its own."""
        process = f"({owner} >> 24 & 0xFFFFFF) << 32 | " if self.is_of_several else ""
        return f"({process}e.correlationId)"

    def _ranges(self) -> Iterator[_Spans]:
        """PyTorch writes an op as `NAME, seq = N, op_id = M, sizes = [[2, 3], …]`; any of these may lack."""
        rows, text = f"{_RANGES} AS e", "COALESCE(e.text, 'range')"
        if "textId" in self.columns[_RANGES]:
            rows += " LEFT JOIN StringIds AS text ON text.id = e.textId"
            text = "COALESCE(e.text, text.value, 'range')"
        is_op = f"({text} LIKE '%, op_id = %' OR {text} LIKE '%, seq = %')"
        name = f"CASE WHEN {is_op} THEN substr({text}, 1, instr({text}, ', ') - 1) ELSE {text} END"
        sizes = f"substr({text}, instr({text}, ', sizes = ') + 10)"
        sizes = f"substr({sizes}, 1, instr({sizes} || ', input_op_ids', ', input_op_ids') - 1)"
        is_sized = f"({is_op} AND instr({text}, ', sizes = ') > 0 AND json_valid({sizes}))"
        category = f"CASE WHEN {is_op} THEN 'cpu_op' ELSE 'user_annotation' END"
        for kind, tid in ((_PUSHED, _TID), (_STARTED, f"{_TID} || ' ranges'")):
            for args, chosen in ((f"'Input Dims', json({sizes})", is_sized), ("", f"NOT {is_sized}")):
                where = f"e.eventType = {kind} AND {chosen}"
                yield _Spans(rows, name, category, _PID, tid, args, where)

    def _add(self, spans: _Spans) -> None:
        """Adds the slices. SQLite writes their JSON, in a tenth of the time of a loop over rows."""
        start, length = f"(e.start - {self.start_ns})", "(e.end - e.start)"
        event = (
            f"json_object('ph', 'X', 'cat', {spans.category}, 'name', {spans.name}, 'pid', {spans.pid},"
            f" 'tid', {spans.tid}, 'args', json_object({spans.args}),"
            f" 'ts', json({_microseconds(start)}), 'dur', json({_microseconds(length)}))"
        )
        of = f"FROM {spans.rows} WHERE {spans.where}"
        self.events.add(line for (line,) in self.base.execute(f"SELECT {event} {of} AND e.end >= e.start"))
        backwards = self._number(f"SELECT COUNT(*) {of} AND e.end < e.start")
        self.events.seen += backwards
        self.events.lost += backwards
        self.events.miss(self._number(f"SELECT COUNT(*) {of} AND (e.end IS NULL OR e.start IS NULL)"))

    def _name_threads(self) -> None:
        processes: dict[int, str] = {}
        if {"globalPid", "name"} <= self.columns.get("PROCESSES", set()):
            rows = self.base.execute(
                "SELECT globalPid >> 24 & 0xFFFFFF, name FROM PROCESSES WHERE name IS NOT NULL"
            )
            processes = {pid: str(name) for pid, name in rows}
        names: dict[tuple[int, int], str] = {}
        if {"nameId", "globalTid"} <= self.columns.get("ThreadNames", set()):
            named = "ThreadNames AS e INNER JOIN StringIds AS s ON s.id = e.nameId"
            rows = self.base.execute(f"SELECT {_PID}, {_TID}, s.value FROM {named}")
            names = {(pid, tid): str(name) for pid, tid, name in rows}
        for table in (_CUDA, *_CALLS, _RANGES):
            if table not in self.timed:
                continue
            is_started = f"e.eventType = {_STARTED}" if table == _RANGES else "FALSE"
            for pid, tid, started in self.base.execute(
                f"SELECT DISTINCT {_PID}, {_TID}, {is_started} FROM {table} AS e"
            ):
                process = processes.get(pid, f"process {pid}")
                name = names.get((pid, tid), f"thread {tid}")
                if started:
                    self.events.thread(pid, f"{tid} ranges", process, f"ranges begun by {name}")
                else:
                    self.events.thread(pid, tid, process, name)


_COPY_KIND = (
    "CASE e.copyKind WHEN 1 THEN 'HtoD' WHEN 2 THEN 'DtoH' WHEN 8 THEN 'DtoD' WHEN 10 THEN 'PtoP'"
    " ELSE 'of kind ' || e.copyKind END"
)


def _microseconds(nanoseconds: str) -> str:
    return f"printf('%d.%03d', {nanoseconds} / 1000, {nanoseconds} % 1000)"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
