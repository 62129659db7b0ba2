"""Peaks of devices, the least time of ops, and what is said of them."""

import json
from pathlib import Path
from typing import Any

import pytest

from stepscope import cli, library, reference
from stepscope.cli import peak
from stepscope.errors import UsageError
from stepscope.instruments.roofline import devices, of_torch, of_xla, roofs, summed, table, torch_lines
from stepscope.report import pricing, roofline
from stepscope.session.trace import open as open_trace
from tests.corpus import SAMPLES

H100 = {"id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85018279936, "numSms": 132}


@pytest.mark.parametrize(
    ("name", "device"),
    [
        ("NVIDIA A100-SXM4-40GB", "NVIDIA A100 40 GB"),
        ("NVIDIA A100-SXM4-80GB", "NVIDIA A100 80 GB SXM"),
        ("NVIDIA A100 80GB PCIe", "NVIDIA A100 80 GB PCIe"),
        ("NVIDIA H100 80GB HBM3", "NVIDIA H100 SXM"),
        ("NVIDIA H100 PCIe", "NVIDIA H100 PCIe"),
        ("Tesla V100-SXM2-16GB", "NVIDIA V100 SXM2"),
        ("NVIDIA A10G", "NVIDIA A10G"),
        ("NVIDIA L40S", "NVIDIA L40S"),
        ("NVIDIA GeForce RTX 3090 Ti", "NVIDIA GeForce RTX 3090 Ti"),
        ("AMD Instinct MI300X", "AMD Instinct MI300X"),
        ("TPU v5 lite", "Google TPU v5e"),
        ("TPU v6 Lite", "Google TPU v6e"),
    ],
)
def test_devices_by_their_names(name: str, device: str) -> None:
    assert [one.name for one in devices.fitting({"name": name})] == [device]


def test_other_devices_of_the_same_name_are_not_known() -> None:
    for name in ("NVIDIA GeForce RTX 4080 SUPER", "NVIDIA A100-SXM4-40GB MIG 1g.5gb", "Quadro P400", "T4000"):
        assert devices.fitting({"name": name}) == []
    assert devices.peaks({"name": "Quadro P400"}) is None


def test_of_several_that_it_may_be_the_slowest_counts() -> None:
    found = devices.peaks({"name": "NVIDIA A100"})
    assert found.memory == 1555e9
    by_size = devices.peaks({"name": "NVIDIA A100", "totalGlobalMem": 85_000_000_000})
    assert by_size.memory == 1935e9


def test_devices_of_one_name_are_told_apart_by_their_memory() -> None:
    small, large = ({"name": "NVIDIA GH200 480GB", "totalGlobalMem": size * 10**9} for size in (95, 143))
    assert [devices.peaks(one).memory for one in (small, large)] == [4000e9, 4900e9]  # type: ignore[union-attr]
    assert devices.peaks({"name": "NVIDIA GH200 480GB"}).memory == 4000e9  # type: ignore[union-attr]


def test_what_the_recording_tells_comes_first() -> None:
    told = devices.peaks(
        {
            "device_type_string": "TPU v6 Lite",
            "peak_teraflops_per_second": 900.0,
            "peak_hbm_bw_gigabytes_per_second": 1600.0,
        }
    )
    assert (told.of("bf16"), told.of("f32"), told.of("i8"), told.memory) == (900e12, 900e12, 1836e12, 1600e9)
    assert told.told_by == "the recording, devices.csv: Google TPU v6e"


def test_a_gpu_without_a_name_is_known_by_what_it_consists_of() -> None:
    v100 = {"clock_rate": 765_000, "core_count": 80, "memory_bandwidth": 898_048_000_000,
            "memory_size": 16_945_512_448, "compute_cap_major": 7, "compute_cap_minor": 0}  # fmt: skip
    found = devices.peaks(v100)
    assert found.of("f16") == 62.5e12  # at half of the clock
    assert found.memory == 898.048e9
    mi300 = {"device_vendor": "AMD", "clock_rate": 2_100_000, "core_count": 304,
        "memory_size": 206_141_652_992,
             "memory_bandwidth": 2_662_400_000_000, "compute_cap_major": 9,
                 "compute_cap_minor": 4}  # fmt: skip
    found = devices.peaks(mi300)
    assert found.memory == 5300e9  # the recorder does not know that this memory moves four times at each beat
    unknown = devices.peaks({"core_count": 7, "memory_bandwidth": 10**11})
    assert (unknown.of("f32"), unknown.memory) == (None, 1e11)


def test_every_device_has_its_source() -> None:
    page = reference.look_up("devices")
    for one in devices.devices():
        assert one.source.startswith("https://")
        assert one.flops
        assert one.memory > one.link * 0.99
        assert f"| {one.name} |" in page
    assert "https://" in reference.look_up("NVIDIA H200")
    assert devices.peaks({"name": "Tesla T4"}).of("f8") == 65e12  # type: ignore[union-attr]


def test_the_slower_of_both_binds() -> None:
    assert roofs.least(2e12, 1e9, 1e12, 1e9) == ("compute", 2 * 10**12)
    assert roofs.least(1e9, 3e9, 1e12, 1e9) == ("memory", 3 * 10**12)


PEAKS = devices.DevicePeaks("one", {"f32": 1e12, "tf32": 8e12, "f16": 16e12}, 1e9, "somebody")


def told(**values: Any) -> dict[str, Any]:
    one = {"number_type": None, "flops": 0.0, "bytes": 0.0, "self_ps": 10**9, "problem": None, **values}
    return table.bounded_columns(one, PEAKS)


def test_an_op_that_is_faster_than_its_peaks_has_no_share() -> None:
    assert told(bytes=0.5e6)["least_ps"] == 5 * 10**8
    assert told(bytes=1e6)["least_ps"] == 10**9
    fast = told(bytes=2e6)
    assert (fast["least_ps"], fast["bound"], fast["problem"]) == (None, None, table.FASTER)


def test_floats_that_are_multiplied_faster_than_they_can_be_were_shortened() -> None:
    assert told(number_type="f32", flops=0.5e9)["peak_flops"] == 1e12
    short = told(number_type="f32", flops=4e9)
    assert (short["number_type"], short["peak_flops"], short["least_ps"]) == ("tf32", 8e12, 5 * 10**8)


def test_types_that_a_device_does_not_know_have_the_peak_of_wider_ones() -> None:
    assert PEAKS.of("bf16") == 16e12
    assert PEAKS.of("i8") == 16e12
    assert PEAKS.of("f64") is None
    assert told(number_type="f64", flops=1e6, bytes=1.0)["problem"] == table.NO_PEAKS


def shaped(name: str, inputs: list[list[int]], kind: str = "c10::BFloat16") -> dict[str, Any]:
    return {"name": name, "dims": inputs, "kind": kind}


def recording(
    path: Path,
    ops: list[dict[str, Any]],
    kernel_us: float = 100.5,
    device: Any = H100,
    calls: tuple[str, ...] = (),
    pause_us: float = 0.0,
) -> str:
    """Steps of PyTorch, each of which launches a kernel for each op, within calls of Python. pause_us: from
    the end of a step to the next."""
    events: list[dict[str, Any]] = []
    at, number = 0.0, 0
    for step in range(12):
        begin = at
        for op in ops:
            number += 1
            own = {"correlation": number, "External id": number}
            shapes = {
                "Input Dims": op["dims"],
                "Input type": [op["kind"]] * len(op["dims"]),
                "Ev Idx": number,
            }
            call = {"ph": "X", "pid": 7, "tid": 7}
            for depth, name in enumerate(calls):
                events.append({**call, "cat": "python_function", "name": name, "ts": at + 0.5 + depth / 10,
                               "dur": 9.0 - depth / 5})  # fmt: skip
            events.append({**call, "cat": "cpu_op", "name": op["name"], "ts": at + 1.5, "dur": 6.0,
                           "args": {"External id": number, **shapes}})  # fmt: skip
            events.append({**call, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": at + 2.5,
                "dur": 3.0,
                           "args": own})  # fmt: skip
            events.append({"ph": "X", "cat": "kernel", "name": "kernel", "pid": 0, "tid": 9, "ts": at + 5.5,
                           "dur": kernel_us, "args": {**own, "device": 0, "stream": 9}})  # fmt: skip
            at += kernel_us + 1.0
        at += 10.0
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 7,
            "tid": 7,
                       "ts": begin, "dur": at - begin})  # fmt: skip
        at += pause_us
    path.write_text(
        json.dumps(
            {"schemaVersion": 1, "deviceProperties": [device] if device else [], "traceEvents": events}
        )
    )
    return str(path)


MM = shaped("aten::mm", [[512, 512], [512, 512]])
MM_FLOPS, MM_BYTES = 2 * 512**3, 3 * 512 * 512 * 2


def test_kernels_count_to_the_op_that_launched_them(tmp_path: Path) -> None:
    path = recording(tmp_path / "one.json", [MM, shaped("triton_add", [[4]]), MM])
    with open_trace(path, cache=False) as trace:
        rows = summed.costs(trace.query)
        (used,) = summed.uses(rows, trace.query)
        found = {row["op"]: row for row in summed.grouped(rows, "op")}
    mm, generated = found["aten::mm"], found["triton_add"]
    runs = mm["executions"]
    assert runs % 2 == 0
    assert generated["executions"] * 2 == runs
    assert mm["self_ps"] == runs * 100_500_000
    assert (mm["flops"], mm["bytes"]) == (runs * MM_FLOPS, runs * MM_BYTES)
    assert mm["bound"] == "memory"
    assert mm["least_ps"] == pytest.approx(runs * MM_BYTES / 3350e9 * 1e12, abs=1)
    assert (generated["flops"], generated["least_ps"]) == (None, None)
    assert used.unknown_ps * 3 == used.computing_ps
    assert used.mfu == pytest.approx(runs * MM_FLOPS / 989.4e12 / (used.window_ps / 1e12))
    assert used.flops == runs * MM_FLOPS


def test_ops_have_the_innermost_function_of_the_program_that_calls_them(tmp_path: Path) -> None:
    linear = "/env/lib/python3.12/site-packages/torch/nn/modules/linear.py(131): forward"
    calls = ("/src/train.py(12): train", "/src/model.py(40): forward", "nn.Module: Linear_0", linear)
    path = recording(tmp_path / "traced.json", [MM], calls=calls)
    with open_trace(path, cache=False) as trace:
        (row,) = summed.grouped(summed.costs(trace.query), "line")
        shown = roofline.build(trace, "t").headline
        (finding,) = trace.ask(library.entry("far_from_peak")).rows()
        assert "/src/model.py:40" in finding
    assert (row["file"], row["line"], row["op"]) == ("/src/model.py", 40, "aten::mm")
    assert any("aten::mm (model.py:40)" in sentence for sentence in shown)
    with open_trace(recording(tmp_path / "plain.json", [MM]), cache=False) as trace:
        (row,) = summed.grouped(summed.costs(trace.query), "line")
    assert row["file"] is None


def test_a_function_is_one_whichever_threads_call_it(tmp_path: Path) -> None:
    calls = ("/src/train.py(12): train",)
    path = Path(recording(tmp_path / "traced.json", [MM], calls=calls))
    told = json.loads(path.read_text())
    for event in told["traceEvents"][len(told["traceEvents"]) // 2 :]:
        event["tid"] = 8 if event["cat"] in ("python_function", "cpu_op", "cuda_runtime") else event["tid"]
    for event in told["traceEvents"]:
        if event["cat"] == "cpu_op":  # what numbers executions makes each a kind of its own
            del event["args"]["Ev Idx"], event["args"]["External id"]
    path.write_text(json.dumps(told))
    with open_trace(str(path), cache=False) as trace:
        found = torch_lines.called(trace.query, trace.stream)
        (row,) = summed.grouped(summed.costs(trace.query), "line")
    ((of_one,),) = found.values()
    assert (of_one.line.file, of_one.line.line) == ("/src/train.py", 12)
    assert (of_one.executions, of_one.took_ps) == (row["executions"], row["self_ps"])


def test_ops_on_processors_count_where_they_run(tmp_path: Path) -> None:
    """linear calls addmm: the product counts once, with the time of addmm itself, not that of its copy."""
    events: list[dict[str, Any]] = []
    for step in range(4):
        ops = (
            ("aten::linear", 0.0, 100.0, [[8, 32], [16, 32], [16]]),
            ("aten::addmm", 4.0, 94.0, [[16], [8, 32], [32, 16], [], []]),
            ("aten::copy_", 5.0, 10.0, [[8, 16], [16], []]),
        )
        own = {"ph": "X", "pid": 7, "tid": 7}
        for name, at, dur, dims in ops:
            args = {"Input Dims": dims, "Input type": ["float"] * 3 + ["Scalar"] * (len(dims) - 3)}
            events.append({**own, "cat": "cpu_op", "name": name, "ts": 1000.0 * step + at, "dur": dur,
                           "args": args})  # fmt: skip
        events.append({**own, "cat": "user_annotation", "name": f"ProfilerStep#{step}", "ts": 1000.0 * step,
                       "dur": 1000.0})  # fmt: skip
    path = tmp_path / "cpu.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    with open_trace(path, cache=False) as trace:
        rows = summed.costs(trace.query, (1e9, 1e9))
        (used,) = summed.uses(rows, trace.query)
        found = {row["op"]: row for row in summed.grouped(rows, "op")}
    runs = found["aten::addmm"]["executions"]
    assert found["aten::addmm"]["self_ps"] == runs * 84 * 10**6
    assert found["aten::addmm"]["flops"] == used.flops == runs * 2 * 8 * 32 * 16
    assert found["aten::addmm"]["bytes"] == runs * 4 * (16 + 8 * 32 + 32 * 16 + 8 * 16)
    assert found["aten::linear"]["problem"] == of_torch.IN_CALLED
    assert used.computing_ps == runs * 100 * 10**6
    assert used.mfu == pytest.approx(runs * 2 * 8 * 32 * 16 / 1e9 / (used.window_ps / 1e12))


def test_a_device_that_counts_by_its_own_clock_is_believed(tmp_path: Path) -> None:
    """On a TPU's timeline, an instruction after a wait may be shortened to nothing; the profiler keeps what
    the device counted beside it. The loop has instructions within: its own time stays what is left of it."""
    events: list[dict[str, Any]] = [
        {"ph": "M", "pid": 3, "name": "process_name", "args": {"name": "/device:TPU:0"}},
        {"ph": "M", "pid": 3, "tid": 1, "name": "thread_name", "args": {"name": "XLA Ops"}},
    ]
    for number, (name, begin, dur, counted) in enumerate(
        [("add.1", 0, 100, 100), ("add.1", 200, 0, 100), ("loop.2", 300, 100, 400), ("mul.3", 310, 50, 60)]
    ):
        own = {"hlo_op": name, "hlo_module": "jit_f", "device_duration_ps": counted * 10**6, "n": number}
        events.append({"ph": "X", "pid": 3, "tid": 1, "name": name, "ts": begin, "dur": dur, "args": own})
    path = tmp_path / "tpu.json"
    path.write_text(json.dumps({"displayTimeUnit": "ns", "traceEvents": events}))
    with open_trace(path, cache=False) as trace:
        rows = summed.costs(trace.query)
    took = {row["op_name"]: (row["executions"], row["self_ps"] // 10**6) for row in rows}
    assert took == {"add.1": (2, 200), "loop.2": (1, 50), "mul.3": (1, 60)}


def test_peaks_can_be_given(tmp_path: Path) -> None:
    path = recording(tmp_path / "one.json", [MM], device=None)
    with open_trace(path, cache=False) as trace:
        (without,) = summed.grouped(summed.costs(trace.query), "op")
        (row,) = summed.grouped(summed.costs(trace.query, (5e12, 1e12)), "op")
        report = roofline.build(trace, "t")
    assert (without["least_ps"], without["problem"]) == (None, table.NO_PEAKS)
    assert row["problem"] is None
    assert row["bound"] == "compute"
    assert row["least_ps"] == pytest.approx(row["executions"] * MM_FLOPS / 5e12 * 1e12, abs=1)
    assert "--peak" in report.headline[0]


def test_the_finding_needs_time_that_the_device_could_save(tmp_path: Path) -> None:
    slow = recording(tmp_path / "slow.json", [MM])
    short = recording(tmp_path / "short.json", [MM], kernel_us=15.5)  # launching limits such
    nearly = recording(tmp_path / "near.json", [shaped("aten::add", [[2**26]])], kernel_us=100.5)
    unknown = recording(tmp_path / "unknown.json", [MM], device=None)
    found = {}
    for name, path in (("slow", slow), ("short", short), ("near", nearly), ("unknown", unknown)):
        with open_trace(path, cache=False) as trace:
            answer = trace.ask(library.entry("far_from_peak"))
            found[name] = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows()]
    assert [name for name, rows in found.items() if rows] == ["slow"]
    (row,) = found["slow"]
    assert row["severity"] == "medium"
    assert row["what"] == "aten::mm"
    assert row["impact_ps"] == row["took_ps"] - row["needed_ps"]
    assert row["roof_share"] == pytest.approx(row["needed_ps"] / row["took_ps"])


def test_compiled_programs_tell_what_instructions_cost() -> None:
    with open_trace(SAMPLES / "gpu" / "jax_graph.xplane.pb.gz", cache=False) as trace:
        rows = summed.costs(trace.query)
    assert rows
    programs = [row for row in rows if row["counted_by"] == "program"]
    assert programs
    assert all(row["flops"] >= 0 and row["bytes"] >= 0 for row in programs)
    for row in rows:
        assert row["least_ps"] is None or 0 <= row["least_ps"] <= row["self_ps"]
        assert (row["counted_by"] is None) == (row["flops"] is None)
        assert row["problem"] or row["bound"] or not (row["flops"] or row["bytes"])


def made(shape: str, *operands: str, target: str = "") -> of_xla.Made:
    return of_xla.Made("custom-call" if target else "parameter", shape, operands, target)


@pytest.mark.parametrize(
    ("a", "b", "c", "flops", "moved"),
    [
        ("bf16[3,4]{1,0}", "bf16[4,5]{1,0}", "(bf16[3,5]{1,0}, s8[4096]{0})", 120.0, 94.0),
        ("f32[7,3,4]{2,1,0}", "f32[7,4,5]{2,1,0}", "f32[7,3,5]{2,1,0}", 840.0, 1316.0),
    ],
)
def test_products_that_a_library_makes(a: str, b: str, c: str, flops: float, moved: float) -> None:
    own = {"a": made(a), "b": made(b)}
    product = made(c, "a", "b", target="__cublas$gemm")
    assert of_xla._product(product, own) == (flops, moved)
    assert of_xla._product(made(c, "a", "b", target="other"), own) is None
    assert of_xla._product(made(c, "a", target="__cublas$gemm"), own) is None
    assert of_xla._product(made("f32[9]{0}", "a", "b", target="__cublas$gemm"), own) is None


def test_bytes_of_the_devices_own_memory() -> None:
    # {1: {1: 2, 2: 1, 3: 5368709120}} as a TPU's profiler writes it
    assert of_xla._memory_bytes("CgoIAhABGICAgIAU") == 5368709120
    assert of_xla._memory_bytes("CgoIAhACGICAgIAU") == 0
    for wrong in ("not base64!", "CgoI"):
        with pytest.raises(ValueError):  # noqa: PT011 - protobuf's or base64's own words
            of_xla._memory_bytes(wrong)


def test_the_verb(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = recording(tmp_path / "one.json", [MM])
    assert cli.main(["roofline", "--no-cache", path, "--format", "json", "--price", "2.10/hx8"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["ops"][0]["op"] == "aten::mm"
    assert document["devices"][0]["mfu"] > 0
    assert cli.main(["roofline", "--no-cache", path, "--by", "shape", "--peak", "1T,1G"]) == 0
    shown = capsys.readouterr().out
    assert "aten::mm" in shown
    assert f"stepscope roofline {path} --by shape --peak 1T,1G --all" in shown
    assert cli.main(["roofline", "--no-cache", str(SAMPLES / "graph" / "small.pb")]) == 2
    assert roofline.NOTHING in capsys.readouterr().err


def test_shares_name_the_time_that_they_are_part_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """12 steps of 111.5 µs, of which the kernel takes 100.5; then with 1 ms between them."""
    assert cli.main(["roofline", "--no-cache", recording(tmp_path / "near.json", [MM])]) == 0
    assert "Ops compute for 90.1 % of the time of 12 steps." in capsys.readouterr().out
    apart = recording(tmp_path / "apart.json", [MM], pause_us=1000.0)
    assert cli.main(["roofline", "--no-cache", apart]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "Ops compute for 9.8 % of the 12.3 ms from the first of 12 steps to the end of the last." in shown


def test_what_is_hardly_anything_is_no_bound(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = recording(tmp_path / "one.json", [shaped("aten::mm", [[2, 2], [2, 2]]), shaped("triton", [[4]])])
    assert cli.main(["roofline", "--no-cache", path]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "GPU 0 does at least 0 % of the operations that it could" in shown
    assert "moves at least 0 % of the bytes" in shown


def test_a_launch_without_an_op_is_no_launch_that_lacks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = Path(recording(tmp_path / "one.json", [MM]))
    document = json.loads(path.read_text())
    document["traceEvents"] = [e for e in document["traceEvents"] if e.get("cat") != "cpu_op"]
    path.write_text(json.dumps(document))
    assert cli.main(["roofline", "--no-cache", str(path)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "What ops of GPU 0 compute is not known: no op is recorded that launched the kernel." in shown


@pytest.mark.parametrize("text", ["1T,1G", "989.4T,3350G", "200,1.5k", "2P,819G", "measured"])
def test_peaks_are_written_as_they_are_given(text: str) -> None:
    given = peak.peaks(text)
    assert peak.peaks(peak.text(given)) == given


@pytest.mark.parametrize(
    ("text", "day"),
    [("2.10/h", 50.4), ("2.10/hx8", 403.2), ("$2.10/h\N{MULTIPLICATION SIGN}8", 403.2), ("3/h x 2", 144.0)],
)
def test_prices(text: str, day: float) -> None:
    assert pricing.price(text).daily(1.0) == pytest.approx(day)


@pytest.mark.parametrize("text", ["", "2.10", "0/h", "2/hx0", "2/day", "x8", "1e5/h", "-2/h"])
def test_what_is_no_price(text: str) -> None:
    with pytest.raises(ValueError, match="is no price"):
        pricing.price(text)


def test_a_summary_prices_what_was_proved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A number of what is left, a bound of that, and neither: batches take time however they are made."""

    def priced(*names: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        path = str(SAMPLES.joinpath(*names))
        assert cli.main(["summary", path, "--no-cache", "--format", "json", "--price", "2.00/hx4"]) == 0
        document = json.loads(capsys.readouterr().out)
        return document["answer"], document["price"]["lost"]

    for left, names in (
        ("step_if_removed_ps", ("gpu", "torch_uploads.json.gz")),
        ("high", ("xplane", "jax.xplane.pb.gz")),
    ):
        answer, (lost,) = priced(*names)
        part = 1 - answer[left] / answer["step_ps"]
        assert lost["share"] == pytest.approx(part)
        assert lost["per_day"] == pytest.approx(part * 24 * 8)
    assert priced("tf_data", "map_py_function.xplane.pb")[1] == []
    path = str(SAMPLES)
    with pytest.raises((UsageError, SystemExit)):
        cli.module_of("summary").parser().parse_args([path, "--price", "cheap"])


def test_what_streams_do_at_once_is_called_a_sum(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = recording(tmp_path / "one.json", [MM])
    document = json.loads(Path(path).read_text())
    kernels = [event for event in document["traceEvents"] if event.get("cat") == "kernel"]
    document["traceEvents"] += [
        {**kernel, "tid": 10, "args": {"device": 0, "stream": 10}} for kernel in kernels
    ]
    Path(path).write_text(json.dumps(document))
    assert cli.main(["roofline", "--no-cache", path]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "Ops compute for 180.3 % of the time of 12 steps, those of 2 streams added up" in shown
