"""Measured time met with instructions in a lake, which outlives the files."""

from pathlib import Path

import pytest

from stepscope.session import trace
from tests.formats.xplane_reference import messages
from tests.instruments.timed_programs import rows_of


@pytest.mark.repeats("reads recordings that do not ship")
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


@pytest.mark.repeats("reads recordings that do not ship")
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
