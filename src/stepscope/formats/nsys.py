"""Exports of Nsight Systems (`nsys export --type sqlite`): work of GPUs, CUDA's calls, NVTX ranges, which
PyTorch makes of its ops under `torch.autograd.profiler.emit_nvtx()`, and samples of what processors ran.

Format: the tables of <https://docs.nvidia.com/nsight-systems/UserGuide/index.html>. Which of them there are,
and which columns they have, differs from version to version; what is not there is left out. Times are
nanoseconds of the host's clock.
"""

import posixpath
import sqlite3
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from operator import itemgetter
from statistics import median

from stepscope._core import Store
from stepscope.formats import Pieces
from stepscope.formats._database import MAGIC, Database, DatabaseSpans, quoted, split_range, store_of
from stepscope.sources.head import is_database_of_nvprof
from stepscope.sources.source import Traits

NAME = "nsys"
TRAITS = Traits(endings=(".sqlite", ".db"))
_OF_NSYS = (b"CUPTI_ACTIVITY_KIND_", b"ENUM_NSYS_", b"TARGET_INFO_SESSION_START_TIME")
_KERNELS, _COPIES, _FILLS = (f"CUPTI_ACTIVITY_KIND_{kind}" for kind in ("KERNEL", "MEMCPY", "MEMSET"))
_CUDA, _RANGES = "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS"
_CALLS = {"CUDNN_EVENTS": "cudnn", "CUBLAS_EVENTS": "cublas", "OSRT_API": "operating_system"}
"""Tables of the calls of other libraries, and the category of their slices."""
_WAITS = ("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",)
"""Waits, which the calls of the threads show already."""
_SAMPLES, _STACKS = "COMPOSITE_EVENTS", "SAMPLING_CALLCHAINS"
"""Moments at which a thread was seen on a core, and the calls that it was in."""
SAMPLED = "cpu_sample"
"""The category of calls that a sample shows."""
_LONGEST_GAP = 2
"""Times of the usual time between two samples of a thread that one of them may stand for."""
_PERIOD_NS, _PS = 1_000_000, 1000
_CUT = "[Max depth]"
"""Stands for the frames of a stack that were not kept."""
_GPUS = "TARGET_INFO_GPU"
_ABOUT_GPUS = {
    "cuDevice": "id",
    "name": "name",
    "totalMemory": "totalGlobalMem",
    "memoryBandwidth": "memory_bandwidth",
    "smCount": "numSms",
    "computeMajor": "computeMajor",
    "computeMinor": "computeMinor",
}
"""Its columns, and what Kineto and XPlane call these."""
_PUSHED, _STARTED = 59, 60
"""Types of NVTX ranges: of one thread, where they nest; from one place to another, where they need not."""
_PID, _TID = "(e.globalTid >> 24 & 0xFFFFFF)", "(e.globalTid & 0xFFFFFF)"


def sniff(head: bytes, name: str) -> bool:
    """A database of SQLite with tables of Nsight Systems."""
    has_tables = head.startswith(MAGIC) and any(table in head for table in _OF_NSYS)
    return has_tables and not is_database_of_nvprof(head)


def build(pieces: Pieces) -> Store:
    """Kernels and copies on the streams of their GPUs; calls and ranges on their threads."""
    return store_of(pieces, _Export)


class _Export(Database):
    """An export that is being read into events."""

    producer = NAME
    lacks = "kernels, copies, calls, ranges or stacks"
    todo = (
        "record the program with `nsys profile --trace=cuda,nvtx,osrt` and export that: scheduling does not "
        "say what ran"
    )

    def __init__(self, base: sqlite3.Connection) -> None:
        super().__init__(base)
        self.timed = [name for name in self.columns if self.has(name, "start", "end")]
        has_stacks = self.has(_SAMPLES, "id", "start", "globalTid") and self.has(
            _STACKS, "id", "symbol", "module", "stackDepth"
        )
        self.sampled = [_SAMPLES] if has_stacks else []
        self.begin(*((table, "start") for table in (*self._known(), *self.sampled)))
        self.processes, self.names = self._names()
        self.is_of_several = self.number(f"SELECT COUNT(DISTINCT globalPid) FROM {_KERNELS}") > 1

    def _gpus(self) -> list[dict[str, int | str]]:
        """What the GPUs are. A process numbers those that it may use: of several models, nothing
        says which of them a number means."""
        if not self.has(_GPUS, *_ABOUT_GPUS):
            return []
        columns = ", ".join(_ABOUT_GPUS)
        rows = self.base.execute(f"SELECT {columns} FROM {_GPUS} WHERE smCount > 0 ORDER BY cuDevice")
        gpus = [
            {key: value for key, value in zip(_ABOUT_GPUS.values(), row, strict=True) if value is not None}
            for row in rows
        ]
        return gpus if len({gpu.get("name") for gpu in gpus}) == 1 else []

    def _known(self) -> list[str]:
        return [name for name in (_KERNELS, _COPIES, _FILLS, _CUDA, *_CALLS, _RANGES) if name in self.timed]

    def read(self) -> None:
        for spans in self._spans():
            self.add(spans)
        self._name_threads()
        if self.sampled:
            self._add_samples()
        self.events.devices = self._gpus()
        if not {_KERNELS, _COPIES, _FILLS, _CUDA}.intersection(self.timed):
            self.events.note("no-cuda", "missing", 0, f"nothing of GPUs, and no calls of CUDA{self.held()}")
        wall = "TARGET_INFO_SESSION_START_TIME"
        if self.has(wall, "utcEpochNs", "systemClockNs"):
            offset_ns = self.number(f"SELECT utcEpochNs - systemClockNs FROM {wall}")
            self.origin_unix_ns = self.start_ns + offset_ns if offset_ns > 0 else None
        for table in self.recorded():
            if table not in (*self._known(), *self.sampled) and table not in _WAITS:
                self.leave_out(self.number(f"SELECT COUNT(*) FROM {quoted(table)}"), table)

    def _spans(self) -> Iterator[DatabaseSpans]:
        for table, category, name in (
            (_KERNELS, "kernel", "text.value"),
            (_COPIES, "gpu_memcpy", f"'Memcpy ' || {_COPY_KIND} || {self._memory()}"),
            (_FILLS, "gpu_memset", "'Memset'"),
        ):
            if table in self.timed:
                yield self._work(table, category, name)
        if _CUDA in self.timed:
            # The version of the interface is part of the name: cudaLaunchKernel_v7000.
            at = "instr(text.value, '_v')"
            versioned = f"{at} AND substr(text.value, {at} + 2) NOT GLOB '*[^0-9]*'"
            yield DatabaseSpans(
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
                yield DatabaseSpans(
                    f"{table} AS e {strings}", "COALESCE(text.value, 'call')", f"'{category}'", _PID, _TID
                )
        if _RANGES in self.timed:
            yield from self._ranges()

    def _work(self, table: str, category: str, name: str) -> DatabaseSpans:
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
        for part in ("grid", "block"):
            sides = [f"{part}{side}" for side in "XYZ"]
            if self.has(table, *sides):
                args += f", '{part}', json_array({', '.join(f'e.{side}' for side in sides)})"
        return DatabaseSpans(
            rows, f"COALESCE({name}, 'kernel')", f"'{category}'", "'GPU ' || e.deviceId", stream, args
        )

    def _memory(self) -> str:
        """From which memory of host or device a copy is to which, in Kineto's words."""
        if not self.has(_COPIES, "srcKind", "dstKind"):
            return "''"
        kinds = f"{_MEMORY.format('srcKind')} || ' -> ' || {_MEMORY.format('dstKind')}"
        return f"COALESCE(' (' || {kinds} || ')', '')"

    def _correlation(self, owner: str) -> str:
        """The number that joins a call with what it launched; each process counts its own."""
        process = f"({owner} >> 24 & 0xFFFFFF) << 32 | " if self.is_of_several else ""
        return f"({process}e.correlationId)"

    def _ranges(self) -> Iterator[DatabaseSpans]:
        """PyTorch writes an op as `NAME, seq = N, op_id = M, sizes = [[2, 3], …]`; any of these may lack."""
        rows, text = f"{_RANGES} AS e", "COALESCE(e.text, 'range')"
        if "textId" in self.columns[_RANGES]:
            rows += " LEFT JOIN StringIds AS text ON text.id = e.textId"
            text = "COALESCE(e.text, text.value, 'range')"
        name, category, sizes, is_sized = split_range(text)
        for kind, tid in ((_PUSHED, _TID), (_STARTED, f"{_TID} || ' ranges'")):
            for args, chosen in ((f"'Input Dims', json({sizes})", is_sized), ("", f"NOT {is_sized}")):
                where = f"e.eventType = {kind} AND {chosen}"
                yield DatabaseSpans(rows, name, category, _PID, tid, args, where)

    def _add_samples(self) -> None:
        """Calls that threads were seen in, on rows of their own: what the operating system and CUDA were
        called for is timed exactly beside them."""
        self.events.origin_ps = 0
        period_ns = self._period_ns()
        unresolved = "c.unresolved" if "unresolved" in self.columns[_STACKS] else "FALSE"
        rows = self.base.execute(
            f"SELECT {_PID}, {_TID}, e.id, e.start - {self.start_ns},"
            f" CASE WHEN NOT {unresolved} THEN s.value END, COALESCE(m.value, '?') FROM {_SAMPLES} AS e"
            f" INNER JOIN {_STACKS} AS c ON c.id = e.id"
            " LEFT JOIN StringIds AS s ON s.id = c.symbol LEFT JOIN StringIds AS m ON m.id = c.module"
            f" WHERE s.value IS NOT '{_CUT}' ORDER BY e.globalTid, e.start, e.id, c.stackDepth DESC"
        )
        for (pid, tid), thread in groupby(rows, key=itemgetter(0, 1)):
            moments = [
                (at_ns, tuple(symbol or posixpath.basename(module) for *_, symbol, module in calls))
                for (_, at_ns), calls in groupby(thread, key=itemgetter(2, 3))
            ]
            process, name = self._named(pid, tid)
            self.events.thread(pid, f"{tid} samples", process, f"samples of {name}")
            self.events.stacks(_held_stacks(moments, period_ns), pid, f"{tid} samples", SAMPLED)

    def _period_ns(self) -> int:
        """The usual time between two samples of a thread."""
        before = "LAG(start) OVER (PARTITION BY globalTid ORDER BY start)"
        gaps = [gap for (gap,) in self.base.execute(f"SELECT start - {before} FROM {_SAMPLES}") if gap]
        return round(median(gaps)) if gaps else _PERIOD_NS

    def _name_threads(self) -> None:
        for table in (_CUDA, *_CALLS, _RANGES):
            if table not in self.timed:
                continue
            is_started = f"e.eventType = {_STARTED}" if table == _RANGES else "FALSE"
            for pid, tid, started in self.base.execute(
                f"SELECT DISTINCT {_PID}, {_TID}, {is_started} FROM {table} AS e"
            ):
                process, name = self._named(pid, tid)
                if started:
                    self.events.thread(pid, f"{tid} ranges", process, f"ranges begun by {name}")
                else:
                    self.events.thread(pid, tid, process, name)

    def _named(self, pid: int, tid: int) -> tuple[str, str]:
        """What a process and a thread of it are called."""
        return self.processes.get(pid, f"process {pid}"), self.names.get((pid, tid), f"thread {tid}")

    def _names(self) -> tuple[dict[int, str], dict[tuple[int, int], str]]:
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
        return processes, names


def _held_stacks(
    moments: Sequence[tuple[int, tuple[str, ...]]], period_ns: int
) -> Iterator[tuple[tuple[str, ...], int, int]]:
    """What each moment stands for, in picoseconds: the time to the next one, and the usual one where the
    thread was not on a core meanwhile."""
    gaps = [later[0] - sooner[0] for sooner, later in pairwise(moments)]
    for (at_ns, stack), gap_ns in zip(moments, [*gaps, period_ns], strict=True):
        held_ns = gap_ns if gap_ns <= _LONGEST_GAP * period_ns else period_ns
        yield stack, at_ns * _PS, (at_ns + held_ns) * _PS


_COPY_KIND = (
    "CASE e.copyKind WHEN 1 THEN 'HtoD' WHEN 2 THEN 'DtoH' WHEN 8 THEN 'DtoD' WHEN 9 THEN 'HtoH'"
    " WHEN 10 THEN 'PtoP' WHEN 11 THEN 'HtoD (unified memory)' WHEN 12 THEN 'DtoH (unified memory)'"
    " WHEN 13 THEN 'DtoD (unified memory)' ELSE 'of kind ' || e.copyKind END"
)

_MEMORY = (
    "CASE e.{} WHEN 0 THEN 'Pageable' WHEN 1 THEN 'Pinned' WHEN 2 THEN 'Device' WHEN 3 THEN 'Array'"
    " WHEN 4 THEN 'Managed' WHEN 5 THEN 'Device Static' WHEN 6 THEN 'Managed Static' END"
)
"""What it does not know is NULL."""
