"""Measured time met with the instructions of compiled programs, in recordings of JAX and TensorFlow.

Twins read the same files with TensorFlow's protobuf classes and count by brute force.
"""

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from stepscope.formats.xla import known_modules
from stepscope.instruments.xla import known_programs, timed, timed_rows
from stepscope.library.statements import statement
from stepscope.session import trace
from tests import corpus
from tests.formats.xplane_reference import messages
from tests.instruments.timed_programs import hlo_pb2, rows_of
from tests.tiers import some

JAX = "jax/trace/plugins/profile/2026_11_20_08_48_26/vm.xplane.pb"
TF = "xla/profile_jit/plugins/profile/2026_11_20_08_46_19/vm.xplane.pb"


def read(*paths: Path) -> timed.TimedPrograms:
    with trace.open(*map(str, paths), cache=False) as opened:
        groups = opened.query(statement("instruction_slices", computing=0)).rows()
        modules = {group[3] for group in groups}
        programs = [
            known_programs.decoded(module, source, number, file)
            for source, number, module, file in known_modules.find(
                opened.sources, list(map(str, paths)), modules, set()
            )
            if module is not None
        ]
    return timed.join(groups, programs)


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


@pytest.mark.repeats("reads recordings that do not ship")
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


@pytest.mark.repeats("reads recordings that do not ship")
def test_a_loop_is_measured(traces: Path) -> None:
    found = {row["instruction"]: row for row in read(traces / "jax" / "vm.xplane.pb").rows}
    inside = found["sine_add_fusion"]
    assert (inside["executions"], inside["runs"], inside["per_run"]) == (25, 5, 5)
    loop = found["while.13"]
    assert (loop["trips"], loop["known_trips"]) == (5, 5)
    assert loop["self_ps"] < loop["total_ps"] / 100  # the time is in the body
    assert loop["flops"] is None  # and so is the work


@pytest.mark.repeats("reads recordings that do not ship")
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


@pytest.mark.repeats("reads recordings that do not ship")
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


@pytest.mark.repeats("drawn recordings have each case")
@pytest.mark.parametrize("path", some((JAX, TF), (TF,), "another framework over the same profiler"))
def test_recordings_of_the_samples(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    rows = rows_of(capsys, corpus.path(path))
    assert sum(row["slices"] for row in rows) == len(events(corpus.path(path)))
    assert sum(row["share"] for row in rows) == pytest.approx(1)
    for by in timed_rows.BY:
        grouped = rows_of(capsys, corpus.path(path), "--by", by)
        assert sum(row["self_ps"] for row in grouped) == sum(row["self_ps"] for row in rows)
        assert sum(row["total_flops"] or 0 for row in grouped) == sum(row["total_flops"] or 0 for row in rows)
        assert sum(row["instructions"] for row in grouped) == len(rows)
