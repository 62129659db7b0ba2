"""The verb `stepscope xla ops`: its forms, fusions, mistakes, and damaged files."""

import csv
import io
import json
from pathlib import Path
from random import Random

import pytest

from stepscope.cli import main
from stepscope.instruments.xla import timed
from tests import corpus
from tests.formats.xplane_reference import messages
from tests.instruments.timed_programs import rows_of


@pytest.mark.repeats("reads recordings that do not ship")
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


@pytest.mark.repeats("reads recordings that do not ship")
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


@pytest.mark.repeats("reads recordings that do not ship")
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


@pytest.mark.repeats("reads recordings that do not ship")
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


@pytest.mark.repeats("reads recordings that do not ship")
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
