"""Databases of Ascend's profilers: `ascend_pytorch_profiler_0.db` of torch_npu, `msprof_….db` of msprof.

Format: the tables of <https://www.hiascend.com/document/detail/en/canncommercial/80RC3/devaids/auxiliarydevtool/
atlasprofiling_16_0100.html>. Which of them there are differs from version to version. Times are Unix
nanoseconds.
"""

import re
import sqlite3

from stepscope._core import Store
from stepscope.formats import Pieces
from stepscope.formats._database import MAGIC, Database, DatabaseSpans, store_of
from stepscope.sources.source import Traits

NAME = "ascend_db"
TRAITS = Traits(endings=(".db",))
_OF_ASCEND = (b"COMPUTE_TASK_INFO", b"CANN_API", b"RDMA_SEND_NOTIFY")
"""Names of tables, or a value of the table ENUM_HCCL_RDMA_TYPE: the tables' names may lie far back."""
_CALLED = re.compile(r"ascend_pytorch_profiler(_\d+)?\.db|msprof_\d+\.db")
_PID, _TID = "(e.globalTid >> 32)", "(e.globalTid & 0xFFFFFFFF)"
_CATEGORIES = {50001: "cpu_op", 50002: "enqueue", 50003: "python_function", 50004: "user_annotation"}
"""Of what PyTorch recorded, by its type in ENUM_API_TYPE."""
_RANGES = "(1, 2)"
"""Types of marks that have a length: pushed and popped, started and ended."""
_NO_CONTEXT = 2**32 - 1
_COLLECTIVES = "COMMUNICATION_TASK_INFO"


def sniff(head: bytes, name: str) -> bool:
    """A database of SQLite with tables of Ascend's profilers, or called as they call it."""
    return head.startswith(MAGIC) and (
        any(text in head for text in _OF_ASCEND) or _CALLED.fullmatch(name.lower()) is not None
    )


def build(pieces: Pieces) -> Store:
    """Tasks and collectives on their NPUs; ops, calls and ranges on their threads."""
    return store_of(pieces, _Ascend)


class _Ascend(Database):
    """A database that is being read into events."""

    lacks = "tasks, collectives or calls"
    todo = "record both activities, CPU and NPU, and let the profiler parse its data before the program ends"

    def __init__(self, base: sqlite3.Connection) -> None:
        super().__init__(base)
        timed = ("TASK", "COMMUNICATION_OP", "CANN_API", "PYTORCH_API", "MSTX_EVENTS")
        self.tables = [table for table in timed if self.has(table, "startNs", "endNs")]
        self.begin(*((table, "startNs") for table in self.tables))
        self.origin_unix_ns = self.start_ns or None
        # As of the timelines of torch_npu, which have what PyTorch's own profiler writes.
        self.producer = "kineto" if "PYTORCH_API" in self.tables else "msprof"
        self.ranks = self._found_ranks()

    def _found_ranks(self) -> dict[str, int]:
        """The rank of the process and how many there are, as far as its collectives reach."""
        if not self.has("RANK_DEVICE_MAP", "rankId") or self._number_of("RANK_DEVICE_MAP") != 1:
            return {}
        rank = self.number("SELECT rankId FROM RANK_DEVICE_MAP")
        if rank < 0:
            return {}
        reached = (
            self.number(f"SELECT MAX({end}) FROM {_COLLECTIVES} WHERE {end} < {_NO_CONTEXT}")
            for end in ("srcRank", "dstRank")
        )
        ranks = 1 + max(reached)
        return {"rank": rank, "world_size": ranks} if ranks > max(rank, 1) else {"rank": rank}

    def read(self) -> None:
        collectives = self._number_of("COMMUNICATION_OP")
        if "TASK" in self.tables:
            self._add_tasks(within_collectives=not collectives)
        if collectives:
            self._add_collectives()
            self.leave_out(self._number_of(_COLLECTIVES), f"{_COLLECTIVES}, the parts of collectives,")
        if "CANN_API" in self.tables:
            name = "COALESCE(text.value, 'call')"
            self._add_calls("CANN_API", name, "'cann_runtime'", "'correlation', e.connectionId")
        if "PYTORCH_API" in self.tables:
            kinds = " ".join(f"WHEN {kind} THEN '{category}'" for kind, category in _CATEGORIES.items())
            category = f"CASE e.type {kinds} ELSE 'cpu_op' END"
            self._add_calls("PYTORCH_API", "COALESCE(text.value, 'op')", category)
        elif self.has("STEP_TIME", "id", "startNs", "endNs"):
            mark = ("'ProfilerStep#' || e.id", "'user_annotation'", "'steps'", "'steps'")
            self._add(DatabaseSpans("STEP_TIME AS e", *mark))
        if "MSTX_EVENTS" in self.tables:
            where = f"e.eventType IN {_RANGES}"
            self._add_calls(
                "MSTX_EVENTS", "COALESCE(text.value, 'range')", "'user_annotation'", "", where, "message"
            )
        for table in ("MEMORY_RECORD", "NPU_OP_MEM"):
            self.leave_out(self._number_of(table), table)

    def _number_of(self, table: str) -> int:
        return self.number(f"SELECT COUNT(*) FROM {table}") if self.has(table) else 0

    def _add_tasks(self, *, within_collectives: bool) -> None:
        """Adds what streams ran: kernels by their names, copies and waits by their types. A task that is only
        the whole of the tasks after it, its contexts, is none of its own."""
        following = "OVER (PARTITION BY deviceId, streamId, taskId ORDER BY startNs, contextId DESC)"
        rows = (
            f"(SELECT *, LEAD(contextId) {following} AS part, LEAD(startNs) {following} AS part_ns FROM TASK)"
        )
        is_whole = f"e.contextId = {_NO_CONTEXT} AND e.part <> {_NO_CONTEXT} AND e.part_ns < e.endNs"
        rows += " AS e LEFT JOIN STRING_IDS AS kind ON kind.id = e.taskType"
        name, category = (
            "COALESCE(kind.value, 'task')",
            "CASE WHEN kind.value LIKE 'MEMCPY%' THEN 'gpu_memcpy' END",
        )
        if self.has("COMPUTE_TASK_INFO", "globalTaskId", "name"):
            rows += (
                " LEFT JOIN COMPUTE_TASK_INFO AS info ON info.globalTaskId = e.globalTaskId"
                " LEFT JOIN STRING_IDS AS text ON text.id = info.name"
            )
            name = f"COALESCE(text.value, {name})"
            is_whole += " AND info.name IS NULL"
            category = f"CASE WHEN info.name IS NOT NULL THEN 'kernel' ELSE {category} END"
        where = f"COALESCE(NOT ({is_whole}), TRUE)"
        if self.has(_COLLECTIVES) and not within_collectives:
            where += f" AND e.globalTaskId NOT IN (SELECT globalTaskId FROM {_COLLECTIVES})"
        args = "'device', e.deviceId, 'stream', e.streamId, 'correlation', e.connectionId"
        self._add(
            DatabaseSpans(rows, name, category, "e.deviceId", "'stream ' || e.streamId", args, where), "NPU"
        )

    def _add_collectives(self) -> None:
        """Adds collectives, each group on a row of its NPU."""
        device = "0"
        if self.has("TASK", "deviceId"):
            device = str(self.number("SELECT MIN(deviceId) FROM TASK"))
        rows = "COMMUNICATION_OP AS e LEFT JOIN STRING_IDS AS text ON text.id = e.opName"
        group = "'stream of group ' || DENSE_RANK() OVER (ORDER BY e.groupName)"
        rows = f"(SELECT e.*, text.value, {group} AS row FROM {rows}) AS e"
        args = f"'device', {device}, 'correlation', e.connectionId"
        self._add(
            DatabaseSpans(rows, "COALESCE(e.value, 'collective')", "'kernel'", device, "e.row", args), "NPU"
        )

    def _add_calls(
        self, table: str, name: str, category: str, args: str = "", where: str = "TRUE", text: str = "name"
    ) -> None:
        rows = f"{table} AS e LEFT JOIN STRING_IDS AS text ON text.id = e.{text}"
        self._add(DatabaseSpans(rows, name, category, _PID, _TID, args, where))

    def _add(self, spans: DatabaseSpans, unit: str | None = None) -> None:
        """Adds spans whose times are called as this format calls them, some of them texts."""
        timed = spans._replace(start="CAST(e.startNs AS INTEGER)", end="CAST(e.endNs AS INTEGER)")
        if unit is not None:
            self.add_work(timed, unit)
        else:
            self.add_calls(timed)
