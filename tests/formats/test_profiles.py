"""Profiles of other tools: spans and samples as slices, and those that are known and cannot be read.

Past 400 lines because it is a list: a format of a tool, and what is read of it."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stepscope
from stepscope import formats
from stepscope.cli import main
from stepscope.formats import _profile_events, memory_timeline
from tests import corpus
from tests.asked import ask
from tests.tiers import cases

SAMPLES = corpus.SAMPLES / "profile"
MS = 10**9


def slices(path: Path, sql: str = "SELECT name, ts_ps, dur_ps, depth FROM slice ORDER BY id") -> list[tuple]:
    return ask(path, sql)


def test_speedscope():
    path = SAMPLES / "py_spy.speedscope.json"
    main, step, load = "main (train.py:40)", "step (train.py:12)", "load (data.py:7)"
    assert slices(path) == [
        (main, 0, 50 * MS, 0),
        (step, 0, 20 * MS, 1),
        (load, 20 * MS, 10 * MS, 1),
        (step, 40 * MS, 10 * MS, 1),
        (load, 5 * MS, 20 * MS, 0),
        (step, 10 * MS, 10 * MS, 1),
    ]
    assert slices(path, "SELECT slug, effect FROM source_note WHERE slug <> 'no-steps'") == [
        ("not-time", "missing")
    ]
    assert slices(path, "SELECT name, kind FROM track ORDER BY id") == [
        ("Thread 1", "thread"),
        ("Thread 2", "thread"),
    ]


def test_speedscope_of_a_clock_that_has_run_for_months(tmp_path):
    """215 days in nanoseconds: more picoseconds than fit, so times count from the first profile's start."""
    path = SAMPLES / "py_spy.speedscope.json"
    begin = 18_598_949_628_207_192
    spans = [("O", 500, 0), ("O", 1000, 1), ("C", 3000, 1), ("C", 9000, 0)]
    profile = {
        "type": "evented", "name": "python", "unit": "nanoseconds", "startValue": begin,
        "endValue": begin + 10_000,
        "events": [{"type": kind, "at": begin + at, "frame": frame} for kind, at, frame in spans],
    }  # fmt: skip
    whole = json.loads(path.read_text()) | {"profiles": [profile]}
    (tmp_path / path.name).write_text(json.dumps(whole))
    assert [span[1:] for span in slices(tmp_path / path.name)] == [
        (500_000, 8_500_000, 0),
        (10**6, 2 * 10**6, 1),
    ]


def test_the_innermost_of_spans_that_begin_and_end_together_has_their_time(tmp_path):
    frames = ["<module>", "train", "step", "sleep"]
    opened = [{"type": "O", "at": 0.0, "frame": frame} for frame in range(len(frames))]
    closed = [{"type": "C", "at": 3.0, "frame": frame} for frame in reversed(range(len(frames)))]
    profile = {
        "type": "evented", "name": "p", "unit": "seconds", "startValue": 0, "endValue": 3.0,
        "events": opened + closed,
    }  # fmt: skip
    whole = {"shared": {"frames": [{"name": name} for name in frames]}, "profiles": [profile]}
    path = tmp_path / "p.speedscope.json"
    path.write_text(json.dumps(whole))
    sql = "SELECT name, depth, self_ps FROM slice ORDER BY depth"
    assert slices(path, sql) == [
        (name, depth, 3000 * MS if name == "sleep" else 0) for depth, name in enumerate(frames)
    ]


def test_cpuprofile():
    path = SAMPLES / "node.cpuprofile"
    us = 10**6
    # A sample stands for the time until the next: 2 at 100, 3 at 200 and 400, idle at 700, 2 from 800 to 900.
    assert slices(path) == [
        ("main (app.js:10)", 100 * us, 600 * us, 0),
        ("(anonymous) (app.js:20)", 200 * us, 500 * us, 1),
        ("main (app.js:10)", 800 * us, 100 * us, 0),
    ]


def test_collapsed_stacks():
    path = SAMPLES / "stacks.collapsed"
    assert slices(path, "SELECT name, dur_ps, self_ps FROM slice ORDER BY id") == [
        ("main", 50 * MS, 0),
        ("load", 15 * MS, 15 * MS),
        ("step", 35 * MS, 5 * MS),
        ("matmul", 30 * MS, 30 * MS),
    ]
    assert ("samples-without-times", "missing") in slices(path, "SELECT slug, effect FROM source_note")


def test_stacks_without_times_take_none(capsys):
    assert main(["summary", "--no-cache", str(SAMPLES / "stacks.collapsed")]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "4 events from 1 source." in shown
    assert "50 samples have no times: each is shown as 1 ms" in shown
    assert "Devices" not in shown


def test_stacks_of_torch_are_microseconds(tmp_path):
    """What export_stacks() of torch.profiler writes: a blank of a name is an underscore, a time a number."""
    path = tmp_path / "profiler_stacks.txt"
    path.write_text(
        "/me/train.py(9):_<module>;/me/model.py(30):_forward 1200\n/me/train.py(9):_<module> 34\n"
        "/me/train.py(9):_<module>;/me/model.py(30):_forward;/me/model.py(31):_norm 6\n"
    )
    assert slices(path, "SELECT name, dur_ps, self_ps FROM slice ORDER BY id") == [
        ("/me/train.py(9): <module>", 1240 * MS // 1000, 34 * MS // 1000),
        ("/me/model.py(30): forward", 1206 * MS // 1000, 1200 * MS // 1000),
        ("/me/model.py(31): norm", 6 * MS // 1000, 6 * MS // 1000),
    ]
    assert slices(path, "SELECT detail FROM source_note WHERE slug = 'samples-without-times'") == [
        ("3 stacks have no times: each is shown as long as its ops took, in alphabetical order",)
    ]


@pytest.mark.parametrize("name", ["py_spy.speedscope.json", "node.cpuprofile", "kernels.rocprofv3.json"])
def test_events_are_the_same_however_many_are_packed_at_once(name, monkeypatch):
    path = SAMPLES / name
    before = slices(path)
    for at_once, texts in ((1, 0), (2, 1)):
        monkeypatch.setattr(_profile_events, "_AT_ONCE", at_once)
        monkeypatch.setattr(_profile_events, "_MOST_TEXTS", texts)
        assert slices(path) == before


def test_rows_whose_numbers_are_equal_but_written_otherwise_stay_apart():
    events = _profile_events.Events()
    for tid in (1, True, 1.0, "1"):
        events.slice("call", 0, 5 * MS, 1, tid)
    assert [json.loads(line)["tid"] for line in events._lines] == [1, True, 1.0, "1"]
    assert len(events._texts) == 4


def test_calls_that_begin_and_end_together_lie_in_their_callers(tmp_path):
    path = tmp_path / "one.collapsed"
    path.write_text("main;step;matmul 5\n")
    assert slices(path, "SELECT name, depth FROM slice ORDER BY depth") == [
        ("main", 0),
        ("step", 1),
        ("matmul", 2),
    ]


def test_rocprofv3():
    path = SAMPLES / "kernels.rocprofv3.json"
    us = 10**6
    assert slices(path, "SELECT name, category, dur_ps, correlation_id FROM slice ORDER BY ts_ps, id") == [
        ("hipLaunchKernel", "hip_runtime", 5 * us, 1),
        ("hipMemcpy", "hip_runtime", 54 * us, 3),
        ("add(float*)", "kernel", 20 * us, 1),
        ("add(float*)", "kernel", 30 * us, 2),
        ("Memcpy HOST_TO_DEVICE", "gpu_memcpy", 10 * us, 3),
    ]
    from stepscope import library

    (gpu,) = slices(path, f"SELECT * FROM ({library.sql('busy_by_device')}) WHERE place = 'device'")
    columns = [column.name for column in library.entry("busy_by_device").columns]
    row = dict(zip(columns, gpu, strict=True))
    # 20 + 30 + 10 µs of kernels and a copy, of which 10 lie upon one another, in 70 µs.
    assert (row["device"], row["executions"], row["sum_ps"], row["busy_ps"]) == ("GPU 1", 3, 60 * us, 50 * us)
    assert row["window_ps"] == 70 * us


def test_kernels_of_rocprofv3_as_a_table():
    us = 10**6
    asked = (
        "SELECT s.name, s.category, s.dur_ps, s.correlation_id, t.kind, t.name, d.name, d.kind "
        "FROM slice AS s INNER JOIN track AS t ON t.id = s.track_id "
        "INNER JOIN device AS d ON d.id = t.device_id ORDER BY s.ts_ps"
    )
    add, of_gpu = "add(float*, int)", ("GPU 1", "gpu")
    assert slices(SAMPLES / "kernels.rocprofv3.csv", asked) == [
        (add, "kernel", 20 * us, 1, "device_stream", "stream 2", *of_gpu),
        (add, "kernel", 30 * us, 2, "device_stream", "stream 2", *of_gpu),
        ("Cijk_Ailk_Bljk_SB_MT64x64", "kernel", 20 * us, 3, "device_stream", "stream 3", *of_gpu),
    ]


V1 = '"Index","KernelName","gpu-id","queue-id","BeginNs","EndNs","DurationNs"'
COPIES = (
    '"Kind","Direction","Source_Agent_Id","Destination_Agent_Id","Correlation_Id","Start_Timestamp",'
    '"End_Timestamp"'
)
CALLS = '"Domain","Function","Process_Id","Thread_Id","Correlation_Id","Start_Timestamp","End_Timestamp"'


@pytest.mark.parametrize(
    ("header", "lines", "expected"),
    [
        (
            V1,
            ['0,"add(float*, int) [clone .kd]",0,1,1000,3000,2000', "1,broken,0,1,later,3000,0"],
            [("add(float*, int)", "kernel", 2 * 10**6, "GPU 0 stream 1")],
        ),
        (
            COPIES,
            [
                '"MEMORY_COPY","MEMORY_COPY_DEVICE_TO_HOST","Agent 4","Agent 0",1,1000,3000',
                '"MEMORY_COPY","MEMORY_COPY_HOST_TO_DEVICE","Agent 0","Agent 4",2,4000,5000',
            ],
            [
                ("Memcpy DEVICE_TO_HOST", "gpu_memcpy", 2 * 10**6, "GPU 4 stream of copies"),
                ("Memcpy HOST_TO_DEVICE", "gpu_memcpy", 10**6, "GPU 4 stream of copies"),
            ],
        ),
        (
            CALLS,
            ['"HIP_RUNTIME_API","hipLaunchKernel",7,8,1,1000,3000'],
            [("hipLaunchKernel", "hip_runtime", 2 * 10**6, "process 7 thread 8")],
        ),
    ],
)
def test_tables_of_rocprof(tmp_path, header, lines, expected):
    path = tmp_path / "results.csv"
    path.write_text("\n".join([header, *lines, ""]))
    asked = (
        "SELECT s.name, s.category, s.dur_ps, t.process || ' ' || t.name FROM slice AS s "
        "INNER JOIN track AS t ON t.id = s.track_id ORDER BY s.ts_ps"
    )
    assert slices(path, asked) == expected
    lost = len(lines) - len(expected)
    assert slices(path, "SELECT events_seen, events_lost FROM source") == [(len(lines), lost)]


KERNELS = (
    '"Kind","Agent_Id","Queue_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name","Correlation_Id",'
    '"Start_Timestamp","End_Timestamp"'
)


def test_the_tables_of_a_recording_are_one(tmp_path):
    """What rocprofv3 writes of two processes: kernels lie beside the calls that launched them."""
    for process in (11, 12):
        calls = f'"HIP_RUNTIME_API","hipLaunchKernel",{process},8,5,1000,3000'
        tables = {
            "hip_api": (CALLS, calls),
            "kernel": (KERNELS, '"KERNEL_DISPATCH","Agent 4",1,8,1,16,"add(float*)",5,4000,9000'),
            "memory_copy": (
                COPIES,
                '"MEMORY_COPY","MEMORY_COPY_HOST_TO_DEVICE","Agent 0","Agent 4",6,500,700',
            ),
        }
        for table, (header, line) in tables.items():
            (tmp_path / f"{process}_{table}_trace.csv").write_text(f"{header}\n{line}\n")
    (tmp_path / "kernel_trace.csv").write_text(
        f'{KERNELS}\n"KERNEL_DISPATCH",1,1,8,1,16,"alone",5,77000,78000\n'
    )
    asked = "SELECT source_id, name, ts_ps FROM slice ORDER BY source_id, ts_ps"
    ns = 1000
    first = [("Memcpy HOST_TO_DEVICE", 0), ("hipLaunchKernel", 500 * ns), ("add(float*)", 3500 * ns)]
    found = [(number, *row) for number in (0, 1) for row in first]
    assert slices(tmp_path, asked) == [*found, (2, "alone", 0)]
    sources = "SELECT path, events_stored FROM source ORDER BY path"
    assert [(Path(path).name, stored) for path, stored in slices(tmp_path, sources)] == [
        ("11_hip_api_trace.csv", 3),
        ("12_hip_api_trace.csv", 3),
        ("kernel_trace.csv", 1),
    ]
    # A table that is named stands for itself.
    assert len(slices(tmp_path / "11_kernel_trace.csv", asked)) == 1


def test_a_damaged_table_beside_a_good_one_is_said(tmp_path):
    (tmp_path / "11_kernel_trace.csv").write_text(
        f'{KERNELS}\n"KERNEL_DISPATCH",1,1,8,1,16,"add",5,4000,9000\n'
    )
    (tmp_path / "11_hip_api_trace.csv").write_text(f'{CALLS}\n"HIP_RUNTIME_API","hipFree",7,8,5,later,3000\n')
    assert slices(tmp_path, "SELECT name FROM slice") == [("add",)]
    assert slices(tmp_path, "SELECT events_seen, events_lost FROM source") == [(2, 1)]


def test_other_tables_are_no_recordings(tmp_path):
    path = tmp_path / "losses.csv"
    path.write_text('step,loss\n1,0.5\n"2,0.25\n')
    with pytest.raises(stepscope.errors.NothingFound):
        slices(path)


@pytest.mark.parametrize("rows", ["", "1,add,0,0,soon,later,0\n"])
def test_a_table_without_times_is_damaged(tmp_path, rows):
    path = tmp_path / "results.csv"
    path.write_text(f"{V1}\n{rows}")
    with pytest.raises(stepscope.errors.StepscopeError, match="no kernels, copies or calls"):
        slices(path)


def test_times_that_add_up_to_more_than_a_number_holds_are_told_as_the_largest(tmp_path):
    """Horovod has been seen to write marks of nine days, one in another."""
    from stepscope import library

    nine_days_us = 812_355 * 10**6
    mark = {"ph": "X", "name": "4", "pid": 1, "dur": nine_days_us}
    path = tmp_path / "horovod.json"
    path.write_text(json.dumps([{**mark, "ts": 5 + at, "dur": nine_days_us - 2 * at} for at in range(12)]))
    (row,) = slices(path, library.sql("slices_by_name"))
    columns = [column.name for column in library.entry("slices_by_name").columns]
    told = dict(zip(columns, row, strict=True))
    assert (told["total_ps"], told["max_ps"], told["slices"]) == (2**63 - 1, nine_days_us * 10**6, 12)


MEMORY = "SELECT ts_ps, series, value FROM counter WHERE value <> 0 ORDER BY ts_ps, id"


def test_memory_timeline():
    """Sizes by category, in microseconds."""
    at_first = [("parameter", 4096), ("input", 1024), ("unknown", 512)]
    rows = slices(SAMPLES / "memory.json", MEMORY)
    assert sorted(row[1:] for row in rows if row[0] == 0) == sorted(at_first)
    assert sorted(row[1:] for row in rows if row[0] == 4 * MS) == sorted([*at_first, ("gradient", 4096)])
    assert sorted({row[0] for row in rows}) == [0, MS, 2.5 * MS, 4 * MS]


def test_raw_memory_timeline():
    """Changes, in nanoseconds; what was there before is there from the first moment on."""
    rows = slices(SAMPLES / "memory.raw.json", MEMORY)
    held = {at: {series: value for when, series, value in rows if when == at} for at, _, _ in rows}
    always = {"parameter": 4096, "input": 1024, "unknown": 512}
    assert held == {
        0: always,
        MS // 2: {**always, "activation": 8192},
        3 * MS // 2: {**always, "temporary": 8192},
        2 * MS: always,
    }


@pytest.mark.parametrize(
    ("name", "peak", "when", "holders"),
    [
        ("memory.json", 19968, 2_500_000_000, [8192, 4096, 4096, 2048, 1024, 512]),
        ("memory.raw.json", 13824, MS // 2, [8192, 4096, 1024, 512]),
    ],
)
def test_the_peak_of_a_memory_timeline(name, peak, when, holders, capsys):
    """By hand: the moment at which the categories add up to most, and what each of them holds then."""
    sums: dict[int, int] = {}
    for at, _, value in slices(SAMPLES / name, MEMORY):
        sums[at] = sums.get(at, 0) + int(value)
    assert (max(sums.values()), min(at for at in sums if sums[at] == max(sums.values()))) == (peak, when)
    assert main(["memory", str(SAMPLES / name), "--format", "json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)["allocators"]
    assert (told["peak_bytes"], told["peak_ps"]) == (peak, when)
    assert [row["bytes"] for row in told["at_peak"]["by_kind"]] == holders
    assert [point["bytes"] for point in told["curve"]][-1] == sums[max(sums)]
    assert main([str(SAMPLES / name)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"The peak of memory is {peak / 1024:.1f} KiB, first reached " in said
    assert "8.00 KiB activations, 4.00 KiB parameters" in said
    assert "step" not in said.partition("Evidence")[0].replace("no-steps", "")
    assert f"stepscope memory {SAMPLES / name}" in said


@given(st.lists(st.lists(st.integers(0, 9), min_size=8, max_size=8), min_size=1, max_size=9))
@settings(max_examples=cases(6, 25), deadline=None)
def test_blocks_of_sizes_add_up_to_them(tmp_path_factory, drawn: Any):
    """At every moment, by category, whatever grows and shrinks."""
    path = tmp_path_factory.mktemp("m") / "m.json"
    path.write_text(json.dumps([list(range(1, len(drawn) + 1)), [[0, *sizes] for sizes in drawn]]))
    blocks = slices(path, "SELECT kind, bytes, born_ps, freed_ps, at_peak FROM buffer")
    for number, sizes in enumerate(drawn):
        at = number * 10**6
        held = dict.fromkeys(memory_timeline.CATEGORIES, 0)
        for kind, size, born, freed, _ in blocks:
            held[kind] += size if born <= at and (freed is None or freed >= at) else 0
        assert list(held.values()) == sizes
    assert sum(size for _, size, _, _, at_peak in blocks if at_peak) == max(map(sum, drawn))


def test_odd_entries_of_a_memory_timeline_are_counted(tmp_path):
    path = tmp_path / "m.json"
    zeros = [0] * 9
    sizes = [zeros, zeros, [0, 1], [0] * 8 + [True], [0] * 8 + [7]]
    path.write_text(json.dumps([[1, 2, 3, 4, 5], sizes]))
    assert slices(path, MEMORY) == [(4_000_000, "unknown", 7)]
    told = "SELECT events, detail FROM source_note WHERE slug = 'damaged-line'"
    assert slices(path, told) == [(2, "2 entries lack numbers")]
    assert slices(path, "SELECT events_seen, events_stored, events_lost FROM source") == [(5, 3, 2)]


def test_a_thread_in_no_function_was_sampled_too(tmp_path):
    """py-spy writes a blank and a count for it."""
    path = tmp_path / "raw.txt"
    path.write_text("main (a.py:1);step (a.py:2) 3\nmain (a.py:1);load (a.py:4) 1\n 2\n")
    assert slices(path, "SELECT sum(dur_ps) FROM slice WHERE name = '(no function)'") == [(2 * 10**9,)]
    assert slices(path, "SELECT events_lost FROM source") == [(0,)]


def test_each_profile_has_one_owner():
    owners = {
        path.name: [one.NAME for one in formats.formats() if one.sniff(path.read_bytes()[:65536], path.stem)]
        for path in SAMPLES.iterdir()
        if path.suffix != ".gz"
    }
    assert owners == {
        "py_spy.speedscope.json": ["speedscope"],
        "node.cpuprofile": ["cpuprofile"],
        "stacks.collapsed": ["collapsed"],
        "kernels.rocprofv3.json": ["rocprofv3"],
        "kernels.rocprofv3.csv": ["rocprof_csv"],
        "memory.json": ["memory_timeline"],
        "memory.raw.json": ["memory_timeline"],
    }


@pytest.mark.parametrize(
    ("name", "content", "kind", "todo"),
    [
        (
            "et.json",
            {"schema": "1.1.1-chakra.0.0.4", "nodes": [{"ctrl_deps": 1}]},
            "Chakra",
            "export_chrome_trace",
        ),
        (
            "et_of_pytorch.json",
            {"schema": "1.0.1", "pid": 1, "nodes": [{"id": 2, "rf_id": 0}]},
            "PyTorch",
            "export_chrome_trace",
        ),
        (
            "chakra.0.json",
            {"workload_graph": [{"Id": 216, "Name": "aten::add", "NodeType": 4, "data_deps": []}]},
            "Chakra",
            "export_chrome_trace",
        ),
        (
            "chakra.0.et",
            b"\x1a\x12\x10\n\x06schema\xea\x01\x051.0.1\x12\x06\n\x03pid",
            "Chakra",
            "export_chrome",
        ),
        (
            "bs32",
            b"==18148== NVPROF is profiling process 18148, command: python t.py\n",
            "nvprof",
            "nsys export",
        ),
        (
            "top_kernel.nvvp",
            b"SQLite format 3\x00" + bytes(84) + b"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(_id_ INTEGER)"
            b"CREATE TABLE StringTable(_id_ INTEGER)",
            "nvprof",
            "nsys export",
        ),
        ("samply.json", {"meta": {"categories": [], "processType": 0}}, "Firefox profile", "py-spy"),
        ("vm.input_pipeline.pb", b"\n\x10abcdefgh\x12\x05", "TensorBoard page", ".xplane.pb"),
        ("model.weights.keras", b"\x89HDF\r\n\x1a\n", "Keras model", "checkpoint"),
        ("p.json", {"meta": {"interval": 1, "preprocessedProfileVersion": 44}}, "Firefox profile", "py-spy"),
        ("vm.memory_profile.json.gz", b'{"memoryIds":["GPU_0_bfc"]}', "TensorBoard page", ".xplane.pb"),
        ("vm.tensorflow_stats.pb", b"\n\x10abcdefgh", "TensorBoard page", ".xplane.pb"),
        ("vm.overview_page.pb", b"\n\x10abcdefgh", "TensorBoard page", ".xplane.pb"),
        ("model.h5", b"\x89HDF\r\n\x1a\n", "Keras model", "checkpoint"),
    ],
)
def test_what_cannot_be_read_has_a_name(tmp_path, name, content, kind, todo):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    with pytest.raises(stepscope.errors.NothingFound) as caught:
        stepscope.open(path, cache=False).query("SELECT 1")
    assert kind in caught.value.seen
    assert todo in caught.value.todo


@pytest.mark.parametrize("name", sorted(path.name for path in SAMPLES.iterdir()))
@settings(max_examples=cases(8, 40), deadline=None)
@given(data=st.data())
def test_damage_ends_in_a_result_or_in_an_error_of_ours(tmp_path_factory, name, data: Any):
    whole = bytearray((SAMPLES / name).read_bytes())
    for _ in range(data.draw(st.integers(0, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(
            st.sampled_from(b'0-9"{}[],;:en \x00\xff')
        )
    cut = data.draw(st.integers(0, len(whole)))
    path = tmp_path_factory.mktemp("damaged") / f"{name}.gz"
    path.write_bytes(gzip.compress(bytes(whole[:cut]), 1))
    try:
        found = slices(path, "SELECT min(dur_ps), min(self_ps) FROM slice")
    except stepscope.errors.StepscopeError:
        return
    assert all(value is None or value >= 0 for value in found[0])
