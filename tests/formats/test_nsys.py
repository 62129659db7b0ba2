"""Exports of Nsight Systems: a real one, and databases of which everything is known."""

import contextlib
import gzip
import json
import sqlite3
from pathlib import Path

import pytest

from stepscope.cli import main
from stepscope.errors import StepscopeError
from tests.asked import ask
from tests.corpus import SAMPLES
from tests.tiers import cases

REAL = SAMPLES / "profile" / "h100.nsys.sqlite.gz"
US = 10**6
PID = 41
THREAD = PID << 24 | 7


def database(path: Path, *statements: str) -> Path:
    """A database with strings, and a table that only Nsight Systems has."""
    base = sqlite3.connect(path)
    base.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)")
    base.execute("CREATE TABLE ENUM_NSYS_EVENT_TYPE (id INTEGER PRIMARY KEY, name TEXT, label TEXT)")
    strings = (
        "cudaLaunchKernel_v7000",
        "void add<float>(float*)",
        "cuLaunchKernel",
        "a_v2_b",
        "loader",
        "epoch",
    )
    base.executemany("INSERT INTO StringIds VALUES (?, ?)", enumerate(strings, 1))
    for statement in statements:
        base.execute(statement)
    base.commit()
    base.close()
    return path


WORK = (
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,"
    " correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER)",
    f"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (5000, 9000, 1, 7, 3, {PID << 24}, 2, 2)",
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME"
    " (start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER)",
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME"
    f" VALUES (1500, 2500, {THREAD}, 3, 1), (3000, 3100, {THREAD}, 4, 3)",
)
RANGES = (
    "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, textId INTEGER,"
    " globalTid INTEGER)",
    "INSERT INTO NVTX_EVENTS VALUES"
    f" (1000, 4000, 59, 'aten::mm, seq = 2, op_id = 9, sizes = [[2, 3], [3, 4]]', NULL, {THREAD}),"
    f" (1000, 9000, 60, NULL, 6, {THREAD}), (2000, NULL, 59, 'open', NULL, {THREAD}),"
    f" (1200, NULL, 34, 'mark', NULL, {THREAD})",
)


def test_copies_of_unified_memory_have_names(tmp_path):
    copies = (
        "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER,"
        " streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER)",
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES"
        + ", ".join(
            f"({10 * kind}, {10 * kind + 5}, 0, 7, 0, {PID << 24}, 64, {kind})" for kind in (1, 11, 12)
        ),
    )
    path = database(tmp_path / "a.sqlite", *WORK, *copies)
    names = ask(path, "SELECT name FROM slice WHERE category = 'gpu_memcpy' ORDER BY ts_ps")
    of = "(unified memory)"
    assert names == [("Memcpy HtoD",), (f"Memcpy HtoD {of}",), (f"Memcpy DtoH {of}",)]


def test_copies_tell_their_memory_and_kernels_their_size(tmp_path):
    """As Kineto writes both; where a copy knows one side only, its name has neither."""
    copies = (
        "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, streamId, correlationId, globalPid,"
        " bytes, copyKind, srcKind, dstKind)",
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES"
        + ", ".join(
            f"({10 * at}, {10 * at + 5}, 0, 7, 0, {PID << 24}, 64, {kinds})"
            for at, kinds in enumerate(("1, 0, 2", "2, 2, 1", "1, 7, 2", "11, 7, 7"), 1)
        ),
    )
    sized = [
        f"ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN {part}{side}"
        for part in ("grid", "block")
        for side in "XYZ"
    ]
    size = "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET gridX=9, gridY=2, gridZ=1, blockX=32, blockY=4, blockZ=1"
    path = database(tmp_path / "a.sqlite", *WORK, *copies, *sized, size)
    names = ask(path, "SELECT name FROM slice WHERE category = 'gpu_memcpy' ORDER BY ts_ps")
    expected = ("HtoD (Pageable -> Device)", "DtoH (Device -> Pinned)", "HtoD", "HtoD (unified memory)")
    assert names == [(f"Memcpy {name}",) for name in expected]
    ((args,),) = ask(path, "SELECT args_json FROM slice WHERE category = 'kernel'")
    assert (json.loads(args)["grid"], json.loads(args)["block"]) == ([9, 2, 1], [32, 4, 1])


def test_ranges_alone_are_named_and_what_lacks_is_noted(tmp_path, capsys):
    ranges = ", ".join(
        f"({100 * step + begin}, {100 * step + end}, 59, '{name}', NULL, {THREAD})"
        for step in range(1, 9)
        for begin, end, name in ((0, 100, f"iteration {step}"), (0, 60, "forward"), (60, 95, "backward"))
    )
    path = database(tmp_path / "a.sqlite", RANGES[0], f"INSERT INTO NVTX_EVENTS VALUES {ranges}")
    assert main([str(path), "--no-cache"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "`forward` has 60.0 % and `backward` has 35.0 % of a step" in text
    assert "nothing of GPUs, and no calls of CUDA; it holds 24 rows of NVTX_EVENTS" in text
    assert ask(path, "SELECT effect FROM source_note WHERE slug = 'no-cuda'") == [("missing",)]


GPU = (
    "CREATE TABLE TARGET_INFO_GPU"
    " (cuDevice, name, totalMemory, memoryBandwidth, smCount, computeMajor, computeMinor)"
)


@pytest.mark.parametrize(("other", "names"), [("NVIDIA A100", ["NVIDIA A100"]), ("NVIDIA T4", [None])])
def test_gpus_are_what_the_host_has(tmp_path, other, names):
    """Of several models nothing tells which a process means; a screen is no GPU."""
    rows = f"(0, 'Basic Render Driver', 0, 0, 0, 0, 0), (0, '{other}', 1, 1, 40, 8, 0),"
    rows += " (1, 'NVIDIA A100', 42297524224, 1555200000000, 108, 8, 0)"
    path = database(tmp_path / "a.sqlite", *WORK, GPU, f"INSERT INTO TARGET_INFO_GPU VALUES {rows}")
    about = [text for (text,) in ask(path, "SELECT args_json FROM device WHERE name = 'GPU 1'")]
    assert [text and json.loads(text)["name"] for text in about] == names
    if about != [None]:
        assert json.loads(about[0])["numSms"] == 108


def test_a_real_export():
    """The figures are those of `SELECT COUNT(*), SUM(end - start)` over each table of the database."""
    events = ask(
        REAL, "SELECT category, COUNT(*), SUM(dur_ps) FROM slice GROUP BY category ORDER BY category"
    )
    assert [(name, number, ps // 1000) for name, number, ps in events] == [
        ("cpu_op", 18, 16_016_803),
        ("cuda_runtime", 2, 5_214_825),
        ("gpu_memcpy", 6, 24_479_744),
        ("kernel", 34, 194_081),
    ]
    wall_ns = 1_779_630_014_975_716_426 - 35_255_823_190 + 155_357_596_302
    assert ask(REAL, "SELECT producer, events_seen, events_lost FROM source") == [("nsys", 60, 0)]
    assert ask(REAL, "SELECT origin_unix_ns, clock FROM capture") == [(wall_ns, "unix")]
    names = (
        "SELECT DISTINCT d.name, t.name FROM track AS t JOIN device AS d ON d.id = t.device_id ORDER BY ALL"
    )
    assert ask(REAL, names) == [
        ("CPU", "python3"),
        ("GPU 0", "stream 7 of process 111"),
        ("GPU 1", "stream 15 of process 112"),
    ]
    # Both processes count their calls from 1, so that a call is known with its process.
    joined = """
      SELECT COUNT(*) FROM slice AS k JOIN slice AS c USING (correlation_id)
      WHERE k.category = 'kernel' AND c.category = 'cuda_runtime'
    """
    assert ask(REAL, joined) == [(2,)]


def test_calls_and_work_are_what_they_are_called(tmp_path):
    found = ask(
        database(tmp_path / "one.sqlite", *WORK),
        "SELECT name, category, ts_ps, dur_ps, correlation_id FROM slice ORDER BY ts_ps",
    )
    assert found == [
        ("cudaLaunchKernel", "cuda_runtime", 0, US, 3),
        ("cuLaunchKernel", "cuda_driver", 3 * US // 2, US // 10, 4),
        ("void add<float>(float*)", "kernel", 7 * US // 2, 4 * US, 3),
    ]


def test_ranges_are_ops_of_pytorch_or_marks_of_the_program(tmp_path):
    path = database(tmp_path / "one.sqlite", *RANGES)
    assert ask(path, "SELECT name, category, ts_ps, dur_ps FROM slice ORDER BY name") == [
        ("aten::mm", "cpu_op", 0, 3 * US),
        ("epoch", "user_annotation", 0, 8 * US),
    ]
    ((args,),) = ask(path, "SELECT args_json FROM slice WHERE args_json LIKE '%Dims%'")
    assert args == '{"Input Dims":[[2,3],[3,4]]}'
    # The range that was open when the recording ended is told; a mark has no length and is none.
    assert ask(path, "SELECT events_seen, events_stored, events_lost FROM source") == [(3, 2, 1)]


def test_what_is_not_read_is_told(tmp_path):
    path = database(
        tmp_path / "one.sqlite",
        *WORK,
        "CREATE TABLE MPI_P2P_EVENTS (start INTEGER, end INTEGER)",
        "INSERT INTO MPI_P2P_EVENTS VALUES (1, 2), (3, 4)",
        "CREATE TABLE SCHED_EVENTS (start INTEGER, cpu INTEGER)",
        "INSERT INTO SCHED_EVENTS VALUES (1, 0)",
    )
    notes = "SELECT slug, events, detail FROM source_note WHERE slug = 'not-read' ORDER BY detail"
    assert ask(path, notes) == [
        ("not-read", 1, "1 row of SCHED_EVENTS is not read"),
        ("not-read", 2, "2 rows of MPI_P2P_EVENTS are not read"),
    ]


def test_spans_that_end_before_they_begin_are_lost(tmp_path):
    backwards = f"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (9000, 5000, 1, 7, 5, {PID << 24}, 2, 2)"
    path = database(tmp_path / "one.sqlite", *WORK, backwards)
    assert ask(path, "SELECT events_seen, events_lost FROM source") == [(4, 1)]


@pytest.mark.parametrize(
    "statements",
    [
        (),
        ("CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER)", "INSERT INTO NVTX_EVENTS VALUES (1, 2)"),
        ("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start TEXT, end BLOB)",
         "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ('soon', x'00')"),
        (*WORK[:1],
         f"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (-1, {2**63 - 1}, 'x', NULL, 'y', 2.5, 2, 2)"),
    ],
)  # fmt: skip
def test_odd_databases_end_in_a_result_or_an_error_of_ours(statements, tmp_path, capsys):
    assert main([str(database(tmp_path / "odd.sqlite", *statements))]) in (0, 2)
    assert "Traceback" not in capsys.readouterr().err


def test_damage_ends_in_a_result_or_an_error_of_ours(tmp_path):
    data = gzip.decompress(REAL.read_bytes())
    path = tmp_path / "damaged.sqlite"
    for at in range(0, len(data), len(data) // cases(15, 40)):
        for damaged in (data[:at], data[:at] + bytes(4096) + data[at + 4096 :]):
            path.write_bytes(damaged)
            with contextlib.suppress(StepscopeError):  # which says what was seen
                ask(path, "SELECT COUNT(*) FROM slice")


def test_other_databases_are_none(tmp_path, capsys):
    base = sqlite3.connect(tmp_path / "other.sqlite")
    base.execute("CREATE TABLE person (start INTEGER, end INTEGER)")
    base.commit()
    base.close()
    assert main([str(tmp_path / "other.sqlite")]) == 2
    assert "No recording was found" in capsys.readouterr().err


SAMPLED = (
    "CREATE TABLE COMPOSITE_EVENTS (id INTEGER, start INTEGER, cpu INTEGER, globalTid INTEGER)",
    "CREATE TABLE SAMPLING_CALLCHAINS"
    " (id INTEGER, symbol INTEGER, module INTEGER, unresolved INTEGER, stackDepth INTEGER)",
    "INSERT INTO StringIds VALUES (21, 'multiply(float*)'), (22, 'main'), (23, '/opt/lib/libx.so'),"
    " (24, '0xffff'), (25, '[Max depth]')",
    # Four moments on a core, 1 ms apart, and another one long after them.
    "INSERT INTO COMPOSITE_EVENTS VALUES "
    + ", ".join(f"({n}, {at * 10**6}, 0, {THREAD})" for n, at in enumerate((1, 2, 3, 4, 90), 1)),
    "INSERT INTO SAMPLING_CALLCHAINS VALUES "
    + ", ".join(f"({n}, 21, 23, 0, 0), ({n}, 22, 23, 0, 1), ({n}, 25, 25, 0, 2)" for n in (1, 2, 3))
    + ", (4, 24, 23, 1, 0), (4, 22, 23, 0, 1), (5, 22, 23, 0, 0)",
)


def test_samples_of_processors_are_calls_beside_those_that_are_timed(tmp_path: Path) -> None:
    """What successive samples share is one call; a sample stands for no more than the usual time between
    two."""
    path = database(tmp_path / "a.sqlite", *WORK, *SAMPLED)
    rows = "SELECT name, depth, ts_ps, dur_ps FROM slice WHERE category = 'cpu_sample' ORDER BY ts_ps, depth"
    begin_us = 1.5
    assert ask(path, rows) == [
        ("main", 0, round((1000 - begin_us) * US), 4000 * US),
        ("multiply(float*)", 1, round((1000 - begin_us) * US), 3000 * US),
        ("libx.so", 1, round((4000 - begin_us) * US), 1000 * US),
        ("main", 0, round((90_000 - begin_us) * US), 1000 * US),
    ]


def test_the_answer_names_the_function_with_most_samples(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(database(tmp_path / "a.sqlite", *SAMPLED)), "--no-cache"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "60.0 % of the samples of the processor are in multiply(float*)" in said
    assert "of a Python program" not in said


def test_a_database_of_scheduling_alone_is_told_so(tmp_path: Path) -> None:
    """Such a file is whole: to copy it again would bring nothing."""
    scheduled = (
        "CREATE TABLE SCHED_EVENTS (start INTEGER, cpu INTEGER, isSchedIn INTEGER)",
        "INSERT INTO SCHED_EVENTS VALUES (1000, 0, 1), (2000, 0, 0), (3000, 0, 1)",
        "CREATE TABLE DIAGNOSTIC_EVENT (timestamp INTEGER, text TEXT)",
        "INSERT INTO DIAGNOSTIC_EVENT VALUES (500, 'begun')",
    )
    with pytest.raises(StepscopeError) as caught:
        ask(database(tmp_path / "a.sqlite", *scheduled), "SELECT 1")
    assert caught.value.happened == "Nothing in the file has a duration."
    assert caught.value.seen == (
        "no kernels, copies, calls, ranges or stacks with their times; it holds 3 rows of SCHED_EVENTS, 1 "
        "row of DIAGNOSTIC_EVENT"
    )
    assert "--trace=cuda,nvtx,osrt" in caught.value.todo
