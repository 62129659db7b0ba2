"""Rates, executions and loops of drawn recordings, worked out by hand, on hosts, GPUs and TPUs."""

from pathlib import Path
from typing import Any

import pytest

from stepscope.cli import main
from tests.instruments.timed_programs import MS, Drawn, loops, matmul, rows_of


def test_rates_by_hand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    drawn = Drawn()
    drawn.program(matmul("jit_f", 100, 200, 300), 7)
    line = drawn.line("/host:CPU", "tf_XLAEigen/1")
    for run, start in enumerate((0, 5 * MS)):
        drawn.event(line, "dot.1", start, 2 * MS, op="dot.1", module="jit_f", program=7, run=run)
    path = drawn.write(tmp_path / "vm.xplane.pb")
    (row,) = rows_of(capsys, path, "--peak", "100G,1G")
    # 2 x 100 x 200 x 300 = 12 Mflop in 2 ms are 6 Gflop/s.
    # (20,000 + 60,000 + 30,000) x 4 B = 440 kB in 2 ms are 220 MB/s.
    assert (row["flops"], row["bytes"], row["executions"], row["runs"]) == (12_000_000, 440_000, 2, 2)
    assert row["flops_per_s"] == pytest.approx(6e9)
    assert row["bytes_per_s"] == pytest.approx(220e6)
    assert row["flops_per_byte"] == pytest.approx(12_000_000 / 440_000)
    # At 100 Gflop/s 0.12 ms, at 1 GB/s 0.44 ms, twice each: memory binds, at 22 % of the time.
    assert (row["bound"], row["bound_ps"]) == ("memory", 880_000_000)
    assert row["bound_share"] == pytest.approx(0.22)
    assert (row["op_name"], row["joined_by"]) == ("jit(f)/layer/dot_general", "module and id")


def test_programs_that_nothing_tells_apart_have_no_cost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn = Drawn()
    drawn.program(matmul("a_f", 100, 200, 300), 0)
    drawn.program(matmul("a_f", 10, 20, 30), 1)
    line = drawn.line("/host:CPU", "python")
    drawn.event(line, "dot.1", 0, MS, op="dot.1", module="a_f")
    path = drawn.write(tmp_path / "vm.xplane.pb")
    (row,) = rows_of(capsys, path)
    assert (row["opcode"], row["op_name"], row["flops"]) == ("dot", "jit(f)/layer/dot_general", None)
    assert main(["xla", "ops", str(path)]) == 0
    assert "several programs are called a_f" in capsys.readouterr().err
    # Executions that have numbers name their program.
    drawn.event(line, "dot.1", 2 * MS, MS, op="dot.1", module="a_f", program=1, run=5)
    rows = rows_of(capsys, drawn.write(tmp_path / "vm.xplane.pb"))
    assert {row["flops"] for row in rows} == {None, 12_000}


def test_executions_are_told_apart_by_time_and_thread(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two programs of one name: one has a tanh behind its dot. Both execute at once, on two threads."""
    drawn = Drawn()
    small, large = matmul("a_f", 10, 20, 30), matmul("a_f", 100, 200, 300)
    more = large.computations[0].instructions.add(name="tanh.1", id=4, opcode="tanh")
    more.shape.CopyFrom(large.computations[0].instructions[2].shape)
    more.operand_ids.append(3)
    drawn.program(small, 0)
    drawn.program(large, 1)
    python, other, pool = (drawn.line("/host:CPU", name) for name in ("python", "python", "tf_Eigen/1"))

    def execute(line: Any, start: int, tanh: Any | None) -> None:
        """10 ms, of which the dot takes 3 and the tanh 1."""
        plane, _ = line
        plane.event_metadata[99].id = 99
        plane.event_metadata[99].name = "CpuExecutable::ExecuteAsyncOnStream"
        line[1].events.add(metadata_id=99, offset_ps=start, duration_ps=10 * MS)
        drawn.event(line, "dot.1", start + MS, 3 * MS, op="dot.1", module="a_f")
        if tanh is not None:
            drawn.event(tanh, "tanh.1", start + 5 * MS, MS, op="tanh.1", module="a_f")

    execute(python, 0, pool)  # alone: what the pool runs is its own
    execute(python, 20 * MS, None)
    execute(python, 40 * MS, python)  # at once with the next: each on its own thread
    execute(other, 41 * MS, None)
    rows = rows_of(capsys, drawn.write(tmp_path / "vm.xplane.pb"))
    found = {(row["instruction"], row["program_id"]): row for row in rows}
    assert {key: (row["executions"], row["self_ps"] // MS) for key, row in found.items()} == {
        ("dot.1", "0"): (2, 6),
        ("dot.1", "1"): (2, 6),
        ("tanh.1", "1"): (2, 2),
    }
    assert found["dot.1", "0"]["flops"] == 12_000
    assert found["dot.1", "1"]["flops_per_s"] == pytest.approx(12e6 / 3e-3)
    assert {row["joined_by"] for row in rows} == {"module, time and thread"}
    # What a pool runs while two execute is of neither for certain.
    execute(python, 60 * MS, pool)
    execute(other, 60 * MS, None)
    rows = rows_of(capsys, drawn.write(tmp_path / "vm.xplane.pb"))
    counts = {(row["instruction"], row["program_id"]): row["slices"] for row in rows}
    assert counts == {("dot.1", "0"): 2, ("dot.1", "1"): 2, ("dot.1", None): 2, ("tanh.1", "1"): 3}


def test_loops_within_loops(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    drawn = Drawn()
    drawn.program(loops(), 7)
    line = drawn.line("/host:CPU", "tf_XLAEigen/1")
    at = 0

    def event(op: str, dur: int = 10) -> None:
        nonlocal at
        drawn.event(line, op, at, dur, op=op, module="jit_f", program=7)
        at += dur

    for _ in range(3):  # executions
        event("tanh.1")
        event("while.o")
        for _ in range(4):
            event("tanh.2")
            event("while.i")
            for turn in range(2):
                event("tanh.3")
                event("cond.b")
                event("tanh.4" if turn else "tanh.5")
    rows = {row["instruction"]: row for row in rows_of(capsys, drawn.write(tmp_path / "vm.xplane.pb"))}
    assert rows["tanh.1"]["runs"] == 3
    assert (rows["while.o"]["trips"], rows["while.i"]["trips"]) == (4, 2)
    assert (rows["tanh.2"]["per_run"], rows["tanh.3"]["per_run"], rows["tanh.4"]["per_run"]) == (4, 8, 4)
    assert rows["while.o"]["known_trips"] is None


def test_hosts_have_rows_of_their_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for host, long in (("alpha", 2), ("beta", 3)):
        drawn = Drawn()
        drawn.program(matmul("jit_f", 100, 200, 100 * long), 7)
        line = drawn.line("/host:CPU", "tf_XLAEigen/1")
        drawn.event(line, "dot.1", 0, long * MS, op="dot.1", module="jit_f", program=7, run=3)
        (tmp_path / "plugins" / "profile" / "1").mkdir(parents=True, exist_ok=True)
        drawn.write(tmp_path / "plugins" / "profile" / "1" / f"{host}.xplane.pb")
    rows = rows_of(capsys, tmp_path)
    assert [(row["host"], row["self_ps"], row["flops"]) for row in rows] == [
        ("beta", 3 * MS, 12_000_000),
        ("alpha", 2 * MS, 8_000_000),
    ]
    (both,) = rows_of(capsys, tmp_path, "--by", "op")
    assert (both["total_flops"], both["host"]) == (20_000_000, None)


def test_kernels_of_a_gpu_are_the_executions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    drawn = Drawn()
    drawn.program(matmul("jit_f", 100, 200, 300), 7)
    stream = drawn.line("/device:GPU:0", "Stream #13(Compute)")
    derived = drawn.line("/device:GPU:0", "XLA Ops")
    host = drawn.line("/host:CPU", "python")
    for run in range(3):
        start = run * 10 * MS
        drawn.event(host, "Thunk", start, MS // 10, op="dot.1", module="jit_f", program=7, run=run)
        drawn.event(stream, "split_k_gemm", start + MS, 2 * MS, op="dot.1", module="jit_f", program=7)
        drawn.event(stream, "reduce_k", start + 4 * MS, MS, op="dot.1", module="jit_f", program=7)
        drawn.event(derived, "dot.1", start + MS, 4 * MS, op="dot.1", module="jit_f", program=7)
    path = drawn.write(tmp_path / "vm.xplane.pb")
    (row,) = rows_of(capsys, path)
    assert (row["place"], row["slices"], row["executions"]) == ("device", 6, 3)
    assert row["self_ps"] == 9 * MS
    assert row["flops_per_s"] == pytest.approx(12e6 / 3e-3)
    lost = rows_of(capsys, path, "--unmatched")
    assert {(one["reason"], one["slices"]) for one in lost} == {("launch", 3), ("repeats", 3)}


def test_a_loop_on_a_gpu_is_launched_by_the_host(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The whole program is a loop: only the host's launches show how often it ran."""
    drawn = Drawn()
    drawn.program(loops(), 7)
    streams = [drawn.line(f"/device:GPU:{number}", "Stream #13(Compute)") for number in range(2)]
    host = drawn.line("/host:CPU", "python")
    for run in range(3):
        for device, stream in enumerate(streams):
            start = (run * 100 + device) * MS
            drawn.event(host, "while.o", start, MS // 10, op="while.o", module="jit_f", program=7, run=run)
            for turn in range(4):
                at = start + turn * 20 * MS
                drawn.event(stream, "tanh_2", at, MS, op="tanh.2", module="jit_f", program=7)
    rows = rows_of(capsys, drawn.write(tmp_path / "vm.xplane.pb"))
    assert [(row["device"], row["executions"], row["runs"], row["per_run"]) for row in rows] == [
        ("/device:GPU:0", 12, 3, 4),
        ("/device:GPU:1", 12, 3, 4),
    ]


def test_a_tpu_names_the_program_in_the_kind_of_event(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn = Drawn()
    number = 2**63 + 11
    drawn.program(matmul("jit_f", 100, 200, 300), number)
    plane, line = drawn.line("/device:TPU:0", "XLA Ops")
    kind = plane.event_metadata[1]
    kind.id, kind.name, kind.display_name = 1, "%dot.1 = f32[100,300]{1,0} dot(%p1, %p2)", "dot.1"
    kind.stats.add(metadata_id=5, str_value="convolution")
    kind.stats.add(metadata_id=3, uint64_value=number)
    for start in (0, 4 * MS):
        line.events.add(metadata_id=1, offset_ps=start, duration_ps=3 * MS)
    (row,) = rows_of(capsys, drawn.write(tmp_path / "vm.xplane.pb"))
    assert (row["instruction"], row["module"], row["joined_by"]) == ("dot.1", "jit_f", "id")
    assert row["flops_per_s"] == pytest.approx(12e6 / 3e-3)
