"""Databases of rocprofv3 and of rocmProfileData, made of rows of which everything is known."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from stepscope.errors import StepscopeError
from tests.asked import ask

NS = 1000
SLICES = """
  SELECT s.name, s.category, s.ts_ps, s.dur_ps, s.correlation_id, t.process || ' ' || t.name
  FROM slice AS s INNER JOIN track AS t ON t.id = s.track_id ORDER BY s.ts_ps
"""


def rows(path: Path, sql: str = SLICES) -> list[tuple[Any, ...]]:
    return ask(path, sql)


def database(path: Path, *statements: str) -> Path:
    base = sqlite3.connect(path)
    for statement in statements:
        base.execute(statement)
    base.commit()
    base.close()
    return path


RPD = (
    "CREATE TABLE rocpd_string (id INTEGER PRIMARY KEY, string TEXT)",
    "INSERT INTO rocpd_string VALUES (1, ''), (2, 'hipLaunchKernel'), (3, 'add(float*)'),"
    " (4, 'KernelExecution'), (5, 'CopyHostToDevice'), (6, 'hipMemcpyAsync'), (7, 'UserMarker'),"
    " (8, 'aten::add, seq = 3, sizes = [[2, 3]]'), (9, 'OpTable::writeRows'), (10, 'epoch'),"
    " (11, 'generate')",
    "CREATE TABLE rocpd_api (id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, start INTEGER, end INTEGER,"
    " apiName_id INTEGER, args_id INTEGER)",
    "INSERT INTO rocpd_api VALUES (11, 7, 8, 1000, 2000, 2, 1), (12, 7, 8, 2500, 2600, 6, 1),"
    " (13, 7, 8, 500, 3000, 7, 8), (14, 7, 9, 450, 4000, 9, 1), (15, 7, 8, 400, 3500, 7, 10),"
    " (16, 7, 8, 3600, 3700, 11, 1)",
    "CREATE TABLE rocpd_op (id INTEGER PRIMARY KEY, gpuId INTEGER, queueId INTEGER, start INTEGER,"
    " end INTEGER, description_id INTEGER, opType_id INTEGER)",
    "INSERT INTO rocpd_op VALUES (21, 2, 1, 3000, 7000, 3, 4), (22, 2, 0, 7000, 7500, 1, 5),"
    " (23, 2, 0, 9000, 8000, 1, 5)",
    "CREATE TABLE rocpd_api_ops (id INTEGER PRIMARY KEY, api_id INTEGER, op_id INTEGER)",
    "INSERT INTO rocpd_api_ops VALUES (1, 11, 21), (2, 12, 22)",
    "CREATE TABLE rocpd_copyapi (api_ptr_id INTEGER PRIMARY KEY, size INTEGER)",
    "INSERT INTO rocpd_copyapi VALUES (12, 4096)",
    "CREATE VIEW api AS SELECT a.id, a.pid, a.tid, a.start, a.end, n.string AS apiName, v.string AS args"
    " FROM rocpd_api AS a JOIN rocpd_string AS n ON n.id = a.apiName_id"
    " JOIN rocpd_string AS v ON v.id = a.args_id",
    "CREATE VIEW op AS SELECT o.id, o.gpuId, o.queueId, o.start, o.end, d.string AS description,"
    " t.string AS opType FROM rocpd_op AS o JOIN rocpd_string AS d ON d.id = o.description_id"
    " JOIN rocpd_string AS t ON t.id = o.opType_id",
)


def test_a_trace_of_rocm_profile_data(tmp_path):
    path = database(tmp_path / "trace.rpd", *RPD)
    assert rows(path) == [
        ("epoch", "user_annotation", 0, 3100 * NS, None, "process 7 thread 8"),
        ("aten::add", "cpu_op", 100 * NS, 2500 * NS, None, "process 7 thread 8"),
        ("hipLaunchKernel", "hip_runtime", 600 * NS, 1000 * NS, 11, "process 7 thread 8"),
        ("hipMemcpyAsync", "hip_runtime", 2100 * NS, 100 * NS, 12, "process 7 thread 8"),
        ("add(float*)", "kernel", 2600 * NS, 4000 * NS, 11, "GPU 2 stream 1"),
        ("generate", "user_annotation", 3200 * NS, 100 * NS, 16, "process 7 thread 8"),
        ("Memcpy HostToDevice", "gpu_memcpy", 6600 * NS, 500 * NS, 12, "GPU 2 stream 0"),
    ]
    assert rows(path, "SELECT producer, events_seen, events_lost FROM source") == [
        ("rocm_profile_data", 8, 1)
    ]
    ((args,),) = rows(path, "SELECT args_json FROM slice WHERE category = 'gpu_memcpy'")
    assert '"bytes":4096' in args
    (note,) = rows(path, "SELECT events, detail FROM source_note WHERE slug = 'not-read'")
    assert note == (1, "1 row of the recorder's calls is not read")


ROCPD = (
    "CREATE TABLE rocpd_kernel_dispatch (id INTEGER)",
    "INSERT INTO rocpd_kernel_dispatch VALUES (1), (2)",
    "CREATE TABLE rocpd_memory_copy (id INTEGER)",
    "INSERT INTO rocpd_memory_copy VALUES (1), (2)",
    "CREATE TABLE rocpd_region (id INTEGER)",
    "INSERT INTO rocpd_region VALUES (1), (2)",
    "CREATE VIEW kernels AS SELECT 'add' AS name, 0 AS agent_type_index, 3 AS queue_id, 7 AS pid,"
    " 5 AS stack_id, 4000 AS start, 9000 AS end",
    "CREATE VIEW memory_copies AS SELECT 'MEMORY_COPY_HOST_TO_DEVICE' AS name, 'GPU' AS dst_agent_type,"
    " 1 AS dst_agent_type_index, 0 AS src_agent_type_index, 64 AS size, 7 AS pid, 6 AS stack_id,"
    " 9000 AS start, 9500 AS end UNION ALL SELECT 'MEMORY_COPY_DEVICE_TO_HOST', 'CPU', 0, 1, 64, 7, 6,"
    " 9500, 9600",
    "CREATE VIEW regions AS SELECT 'hipLaunchKernel' AS name, 'HIP_RUNTIME_API' AS category, 7 AS pid,"
    " 8 AS tid, 5 AS stack_id, 1000 AS start, 2000 AS end"
    " UNION ALL SELECT 'epoch', 'MARKER_CORE_RANGE_API', 7, 8, 0, 900, 9700",
)


def test_a_database_of_rocprofv3(tmp_path):
    path = database(tmp_path / "7_results.db", *ROCPD)
    call = 7 << 32
    assert rows(path) == [
        ("epoch", "user_annotation", 0, 8800 * NS, call, "process 7 thread 8"),
        ("hipLaunchKernel", "hip_runtime", 100 * NS, 1000 * NS, call | 5, "process 7 thread 8"),
        ("add", "kernel", 3100 * NS, 5000 * NS, call | 5, "GPU 0 stream 3"),
        ("Memcpy HOST_TO_DEVICE", "gpu_memcpy", 8100 * NS, 500 * NS, call | 6, "GPU 1 stream of copies"),
        ("Memcpy DEVICE_TO_HOST", "gpu_memcpy", 8600 * NS, 100 * NS, call | 6, "GPU 1 stream of copies"),
    ]
    # One of two kernels has no row in the view, since what it names lacks.
    assert rows(path, "SELECT producer, events_seen, events_lost FROM source") == [("rocprofv3", 6, 1)]


@pytest.mark.parametrize(
    "statements", [RPD[:1] + ROCPD[:1], (*ROCPD[:1], "CREATE VIEW kernels AS SELECT * FROM gone")]
)
def test_a_database_without_work_is_damaged(tmp_path, statements):
    with pytest.raises(StepscopeError, match="no kernels, copies or calls"):
        rows(database(tmp_path / "x.db", *statements))


def test_names_in_a_schema_that_are_no_text_are_damage(tmp_path):
    path = database(tmp_path / "trace.rpd", *RPD)
    data = path.read_bytes()
    assert data.count(b"opType_id") == 2
    path.write_bytes(data.replace(b"opType_id", b"opTyp\xfe_id", 1))
    with pytest.raises(StepscopeError, match="it is damaged"):
        rows(path)
