"""Databases of AMD's tools: what rocprofv3 writes of itself (`--output-format rocpd`), and the traces of
rocmProfileData (`.rpd`), whose tables were there first.

Format: <https://rocm.docs.amd.com/projects/rocprofiler-sdk/en/latest/how-to/using-rocpd-output-format.html>
and <https://github.com/ROCm/rocmProfileData>. Both join their rows in views, which are read. Times are
nanoseconds of the host's monotonic clock.
"""

import sqlite3

from stepscope._core import Store
from stepscope.formats import Pieces
from stepscope.formats._database import MAGIC, Database, DatabaseSpans, split_range, store_of
from stepscope.sources.source import Traits

NAME = "rocpd"
TRAITS = Traits(endings=(".rpd", ".db"))
_OF_ROCPD = (b"rocpd_kernel_dispatch", b"rocpd_api_ops")
_RECORDER = "(e.apiName LIKE '%::%' OR e.apiName IN ('hcc_activity_callback', 'rpdflush'))"
"""Calls of rocmProfileData itself."""
_RUNTIME = "(e.apiName GLOB 'hip[A-Z]*' OR e.apiName GLOB 'hsa_*')"
"""Calls of the runtime; others are what the program marked."""


def sniff(head: bytes, name: str) -> bool:
    """A database of SQLite with tables of rocpd."""
    return head.startswith(MAGIC) and any(table in head for table in _OF_ROCPD)


def build(pieces: Pieces) -> Store:
    """Kernels and copies on the queues of their GPUs; calls and ranges on their threads."""
    return store_of(pieces, _Rocpd)


class _Rocpd(Database):
    """A database that is being read into events."""

    lacks = "kernels, copies or calls"
    todo = "record with `rocprofv3 --sys-trace --output-format rocpd` a program that uses the GPU"

    def __init__(self, base: sqlite3.Connection) -> None:
        super().__init__(base)
        self.is_rpd = self.has("rocpd_api_ops")
        self.producer = "rocm_profile_data" if self.is_rpd else "rocprofv3"

    def read(self) -> None:
        if self.is_rpd:
            self._read_rpd()
        else:
            self._read_rocprofv3()

    def _read_rocprofv3(self) -> None:
        self.begin(("kernels", "start"), ("memory_copies", "start"), ("regions", "start"))
        # Each process counts its calls from 1.
        joined = "'correlation', e.pid << 32 | e.stack_id"
        common = ("name", "pid", "stack_id", "start", "end")
        if self.has("kernels", "agent_type_index", "queue_id", *common):
            gpu = "e.agent_type_index"
            args = f"'device', {gpu}, 'stream', e.queue_id, {joined}"
            self.add_work(
                DatabaseSpans("kernels AS e", "e.name", "'kernel'", gpu, "'stream ' || e.queue_id", args)
            )
        if self.has("memory_copies", "dst_agent_type_index", "src_agent_type_index", "size", *common):
            ends = ("e.dst_agent_type_index", "e.src_agent_type_index")
            gpu = "(CASE WHEN e.dst_agent_type = 'GPU' THEN {} ELSE {} END)".format(*ends)
            name = "'Memcpy ' || replace(e.name, 'MEMORY_COPY_', '')"
            args = f"'device', {gpu}, 'bytes', e.size, {joined}"
            self.add_work(
                DatabaseSpans("memory_copies AS e", name, "'gpu_memcpy'", gpu, "'stream of copies'", args)
            )
        if self.has("regions", "category", "tid", *common):
            is_call = "e.category LIKE '%API%' AND e.category NOT LIKE 'MARKER%'"
            category = f"CASE WHEN {is_call} THEN 'hip_runtime' ELSE 'user_annotation' END"
            self.add_calls(DatabaseSpans("regions AS e", "e.name", category, "e.pid", "e.tid", joined))
        for view, table in (
            ("kernels", "rocpd_kernel_dispatch"),
            ("memory_copies", "rocpd_memory_copy"),
            ("regions", "rocpd_region"),
        ):
            # A view leaves out what lacks the row of its thread, agent or name.
            rows = self.number(f"SELECT COUNT(*) FROM {table}") - self.number(f"SELECT COUNT(*) FROM {view}")
            self.events.miss(max(rows, 0))

    def _read_rpd(self) -> None:
        self.begin(("op", "start"), ("api", "start"))
        launches = "(SELECT op_id, MIN(api_id) AS api_id FROM rocpd_api_ops GROUP BY op_id)"
        rows = f"op AS e LEFT JOIN {launches} AS launch ON launch.op_id = e.id"
        is_copy = "e.opType LIKE 'Copy%'"
        args = "'device', e.gpuId, 'stream', e.queueId, 'correlation', launch.api_id"
        place = ("e.gpuId", "'stream ' || e.queueId")
        name = "COALESCE(NULLIF(e.description, ''), e.opType)"
        category = "CASE e.opType WHEN 'FillBuffer' THEN 'gpu_memset' ELSE 'kernel' END"
        self.add_work(DatabaseSpans(rows, name, category, *place, args, f"NOT {is_copy}"))
        if self.has("rocpd_copyapi", "api_ptr_id", "size"):
            rows += " LEFT JOIN rocpd_copyapi AS copied ON copied.api_ptr_id = launch.api_id"
            args += ", 'bytes', CAST(copied.size AS INTEGER)"
        self.add_work(
            DatabaseSpans(rows, "'Memcpy ' || substr(e.opType, 5)", "'gpu_memcpy'", *place, args, is_copy)
        )
        calls = DatabaseSpans(
            "api AS e",
            "e.apiName",
            f"CASE WHEN {_RUNTIME} THEN 'hip_runtime' ELSE 'user_annotation' END",
            "e.pid",
            "e.tid",
            "'correlation', e.id",
            f"e.apiName <> 'UserMarker' AND NOT {_RECORDER}",
        )
        self.add_calls(calls)
        name, category, sizes, is_sized = split_range("e.args")
        for args, chosen in ((f"'Input Dims', json({sizes})", is_sized), ("", f"NOT {is_sized}")):
            where = f"e.apiName = 'UserMarker' AND {chosen}"
            self.add_calls(calls._replace(name=name, category=category, args=args, where=where))
        self.leave_out(
            self.number(f"SELECT COUNT(*) FROM api AS e WHERE {_RECORDER}"), "the recorder's calls"
        )
