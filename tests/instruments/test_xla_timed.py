"""Measured time met with the instructions of compiled programs.

Twins read the same files with TensorFlow's protobuf classes and count by brute force.
"""

from __future__ import annotations

import csv
import io
import json
import tarfile
from collections import Counter, defaultdict
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepscope.cli import main
from stepscope.instruments.xla import known_programs, timed, timed_rows
from stepscope.library.statements import statement
from stepscope.report import xla_ops
from stepscope.session import trace
from tests import corpus
from tests.formats.xplane_reference import messages

hlo_pb2 = pytest.importorskip(
    "tensorflow.compiler.xla.service.hlo_pb2", reason="TensorFlow's protobuf classes are the reference"
)
MS = 10**9
JAX = "jax/trace/plugins/profile/2026_11_20_08_48_26/vm.xplane.pb"
TF = "xla/profile_jit/plugins/profile/2026_11_20_08_46_19/vm.xplane.pb"


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace of JAX and one of TensorFlow, each with the dump of the same run."""
    folder = tmp_path_factory.mktemp("traces")
    with tarfile.open(corpus.path("xla_dumps/traces.tar.xz")) as archive:
        archive.extractall(folder, filter="data")
    return folder / "traces"


def read(*paths: Path) -> timed.Timed:
    with trace.open(*map(str, paths), cache=False) as opened:
        groups = opened.query(statement("instruction_slices")).rows()
        modules = {group[3] for group in groups}
        programs, _ = known_programs.find(opened.sources, list(map(str, paths)), modules, set())
    return timed.join(groups, programs)


def rows_of(capsys: pytest.CaptureFixture[str], *words: str | Path) -> list[dict[str, Any]]:
    assert main(["xla", "ops", *map(str, words), "--format", "json"]) == 0
    rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["rows"]
    return rows


def events(path: Path) -> list[tuple[str, str, int, int, int]]:
    """Line, instruction, end, start and self time of every event of an instruction."""
    found: list[tuple[str, str, int, int, int]] = []
    for plane in messages().XSpace.FromString(path.read_bytes()).planes:
        names = {number: one.name for number, one in plane.stat_metadata.items()}
        for number, line in enumerate(plane.lines):
            ops = []
            for event in line.events:
                stats = {names[one.metadata_id]: one for one in event.stats}
                if "hlo_op" in stats:
                    told = stats["hlo_op"]
                    name = told.str_value or plane.stat_metadata[told.ref_value].name
                    ops.append((event.offset_ps, event.offset_ps + event.duration_ps, name))
            around: list[list[Any]] = []  # what lies around the next one: start, end, name, self time
            for start, end, name in sorted(ops, key=lambda one: (one[0], -one[1])):
                while around and around[-1][1] <= start:
                    found.append((f"{plane.name} {number}", *around.pop()))
                if around:
                    around[-1][3] -= end - start
                around.append([name, end, start, end - start])
            found += [(f"{plane.name} {number}", *one) for one in around]
    return found


def modules_of(path: Path) -> dict[str, list[Any]]:
    """The programs that an XPlane keeps, by name, as TensorFlow reads them."""
    found: dict[str, list[Any]] = defaultdict(list)
    for plane in messages().XSpace.FromString(path.read_bytes()).planes:
        if plane.name == "/host:metadata":
            for event in plane.event_metadata.values():
                for one in event.stats:
                    if one.bytes_value:
                        module = hlo_pb2.HloProto.FromString(one.bytes_value).hlo_module
                        found[module.name].append(module)
    return found


@pytest.mark.parametrize(("name", "slices"), [("jax", 274), ("tf", 96)])
def test_every_slice_of_the_corpus_finds_its_instruction(traces: Path, name: str, slices: int) -> None:
    path = traces / name / "vm.xplane.pb"
    found = read(path)
    assert (found.seen, found.lost) == (slices, [])
    assert sum(row["slices"] for row in found.rows) == slices
    # The twin: the same numbers by instruction, and the opcode that the program has.
    twin: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for _, op, end, start, own in events(path):
        for at, add in enumerate((1, end - start, own)):
            twin[op][at] += add
    assert {
        row["instruction"]: [row["slices"], row["total_ps"], row["self_ps"]] for row in found.rows
    } == dict(twin)
    (module,) = [
        one for one in modules_of(path).values() if len(one) == 1 and one[0].name == found.rows[0]["module"]
    ]
    opcodes = {one.name: one.opcode for part in module[0].computations for one in part.instructions}
    assert all(opcodes[row["instruction"]] == row["opcode"] for row in found.rows)
    # Nothing is left out: what is not timed is counted.
    assert len(opcodes) == len(found.rows) + sum(one[4] for one in found.untimed)
    never = {opcode for *_, why, opcode, _ in found.untimed if why == "no_work"}
    assert never <= set(timed.NEVER)
    assert not {row["opcode"] for row in found.rows} & set(timed.NEVER)


def test_a_loop_is_measured(traces: Path) -> None:
    found = {row["instruction"]: row for row in read(traces / "jax" / "vm.xplane.pb").rows}
    inside = found["sine_add_fusion"]
    assert (inside["executions"], inside["runs"], inside["per_run"]) == (25, 5, 5)
    loop = found["while.13"]
    assert (loop["trips"], loop["known_trips"]) == (5, 5)
    assert loop["self_ps"] < loop["total_ps"] / 100  # the time is in the body
    assert loop["flops"] is None  # and so is the work


@pytest.mark.parametrize("name", ["jax", "tf"])
def test_a_dump_beside_the_trace_tells_the_same(traces: Path, name: str, tmp_path: Path) -> None:
    whole = traces / name / "vm.xplane.pb"
    space = messages().XSpace.FromString(whole.read_bytes())
    bare = tmp_path / "vm.xplane.pb"
    kept = [plane for plane in space.planes if plane.name != "/host:metadata"]
    bare.write_bytes(messages().XSpace(planes=kept).SerializeToString())
    alone = read(bare)
    assert alone.rows == []
    assert {one.reason for one in alone.lost} == {"no_program"}
    keep = ("instruction", "opcode", "self_ps", "flops", "bytes", "line", "per_run", "trips")
    dump = tmp_path / "dump"
    dump.mkdir()
    for file in (traces / name).glob("*.hlo.pb"):
        (dump / file.name).write_bytes(file.read_bytes())
    assert [[row[key] for key in keep] for row in read(bare, dump).rows] == [
        [row[key] for key in keep] for row in read(whole).rows
    ]
    # Of text, too, where the proto is damaged or not there.
    for file in dump.iterdir():
        file.write_bytes(file.read_bytes()[:100])
    for file in (traces / name).glob("*after_optimizations.txt"):
        (dump / file.name).write_bytes(file.read_bytes())
    assert [row["instruction"] for row in read(bare, dump).rows] == [
        row["instruction"] for row in read(whole).rows
    ]
    for file in dump.iterdir():
        file.unlink()
    for file in (traces / name).glob("*after_optimizations.txt"):
        (dump / file.name).write_bytes(file.read_bytes())
    assert [row["instruction"] for row in read(bare, dump).rows] == [
        row["instruction"] for row in read(whole).rows
    ]


@pytest.mark.parametrize("name", ["jax", "tf"])
def test_all_views_agree_on_self_time(traces: Path, name: str) -> None:
    path = traces / name / "vm.xplane.pb"
    rows = read(path).rows
    with trace.open(str(path), cache=False) as opened:
        ops = opened.query("SELECT op, sum_self_ps FROM op_sum").rows()
        nodes = opened.query(
            "SELECT name, self_ps FROM tfprof_node WHERE view = 'scope' AND self_ps > 0"
        ).rows()
        ((steps,),) = opened.query("SELECT COUNT(*) FROM step").rows()
    by_op: Counter[str] = Counter()
    for op, own in ops:
        by_op[op] += own
    by_node: Counter[str] = Counter()
    for node, own in nodes:
        by_node[node.rpartition("/")[2]] += own
    for row in rows:
        assert by_op[row["instruction"]] == row["self_ps"]
        assert by_node[row["instruction"]] * steps == pytest.approx(row["self_ps"], abs=steps)


@pytest.mark.parametrize("path", [JAX, TF])
def test_recordings_of_the_samples(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    rows = rows_of(capsys, corpus.path(path))
    assert sum(row["slices"] for row in rows) == len(events(corpus.path(path)))
    assert sum(row["share"] for row in rows) == pytest.approx(1)
    for by in timed_rows.BY:
        grouped = rows_of(capsys, corpus.path(path), "--by", by)
        assert sum(row["self_ps"] for row in grouped) == sum(row["self_ps"] for row in rows)
        assert sum(row["total_flops"] or 0 for row in grouped) == sum(row["total_flops"] or 0 for row in rows)
        assert sum(row["instructions"] for row in grouped) == len(rows)


# --- Drawn recordings ------------------------------------------------------------------------------


class Drawn:
    """An XSpace with programs and events."""

    def __init__(self) -> None:
        self.space = messages().XSpace()
        self.programs = self.space.planes.add(name="/host:metadata")
        self.programs.stat_metadata[1].id, self.programs.stat_metadata[1].name = 1, "Hlo Proto"

    def program(self, module: Any, number: int) -> None:
        """Keeps a program."""
        kind = self.programs.event_metadata[len(self.programs.event_metadata) + 1]
        kind.id = len(self.programs.event_metadata)
        kind.name = f"{module.name}({number})"
        kind.stats.add(metadata_id=1, bytes_value=hlo_pb2.HloProto(hlo_module=module).SerializeToString())

    def line(self, plane_name: str, line_name: str) -> tuple[Any, Any]:
        plane = next((one for one in self.space.planes if one.name == plane_name), None)
        if plane is None:
            plane = self.space.planes.add(name=plane_name, id=len(self.space.planes))
            for number, name in enumerate(
                ("hlo_op", "hlo_module", "program_id", "run_id", "hlo_category"), 1
            ):
                plane.stat_metadata[number].id, plane.stat_metadata[number].name = number, name
        return plane, plane.lines.add(id=len(plane.lines) + 1, name=line_name, timestamp_ns=10**9)

    @staticmethod
    def event(
        at: tuple[Any, Any],
        name: str,
        start: int,
        dur: int,
        *,
        op: str,
        module: str = "",
        program: int = 0,
        run: int = -1,
    ) -> None:
        plane, line = at
        number = next((key for key, one in plane.event_metadata.items() if one.name == name), None)
        if number is None:
            number = len(plane.event_metadata) + 1
            plane.event_metadata[number].id, plane.event_metadata[number].name = number, name
        event = line.events.add(metadata_id=number, offset_ps=start, duration_ps=dur)
        event.stats.add(metadata_id=1, str_value=op)
        if module:
            event.stats.add(metadata_id=2, str_value=module)
            event.stats.add(metadata_id=3, uint64_value=program)
            event.stats.add(metadata_id=4, int64_value=run)

    def write(self, path: Path) -> Path:
        path.write_bytes(self.space.SerializeToString())
        return path


def matmul(name: str, m: int, k: int, n: int) -> Any:
    """A module with one dot of 2mkn flops."""
    module = hlo_pb2.HloModuleProto(name=name, entry_computation_id=1, id=7)
    entry = module.computations.add(name="main", id=1, root_id=3)
    for number, sizes in ((1, (m, k)), (2, (k, n)), (3, (m, n))):
        one = entry.instructions.add(name=f"p{number}" if number < 3 else "dot.1", id=number)
        one.opcode = "parameter" if number < 3 else "dot"
        one.parameter_number = number - 1 if number < 3 else 0
        one.shape.element_type = 11
        one.shape.dimensions.extend(sizes)
        one.shape.layout.minor_to_major.extend((1, 0))
    entry.instructions[2].operand_ids.extend((1, 2))
    entry.instructions[2].dot_dimension_numbers.lhs_contracting_dimensions.append(1)
    entry.instructions[2].dot_dimension_numbers.rhs_contracting_dimensions.append(0)
    entry.instructions[2].metadata.op_name = "jit(f)/layer/dot_general"
    return module


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


def test_a_lake_keeps_costs_and_a_dump_beside_it_goes_first(
    traces: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = traces / "jax" / "vm.xplane.pb"
    trace.ingest([path], tmp_path / "lake")
    keep = ("instruction", "opcode", "slices", "executions", "self_ps", "op_name", "file", "line")
    keep = (*keep, "flops", "transcendentals", "bytes", "trips", "known_trips", "flops_per_s", "computation")
    direct = rows_of(capsys, path)
    assert [[row[key] for key in keep] for row in rows_of(capsys, tmp_path / "lake")] == [
        [row[key] for key in keep] for row in direct
    ]
    opened = rows_of(capsys, path, "--open")
    assert any(row["inside"] for row in opened)
    assert [row["inside"] for row in rows_of(capsys, tmp_path / "lake", "--open")] == [
        row["inside"] for row in opened
    ]
    dump = tmp_path / "dump"
    dump.mkdir()
    for file in (traces / "jax").glob("*.hlo.pb"):
        (dump / file.name).write_bytes(file.read_bytes())
    beside = rows_of(capsys, tmp_path / "lake", "--dump", dump)
    assert [row["flops_per_s"] for row in beside] == [row["flops_per_s"] for row in direct]
    assert [row["trips"] for row in beside] == [row["trips"] for row in direct]


@pytest.mark.parametrize("name", ["jax", "tf"])
def test_a_dump_in_a_lake_tells_the_recordings_of_its_run(
    name: str, traces: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = traces / name / "vm.xplane.pb"
    space = messages().XSpace.FromString(whole.read_bytes())
    kept = [plane for plane in space.planes if plane.name != "/host:metadata"]
    bare = messages().XSpace(planes=kept).SerializeToString()
    for run in ("one", "other"):
        (tmp_path / "logs" / run).mkdir(parents=True)
        (tmp_path / "logs" / run / "vm.xplane.pb").write_bytes(bare)
    for file in (traces / name).glob("*.hlo.pb"):
        (tmp_path / "logs" / "one" / file.name).write_bytes(file.read_bytes())
    trace.ingest([tmp_path / "logs" / run for run in ("one", "other")], tmp_path / "lake")
    keep = ("instruction", "opcode", "self_ps", "flops", "bytes", "line", "per_run", "trips")
    direct = rows_of(capsys, whole)
    assert direct
    assert any(row["flops"] for row in direct)
    assert [[row[key] for key in keep] for row in rows_of(capsys, tmp_path / "lake")] == [
        [row[key] for key in keep] for row in direct
    ]


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


def loops() -> Any:
    """A loop in a loop, of which the compiler does not know the trips, and a branch."""
    module = hlo_pb2.HloModuleProto(name="jit_f", entry_computation_id=1, id=7)
    calls = {1: ("while.o", (2, 9)), 2: ("while.i", (3, 9)), 3: ("cond.b", (4, 5))}
    for number in (4, 5, 3, 9, 2, 1):
        part = module.computations.add(name=f"c{number}", id=number, root_id=number * 10 + 2)
        work = part.instructions.add(name=f"tanh.{number}", id=number * 10 + 1, opcode="tanh")
        last = part.instructions.add(name=f"last.{number}", id=number * 10 + 2, opcode="tuple")
        for one in (work, last):
            one.shape.element_type = 11
            one.shape.dimensions.append(64)
        work.operand_ids.append(number * 10 + 2)
        if number in calls:
            name, called = calls[number]
            one = part.instructions.add(
                name=name, id=number * 10 + 3, opcode="while" if number < 3 else "conditional"
            )
            one.shape.element_type = 11
            one.called_computation_ids.extend(called)
    return module


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


# --- The command -----------------------------------------------------------------------------------


def test_a_fusion_is_opened(traces: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = traces / "jax" / "vm.xplane.pb"
    rows = rows_of(capsys, path, "--fusion", "sine_add_fusion")
    assert [row["timed"] for row in rows] == [True] + [False] * (len(rows) - 1)
    assert {row["inside"] for row in rows[1:]} == {"sine_add_fusion"}
    assert {"sine", "add"} <= {row["opcode"] for row in rows[1:]}
    for key in ("flops", "transcendentals"):
        assert sum(row[key] for row in rows[1:]) == rows[0][key]
    assert all(row["self_ps"] is None for row in rows[1:])
    assert main(["xla", "ops", str(path), "--fusion", "sine_add_fusion"]) == 0
    assert "(not timed inside)" in capsys.readouterr().out
    opened = rows_of(capsys, path, "--open")
    assert sum(row["slices"] or 0 for row in opened) == 274


def test_forms(traces: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(traces / "tf" / "vm.xplane.pb")
    for form in ("table", "md", "csv", "json"):
        assert main(["xla", "ops", path, "--format", form, "--peak", "200G,20G"]) == 0
        out, err = capsys.readouterr()
        assert "MatMul.8" in out
        assert "96 of 96 slices found an instruction" in err
        if form == "csv":
            read = list(csv.DictReader(io.StringIO(out)))
            assert tuple(read[0]) == timed.COLUMNS
    for words in (["--untimed"], ["--unmatched"], ["--by", "module"], ["--module", "nothing"], ["--all"]):
        main(["xla", "ops", path, *words])
        assert "slices" in capsys.readouterr().err
    untimed = rows_of(capsys, path, "--untimed")
    assert {"module", "program_id", "why", "opcode", "number"} == set(untimed[0])


def test_mistakes_have_three_parts(traces: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(traces / "jax" / "vm.xplane.pb")
    for words in (
        [],
        [str(tmp_path / "gone")],
        [path, "--fusion", "nothing"],
        [path, "--fusion", "sine_add_fusion", "--by", "op"],
        [path, "--peak", "fast"],
        [str(corpus.SAMPLES / "kineto")],
        [str(corpus.SAMPLES / "xla_dump")],
    ):
        assert main(["xla", "ops", *words]) == 2, words
        out, err = capsys.readouterr()
        assert out == ""
        assert "seen" in err
        assert "to do" in err


def test_half_a_program_is_said(traces: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    space = messages().XSpace.FromString((traces / "jax" / "vm.xplane.pb").read_bytes())
    for plane in space.planes:
        for event in plane.event_metadata.values():
            for one in event.stats:
                if one.bytes_value:
                    one.bytes_value = one.bytes_value[: len(one.bytes_value) // 2]
    path = tmp_path / "vm.xplane.pb"
    path.write_bytes(space.SerializeToString())
    assert main(["xla", "ops", str(path)]) == 2
    err = capsys.readouterr().err
    assert "could not be read" in err
    assert "274 slices: the program is not known" in err


@pytest.mark.parametrize("seed", range(8))
def test_damaged_bytes_end_in_rows_or_in_a_sentence(
    seed: int, traces: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    random = Random(seed)
    for at, name in enumerate(("vm.xplane.pb", "*.hlo.pb", "*after_optimizations.txt")):
        (file,) = (traces / "tf").glob(name)
        data = bytearray(file.read_bytes())
        for _ in range(random.randint(1, 20) if seed % 3 == at else 0):
            place = random.randrange(len(data))
            data[place : place + random.choice((0, 1, 9))] = random.randbytes(random.choice((0, 1, 5)))
        (tmp_path / file.name).write_bytes(data)
    assert main(["xla", "ops", str(tmp_path), "--format", "json", "--no-cache"]) in (0, 2)
    out, err = capsys.readouterr()
    assert "itself failed" not in err
    assert err
    if out:
        json.loads(out)


# --- Whatever slices and programs say --------------------------------------------------------------

MODULES = st.sampled_from(["jit_f", "a_f", "unknown"])
IDS = st.sampled_from([None, "0", "1", "18446744073709551615"])
NAMES = st.sampled_from(["dot.1", "while", "p1", "copy", "nothing"])


@st.composite
def known(draw: st.DrawFn) -> known_programs.Program:
    """A program of three computations that call each other anyhow."""
    instructions = tuple(
        known_programs.Instruction(
            draw(NAMES),
            draw(st.sampled_from(["dot", "while", "fusion", "parameter", "conditional"])),
            draw(st.integers(0, 2)),
            tuple(draw(st.lists(st.integers(0, 2), max_size=2))),
            draw(st.sampled_from([None, 0, 1, 2])),
            *draw(st.sampled_from([(2.0, 1.0, 8.0), (None, None, None), (0.0, 0.0, 0.0)])),
            draw(st.sampled_from([None, 3])),
            draw(st.sampled_from([None, "jit(f)/a/mul", ""])),
            draw(st.sampled_from([None, "train.py"])),
            draw(st.sampled_from([None, 7])),
        )
        for _ in range(draw(st.integers(0, 5)))
    )
    source, entry = draw(st.sampled_from([None, 0, 1])), draw(st.sampled_from([None, 0, 2]))
    return known_programs.Program(source, draw(MODULES), draw(IDS), entry, instructions, ("a", "b", "c"), "x")


GROUPS = st.lists(
    st.tuples(
        *(st.integers(0, 1), st.sampled_from(["host", "device", "launch", "none"]), st.just("gpu")),
        *(st.one_of(st.none(), MODULES), IDS, st.booleans(), NAMES, NAMES),
        *(st.integers(1, 30), st.integers(0, 10**12), st.integers(0, 10**12)),
    ),
    max_size=12,
)


@settings(max_examples=200, deadline=None)
@given(GROUPS, st.lists(known(), max_size=4))
def test_no_slice_is_lost_without_a_word(
    groups: list[tuple[Any, ...]], programs: list[known_programs.Program]
) -> None:
    found = timed.join(groups, programs)
    assert found.seen == sum(group[8] for group in groups)
    assert found.seen == sum(row["slices"] for row in found.rows) + sum(one.slices for one in found.lost)
    assert sum(group[10] for group in groups) == sum(row["self_ps"] for row in found.rows) + sum(
        one.self_ps for one in found.lost
    )
    timed_rows.bounded(found.rows, (1e9, 1e9))
    for row in found.rows:
        assert row["module"] in {one.module for one in programs}
        named = [made for one in programs for made in one.instructions if made.name == row["instruction"]]
        assert named
        if row["total_flops"] is not None and row["self_ps"]:
            assert row["flops_per_s"] == row["total_flops"] * 10**12 / row["self_ps"]
    for one in found.lost:
        assert xla_ops.lost(one.reason)
    for by in timed_rows.BY:
        grouped = timed_rows.grouped(found.rows, by)
        assert sum(row["self_ps"] for row in grouped) == sum(row["self_ps"] for row in found.rows)
    assert [row for row in timed_rows.opened(found.rows, programs) if row["timed"]] == found.rows
    assert xla_ops.sentences(found, 0)
