"""Databases and tables of Ascend's profilers, made of rows of which everything is known."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

import stepscope
from stepscope.errors import StepscopeError
from stepscope.sources.names import slug
from tests.asked import ask

US = 10**6
NS = 1000
T0 = 1_736_410_576_000_000_000
NO_CONTEXT = 2**32 - 1
THREAD = 7 << 32 | 8
STRINGS = (
    "MEMCPY_ASYNC", "KERNEL_AICORE", "AI_CORE", "Notify_Wait", "aclnnAdd", "hcom_allReduce__1_0_1", "group",
    "aclrtMemcpyAsync", "aten::add", "ProfilerStep#4", "epoch", "EVENT_WAIT",
)  # fmt: skip
ID = {text: number for number, text in enumerate(STRINGS, 1)}


def database(path: Path, rank: int = 0) -> Path:
    base = sqlite3.connect(path)
    base.execute("CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT)")
    base.executemany("INSERT INTO STRING_IDS VALUES (?, ?)", enumerate(STRINGS, 1))
    base.execute("CREATE TABLE RANK_DEVICE_MAP (rankId INTEGER, deviceId INTEGER)")
    base.execute("INSERT INTO RANK_DEVICE_MAP VALUES (?, 3)", (rank,))
    base.execute(
        "CREATE TABLE TASK (startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER,"
        " globalTaskId INTEGER, taskType INTEGER, contextId INTEGER, streamId INTEGER, taskId INTEGER)"
    )
    tasks = [
        (1000, 2000, 3, 11, 1, ID["MEMCPY_ASYNC"], NO_CONTEXT, 2, 50),
        (2000, 6000, 3, 12, 2, ID["KERNEL_AICORE"], NO_CONTEXT, 2, 51),
        (6000, 7000, 3, 13, 3, ID["EVENT_WAIT"], NO_CONTEXT, 2, 52),
        # Two wholes and their parts: one of a collective, and a kernel.
        (7000, 20_000, 3, 14, 4, ID["AI_CORE"], NO_CONTEXT, 4, 53),
        (8000, 19_000, 3, 14, 5, ID["Notify_Wait"], 0, 4, 53),
        (21_000, 24_000, 3, 15, 6, ID["AI_CORE"], NO_CONTEXT, 2, 54),
        (21_500, 23_500, 3, 15, 7, ID["KERNEL_AICORE"], 1, 2, 54),
    ]  # fmt: skip
    base.executemany(f"INSERT INTO TASK VALUES ({T0} + ?, {T0} + ?, ?, ?, ?, ?, ?, ?, ?)", tasks)
    base.execute("CREATE TABLE COMPUTE_TASK_INFO (globalTaskId INTEGER PRIMARY KEY, name INTEGER)")
    base.execute(f"INSERT INTO COMPUTE_TASK_INFO VALUES (2, {ID['aclnnAdd']}), (7, {ID['aclnnAdd']})")
    base.execute(
        "CREATE TABLE COMMUNICATION_TASK_INFO (globalTaskId INTEGER, srcRank INTEGER, dstRank INTEGER)"
    )
    base.execute(f"INSERT INTO COMMUNICATION_TASK_INFO VALUES (5, 1, {NO_CONTEXT})")
    base.execute(
        "CREATE TABLE COMMUNICATION_OP (opName INTEGER, startNs INTEGER, endNs INTEGER, connectionId INTEGER,"
        " groupName INTEGER)"
    )
    base.execute(
        f"INSERT INTO COMMUNICATION_OP VALUES"
        f" ({ID['hcom_allReduce__1_0_1']}, {T0 + 7000}, {T0 + 20_000}, 14, {ID['group']})"
    )
    base.execute(
        "CREATE TABLE CANN_API (startNs INTEGER, endNs INTEGER, type INTEGER, globalTid INTEGER,"
        " connectionId INTEGER, name INTEGER)"
    )
    base.execute(
        f"INSERT INTO CANN_API VALUES ({T0 + 500}, {T0 + 700}, 20000, {THREAD}, 11, {ID['aclrtMemcpyAsync']})"
    )
    base.execute(
        "CREATE TABLE PYTORCH_API (startNs TEXT, endNs TEXT, globalTid INTEGER, name INTEGER, type INTEGER)"
    )
    for begin, end, name in ((400, 800, "aten::add"), (0, 30_000, "ProfilerStep#4")):
        base.execute(
            "INSERT INTO PYTORCH_API VALUES (?, ?, ?, ?, 50001)",
            (str(T0 + begin), str(T0 + end), THREAD, ID[name]),
        )
    base.execute(
        "CREATE TABLE MSTX_EVENTS (startNs INTEGER, endNs INTEGER, eventType INTEGER, message INTEGER,"
        " globalTid INTEGER)"
    )
    base.execute(
        f"INSERT INTO MSTX_EVENTS VALUES ({T0 + 100}, {T0 + 29_000}, 1, {ID['epoch']}, {THREAD}),"
        f" ({T0 + 100}, {T0 + 100}, 0, {ID['epoch']}, {THREAD})"
    )
    base.commit()
    base.close()
    return path


SLICES = """
  SELECT s.name, s.ts_ps, s.dur_ps, s.correlation_id, t.process || ' ' || t.name
  FROM slice AS s INNER JOIN track AS t ON t.id = s.track_id ORDER BY s.ts_ps, s.dur_ps DESC
"""


def test_a_database(tmp_path):
    path = database(tmp_path / "ascend_pytorch_profiler_0.db")
    thread = "process 7 thread 8"
    assert ask(path, SLICES) == [
        ("ProfilerStep#4", 0, 30_000 * NS, None, thread),
        ("epoch", 100 * NS, 28_900 * NS, None, thread),
        ("aten::add", 400 * NS, 400 * NS, None, thread),
        ("aclrtMemcpyAsync", 500 * NS, 200 * NS, 11, thread),
        ("MEMCPY_ASYNC", 1000 * NS, 1000 * NS, 11, "NPU 3 stream 2"),
        ("aclnnAdd", 2000 * NS, 4000 * NS, 12, "NPU 3 stream 2"),
        ("EVENT_WAIT", 6000 * NS, 1000 * NS, 13, "NPU 3 stream 2"),
        ("hcom_allReduce__1_0_1", 7000 * NS, 13_000 * NS, 14, "NPU 3 stream of group 1"),
        ("aclnnAdd", 21_500 * NS, 2000 * NS, 15, "NPU 3 stream 2"),
    ]
    assert ask(path, "SELECT origin_unix_ns, clock FROM capture") == [(T0, "unix")]
    assert ask(path, "SELECT producer, framework FROM source") == [("kineto", "pytorch")]
    (note,) = ask(path, "SELECT events, detail FROM source_note WHERE slug = 'not-read'")
    assert note == (1, "1 row of COMMUNICATION_TASK_INFO, the parts of collectives, is not read")


def test_each_rank_is_a_process_of_its_own(tmp_path):
    for rank in (0, 1):
        folder = tmp_path / f"host_{rank}_ascend_pt"
        folder.mkdir()
        database(folder / f"ascend_pytorch_profiler_{rank}.db", rank)
    with stepscope.open(tmp_path, cache=False) as trace:
        assert len({row[0] for row in trace.query("SELECT host_id FROM source").rows()}) == 2
        assert trace.query("SELECT COUNT(*) FROM slice WHERE name = 'ProfilerStep#4'").rows() == [(2,)]


def test_a_database_whose_tables_lie_far_back_is_known_by_its_name(tmp_path):
    path = tmp_path / "ascend_pytorch_profiler.db"
    base = sqlite3.connect(path)
    base.execute("CREATE TABLE filler (text TEXT)")
    base.execute("INSERT INTO filler VALUES (?)", ("x" * 200_000,))
    base.commit()
    base.close()
    with pytest.raises(StepscopeError, match="no tasks, collectives or calls"):
        ask(path, SLICES)


DETAILS = (
    "Step Id,Device_id,Task ID,Stream ID,Name,Type,Accelerator Core,Start Time(us),Duration(us),Input Shapes"
)
SUMMARY = "Device_id,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us),Stream ID"


@pytest.mark.parametrize(
    ("header", "lines"),
    [
        (
            DETAILS,
            [
                '13,4,5,2,aclnnAdd,Add,AI_VECTOR_CORE,"1764246877074017.600\t",3.250,"""2,3"""',
                "13,4,N/A,N/A,hcom_allReduce__1,hcom_allReduce_,COMMUNICATION,1764246877074027.600,10.000,N/A",
                "13,4,6,2,aclnnAdd,Add,AI_VECTOR_CORE,soon,3.250,N/A",
            ],
        ),
        (
            SUMMARY,
            [
                "4,aclnnAdd,Add,AI_VECTOR_CORE,1764246877074017.600,3.250,2",
                "4,hcom_allReduce__1,hcom_allReduce_,HCCL,1764246877074027.600,10,N/A",
                "4,aclnnAdd,Add,AI_VECTOR_CORE,N/A,3.250,2",
            ],
        ),
    ],
)
def test_tables_of_kernels(tmp_path, header, lines):
    path = tmp_path / "kernel_details.csv"
    path.write_text("\n".join([header, *lines, ""]))
    assert ask(path, SLICES) == [
        ("aclnnAdd", 0, 3_250_000, None, "NPU 4 stream 2"),
        ("hcom_allReduce__1", 10 * US, 10 * US, None, "NPU 4 stream of collectives"),
    ]
    assert ask(path, "SELECT events_seen, events_lost FROM source") == [(3, 1)]
    assert ask(path, "SELECT origin_unix_ns FROM capture") == [(1_764_246_877_074_017_600,)]


def test_steps_of_a_table_reach_to_the_next(tmp_path):
    kernels = ((13, 100.0), (13, 130.0), (14, 160.5), (14, 150.0), (15, 190.0))
    lines = (f"{step},4,5,2,aclnnAdd,Add,AI_VECTOR_CORE,{at:.3f},3.250,N/A" for step, at in kernels)
    path = tmp_path / "kernel_details.csv"
    path.write_text("\n".join([DETAILS, *lines, ""]))
    assert ask(path, "SELECT step, ts_ps, dur_ps FROM step ORDER BY ts_ps") == [
        (13, 0, 50 * US),
        (14, 50 * US, 40 * US),
    ]


def test_the_only_step_of_a_table_lasts_as_long_as_its_kernels(tmp_path):
    lines = (f"13,4,5,2,aclnnAdd,Add,AI_VECTOR_CORE,{at:.3f},3.250,N/A" for at in (130.0, 100.0))
    path = tmp_path / "kernel_details.csv"
    path.write_text("\n".join([DETAILS, *lines, ""]))
    assert ask(path, "SELECT step, ts_ps, dur_ps FROM step") == [(13, 0, 33_250_000)]


def test_a_table_without_times_is_damaged(tmp_path):
    path = tmp_path / "kernel_details.csv"
    path.write_text(f"{DETAILS}\n1,2\n")
    with pytest.raises(StepscopeError, match="no kernels with their times"):
        ask(path, SLICES)


def test_what_the_profiler_writes_of_one_recording_is_read_once(tmp_path):
    """The timeline first, else the database: each holds more than the one after it."""
    folder = tmp_path / "host_0_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    folder.mkdir(parents=True)
    (folder / "kernel_details.csv").write_text(
        f"{DETAILS}\n13,4,5,2,aclnnAdd,Add,AI_VECTOR_CORE,1764246877074017.600,3.250,N/A\n"
    )
    formats = "SELECT format FROM source"
    assert ask(tmp_path, formats) == [("ascend_csv",)]
    database(folder / "ascend_pytorch_profiler_0.db")
    assert ask(tmp_path, formats) == [("ascend_db",)]
    event = {"ph": "X", "name": "aclnnAdd", "pid": 1, "tid": 2, "ts": 5, "dur": 2}
    (folder / "trace_view.json").write_text(json.dumps([event]))
    assert ask(tmp_path, formats) == [("chrome_trace",)]


def test_databases_of_one_recording_lie_in_several_folders(tmp_path):
    recording = tmp_path / "host_0_ascend_pt"
    for folder, name in (
        ("PROF_000001_2025", "msprof_20250102.db"),
        ("ASCEND_PROFILER_OUTPUT", "ascend_pytorch_profiler_0.db"),
    ):
        (recording / folder).mkdir(parents=True)
        database(recording / folder / name)
    asked = "SELECT run_id, path FROM source"
    assert [(run, Path(path).name) for run, path in ask(tmp_path, asked)] == [
        ("host_0_ascend_pt", "ascend_pytorch_profiler_0.db")
    ]
    (recording / "ASCEND_PROFILER_OUTPUT" / "ascend_pytorch_profiler_0.db").unlink()
    assert [Path(path).name for _, path in ask(recording, asked)] == ["msprof_20250102.db"]


def test_folders_that_tell_ranks_are_of_one_run(tmp_path):
    event = {"ph": "X", "name": "aclnnAdd", "pid": 1, "tid": 2, "ts": 5, "dur": 2}
    for rank in (0, 1):
        folder = tmp_path / "job" / f"rank{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
        folder.mkdir(parents=True)
        (folder / "trace_view.json").write_text(json.dumps([event]))
    asked = "SELECT run_id, host_id FROM source ORDER BY host_id"
    assert ask(tmp_path, asked) == [("job", "rank-0"), ("job", "rank-1")]
    assert ask(tmp_path / "job" / "rank1_ascend_pt", asked) == [("job", "rank-1")]


def test_a_part_of_a_timeline_is_read_with_it(tmp_path):
    event = {"ph": "X", "name": "Add-op1", "pid": 1, "tid": 2, "ts": 5, "dur": 2}
    for name in ("msprof_0_2_1.json", "task_time_0_2_1.json", "hccl_0_2_2.json"):
        (tmp_path / name).write_text(json.dumps([event]))
    read = {Path(path).name for (path,) in ask(tmp_path, "SELECT path FROM source")}
    assert read == {"msprof_0_2_1.json", "hccl_0_2_2.json"}


def test_a_run_is_called_as_its_file_without_the_ending(tmp_path):
    path = database(tmp_path / "bert.db")
    assert ask(path, "SELECT run_id FROM source") == [("bert",)]
    path = path.rename(tmp_path / "rank0.db")
    assert ask(path, "SELECT run_id FROM source") == [(slug(tmp_path.name, "run"),)]


@pytest.mark.parametrize("whole", [True, False])
def test_copies_of_a_collective_are_part_of_it(tmp_path, whole):
    """A stream that only notifies and exchanges adds nothing where whole collectives are recorded."""
    tasks = [
        (2, "Stream 2", [("MatMul-op1", 0, 10), ("MEMCPY_ASYNC", 10, 5)]),
        (13, "Stream 13", [("NOTIFY_WAIT", 15, 5), ("MEMCPY_ASYNC", 20, 10)]),
        (10036, "Step Trace(Model ID:2)", [("Iteration 7", 0, 30)]),
    ]
    processes = [(3, "Ascend Hardware", tasks)]
    if whole:
        processes.append((4, "HCCL", [(70000, "Communication Kernel", [("AllReduce-op9", 15, 15)])]))
    events: list[dict[str, Any]] = []
    for pid, process, threads in processes:
        events.append({"ph": "M", "name": "process_name", "pid": pid, "args": {"name": process}})
        for tid, thread, slices in threads:
            place = {"pid": pid, "tid": tid}
            events.append({"ph": "M", "name": "thread_name", **place, "args": {"name": thread}})
            events += ({"ph": "X", "name": name, **place, "ts": at, "dur": us} for name, at, us in slices)
    path = tmp_path / "msprof_0_2_7.json"
    path.write_text(json.dumps(events))
    parts = [("AllReduce-op9", 15)] if whole else [("MEMCPY_ASYNC", 10), ("NOTIFY_WAIT", 5)]
    work = "SELECT op, dur_ps // 1000000 FROM op_slice WHERE class = '$' ORDER BY op"
    assert ask(path, work.replace("$", "communication")) == parts
    assert ask(path, work.replace("$", "copy")) == [("MEMCPY_ASYNC", 5)]
    assert ask(path, "SELECT step, dur_ps FROM step") == [(7, 30 * US)]


def test_files_within_folders_tell_ranks(tmp_path):
    """By default the profiler of PyTorch names folders by host, process and time."""
    event = {"ph": "X", "name": "aclnnAdd", "pid": 1, "tid": 2, "ts": 5, "dur": 2}
    for process, rank in ((1871, 0), (1872, 1)):
        folder = tmp_path / "job" / f"node_{process}_20240510022210151_ascend_pt"
        (folder / "ASCEND_PROFILER_OUTPUT").mkdir(parents=True)
        (folder / "ASCEND_PROFILER_OUTPUT" / "trace_view.json").write_text(json.dumps([event]))
        (folder / f"profiler_info_{rank}.json").write_text("{}")
    asked = "SELECT run_id, host_id FROM source ORDER BY host_id"
    assert ask(tmp_path, asked) == [("job", "rank-0"), ("job", "rank-1")]
    # Two recordings of the same rank are of two jobs, and nothing says which others belong to them.
    (tmp_path / "job" / "node_1872_20240510022210151_ascend_pt" / "profiler_info_1.json").rename(
        tmp_path / "job" / "node_1872_20240510022210151_ascend_pt" / "profiler_info_0.json"
    )
    assert len({run for run, _ in ask(tmp_path, asked)}) == 2
