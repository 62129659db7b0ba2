"""The programs that XPlanes keep: instructions, what they were made of, and the calls that made them.

TensorFlow's own protobuf classes are the reference.
"""

import gzip
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepscope import _core
from stepscope.cli import main
from stepscope.formats.xla import hlo_protos
from stepscope.server.catalog import dicts
from stepscope.session import trace
from tests import corpus
from tests.asked import ask
from tests.formats.xplane_reference import messages
from tests.later import proto
from tests.tiers import cases, some

hlo_pb2 = proto("compiler.xla.service.hlo_pb2")
JAX = "jax/trace/plugins/profile/2026_11_20_08_48_26/vm.xplane.pb"
COLUMNS = "program_id, module, name, opcode, op_name, file, line, function, stack_json"
Row = tuple[Any, ...]


def stack_of(module: Any, metadata: Any) -> list[list[Any]]:
    """The calls of an instruction, outermost first."""
    index, number = module.stack_frame_index, metadata.stack_frame_id
    if not number:
        return [[metadata.source_file, metadata.source_line, ""]] if metadata.source_file else []
    found: list[list[Any]] = []
    while number:
        frame = index.stack_frames[number - 1]
        place = index.file_locations[frame.file_location_id - 1]
        file, function = (
            index.file_names[place.file_name_id - 1],
            index.function_names[place.function_name_id - 1],
        )
        found.insert(0, [file, place.line, function])
        number = frame.parent_frame_id
    return found


def rows_of(program: str, module: Any) -> list[Row]:
    """The rows that a module has to become."""
    found = []
    for computation in module.computations:
        for one in computation.instructions:
            stack = stack_of(module, one.metadata)
            file, line, function = stack[-1] if stack else ("", 0, "")
            told = json.dumps(stack, ensure_ascii=False) if stack else None
            op_name = one.metadata.op_name or None
            place = (file or None, line or None, function or None)
            found.append((program, module.name, one.name, one.opcode, op_name, *place, told))
    return found


def expected(path: Path) -> list[Row]:
    space = messages().XSpace.FromString(path.read_bytes())
    found = []
    for plane in space.planes:
        if plane.name == "/host:metadata":
            for event in plane.event_metadata.values():
                (proto,) = (
                    one.bytes_value for one in event.stats if one.WhichOneof("value") == "bytes_value"
                )
                number = event.name.rpartition("(")[2].rstrip(")")
                found += rows_of(number, hlo_pb2.HloProto.FromString(proto).hlo_module)
    return sorted(found, key=repr)


def read(path: Path) -> list[Row]:
    return sorted(ask(path, f"SELECT {COLUMNS} FROM hlo_instruction"), key=repr)


@pytest.mark.repeats("XLA counts the same programs beside it")
@pytest.mark.parametrize("pack", some(("plain", "gzip", "zip"), ("plain",), "the same file, packed"))
def test_instructions_are_those_that_tensorflow_reads(pack: str, tmp_path: Path) -> None:
    path = corpus.path(JAX)
    packed = path
    if pack == "gzip":
        packed = tmp_path / "vm.xplane.pb.gz"
        packed.write_bytes(gzip.compress(path.read_bytes()))
    elif pack == "zip":
        packed = tmp_path / "vm.zip"
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.write(path, "vm.xplane.pb")
    wanted = expected(path)
    assert len(wanted) > 2000
    assert read(packed) == wanted
    # A lake outlives the file.
    trace.ingest([packed], tmp_path / "lake")
    with trace.open(lake=tmp_path / "lake") as opened:
        kept = opened.query(f"SELECT {COLUMNS} FROM hlo_instruction").rows()
        lost = opened.query(
            "SELECT id FROM hlo_instruction WHERE source_id NOT IN (SELECT source_id FROM source)"
        )
        assert sorted(kept, key=repr) == wanted
        assert lost.rows() == []


def outcome(proto: bytes) -> str:
    try:
        _core.hlo_module(proto)
    except _core.CoreError as error:
        return error.kind
    return "read"


def store_of(path: Path, name: str) -> list[dict[str, Any]]:
    """The rows of a table without what says where it is from."""
    with trace.open(str(path), cache=False) as opened:
        found = dicts(opened.query(f"SELECT * FROM {name} ORDER BY module_id, id"))
    # The dump of the corpus is of another run of the same script, called from another line.
    own = ("id", "run_id", "host_id", "source_id", "module_id", "pass_id", "stage", "stack_json")
    return [{key: value for key, value in row.items() if key not in own} for row in found]


@pytest.mark.repeats("reads recordings that do not ship")
def test_a_program_is_in_the_same_tables_as_its_dump() -> None:
    """The XPlane of the corpus has a program of which there is a dump, too."""
    path = corpus.path(JAX)
    dump = corpus.path("jax/xla_dump/module_0014.jit__lambda.cpu_after_optimizations.hlo.pb")
    for table in ("hlo_computation", "hlo_instruction", "hlo_buffer", "hlo_allocation"):
        found = [row for row in store_of(path, table) if row["program_id"] == "14"]
        assert found, table
        assert found == store_of(dump, table), table
    about = "SELECT * FROM hlo_module WHERE program_id = '14'"
    with trace.open(str(path), cache=False) as opened:
        (recorded,) = dicts(opened.query(about))
        passes = opened.query("SELECT COUNT(*) FROM hlo_pass").rows()
    with trace.open(str(dump), cache=False) as opened:
        (dumped,) = dicts(opened.query(about))
    own = ("id", "run_id", "host_id", "file", "stage", "stages")
    assert {key: recorded[key] for key in recorded if key not in own} == {
        key: dumped[key] for key in dumped if key not in own
    }
    assert (recorded["stage"], recorded["stages"], recorded["is_final"]) == (None, 0, True)
    assert passes == [(0,)]


def test_programs_cost_what_xla_counts() -> None:
    """XLA's own cost analysis, of each program that the XPlane keeps, through JAX."""
    jax = pytest.importorskip("jax", reason="XLA counts through JAX")
    reader = pytest.importorskip("jaxlib._hlo", reason="an older jaxlib")
    from jax._src.lib import _jax

    path = corpus.path(JAX)
    with trace.open(str(path), cache=False) as opened:
        asked = "SELECT program_id, flops, transcendentals, bytes FROM hlo_module"
        told = {row[0]: row[1:] for row in opened.query(asked).rows()}
    client = jax.devices("cpu")[0].client
    checked = 0
    for number, kept in hlo_protos.programs(memoryview(path.read_bytes())):
        module = hlo_pb2.HloProto.FromString(bytes(kept)).hlo_module.SerializeToString()
        counted = _jax.hlo_module_cost_analysis(
            client, reader.HloModule.from_serialized_hlo_module_proto(module)
        )
        wanted = [counted.get(key, 0) for key in ("flops", "transcendentals", "bytes accessed")]
        assert told[number] == pytest.approx(tuple(wanted), rel=1e-5), number
        checked += 1
    assert checked == len(told) > 5


def test_a_damaged_program_is_said(tmp_path: Path) -> None:
    space = messages().XSpace.FromString(drawn_space(told=True, named=False))
    (kind,) = space.planes[0].event_metadata.values()
    kind.stats[0].bytes_value = kind.stats[0].bytes_value[:-3] + b"\xff\xff\xff"
    path = tmp_path / "vm.xplane.pb"
    path.write_bytes(space.SerializeToString())
    with trace.open(str(path), cache=False) as opened:
        notes = opened.query("SELECT effect, events, detail FROM source_note WHERE slug = 'damaged-module'")
        ((effect, events, detail),) = notes.rows()
        assert (effect, events) == ("missing", 1)
        assert detail.startswith("1 program could not be read: jit_f(18446744073709551615): ")
        assert opened.query("SELECT COUNT(*) FROM hlo_module").rows() == [(0,)]
        assert opened.query("SELECT COUNT(*) FROM slice").rows() == [(2,)]


NAMES = st.text("ab/()é", max_size=6)


@st.composite
def modules(draw: st.DrawFn) -> Any:
    """A module whose calls have parents before them, as XLA writes them."""
    module = hlo_pb2.HloModuleProto(name=draw(NAMES))
    index = module.stack_frame_index
    index.file_names.extend(draw(st.lists(NAMES, min_size=1, max_size=3)))
    index.function_names.extend(draw(st.lists(NAMES, min_size=1, max_size=3)))
    for _ in range(draw(st.integers(1, 3))):
        index.file_locations.add(
            file_name_id=draw(st.integers(1, len(index.file_names))),
            function_name_id=draw(st.integers(1, len(index.function_names))),
            line=draw(st.integers(0, 2**31 - 1)),
        )
    for number in range(draw(st.integers(0, 4))):
        index.stack_frames.add(
            file_location_id=draw(st.integers(1, len(index.file_locations))),
            parent_frame_id=draw(st.integers(0, number)),
        )
    number = 0
    for _ in range(draw(st.integers(1, 3))):
        computation = module.computations.add()
        for _ in range(draw(st.integers(1, 4))):
            number += 1
            opcode = draw(st.sampled_from(["add", "custom-call", "unknown-opcode"]))
            one = computation.instructions.add(id=number, name=draw(NAMES), opcode=opcode)
            one.metadata.op_name = draw(NAMES)
            one.metadata.source_file, one.metadata.source_line = draw(NAMES), draw(st.integers(0, 9))
            one.metadata.stack_frame_id = draw(st.integers(0, len(index.stack_frames)))
    return module


@settings(max_examples=cases(30, 100), deadline=None)
@given(modules(), st.data())
def test_drawn_modules(module: Any, data: st.DataObject) -> None:
    proto = hlo_pb2.HloProto(hlo_module=module).SerializeToString()
    read = _core.hlo_module(proto)
    frames = read["frames"]
    assert read["name"] == module.name

    def calls(number: int) -> list[list[Any]]:
        found: list[list[Any]] = []
        while number:
            *call, number = frames[number - 1]
            found.insert(0, call)
        return found

    listed = [one for computation in module.computations for one in computation.instructions]
    said = ("name", "opcode", "op_name")
    assert [(*(one[key] for key in said), calls(one["frame"])) for one in read["instruction_rows"]] == [
        (one.name, one.opcode, one.metadata.op_name, stack_of(module, one.metadata)) for one in listed
    ]
    # Damaged bytes end in an error or in something, never in anything else.
    cut = data.draw(st.integers(0, len(proto)))
    noise = data.draw(st.binary(max_size=20))
    for broken in (proto[:cut], proto[:cut] + noise + proto[cut:]):
        assert outcome(broken) in ("read", "damaged", "not_this_format")
    list(hlo_protos.programs(memoryview(noise)))


def drawn_space(*, told: bool, named: bool) -> bytes:
    """Two runs of an instruction of a program, which is kept or not; the event may name the op itself."""
    space = messages().XSpace()
    module = hlo_pb2.HloModuleProto(name="jit_f")
    fusion = module.computations.add().instructions.add(name="fusion.1", opcode="fusion")
    fusion.metadata.op_name = "jit(f)/Dense_0/dot_general"
    fusion.metadata.source_file, fusion.metadata.source_line = "/home/me/train.py", 7
    if told:
        plane = space.planes.add(name="/host:metadata")
        kind = plane.event_metadata[1]
        kind.id, kind.name = 1, "jit_f(18446744073709551615)"
        proto = hlo_pb2.HloProto(hlo_module=module).SerializeToString()
        kind.stats.add(metadata_id=1, bytes_value=proto)
        plane.stat_metadata[1].id, plane.stat_metadata[1].name = 1, "Hlo Proto"
    plane = space.planes.add(name="/host:CPU")
    plane.event_metadata[1].id, plane.event_metadata[1].name = 1, "fusion.1"
    for number, name in enumerate(("hlo_op", "hlo_module", "program_id"), 1):
        plane.stat_metadata[number].id, plane.stat_metadata[number].name = number, name
    if named:
        plane.stat_metadata[4].id, plane.stat_metadata[4].name = 4, "tf_op"
        plane.event_metadata[1].stats.add(metadata_id=4, str_value="jit(f)/Dense_0/dot_general:")
    line = plane.lines.add(id=1, name="tf_XLAEigen/1", timestamp_ns=10**17)
    for start in (0, 10**7):
        event = line.events.add(metadata_id=1, offset_ps=start, duration_ps=4 * 10**6)
        event.stats.add(metadata_id=1, str_value="fusion.1")
        event.stats.add(metadata_id=2, str_value="jit_f")
        event.stats.add(metadata_id=3, uint64_value=2**64 - 1)
    return bytes(space.SerializeToString())


PAIRS = pytest.mark.repeats("each of the two is tried both ways")


@pytest.mark.parametrize(
    ("told", "named"),
    [
        (True, True),
        (False, False),
        pytest.param(True, False, marks=PAIRS),
        pytest.param(False, True, marks=PAIRS),
    ],
)
def test_ops_are_the_scopes_of_instructions(
    told: bool, named: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "vm.xplane.pb"
    path.write_bytes(drawn_space(told=told, named=named))
    assert main(["tfprof", "scope", str(path), "-select", "micros", "-max_depth", "9"]) == 0
    out, err = capsys.readouterr()
    node = "jit(f)/Dense_0/dot_general/fusion.1" if told else "jit_f/fusion.1"
    node = "jit(f)/Dense_0/dot_general" if named else node
    assert f"{node} (8us/8us, 0us/0us, 8us/8us)" in out
    assert ("2 executions of XLA lie in the scope of the module" in err) == (not told and not named)
    assert main(["tfprof", "code", str(path), "-select", "micros"]) == 0
    out = capsys.readouterr().out
    assert ("train.py:7" in out) == told
