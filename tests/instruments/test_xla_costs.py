"""Costs of a program by instruction, op, scope and line."""

import json

import pytest

from stepscope import _core
from stepscope.cli import main
from stepscope.errors import NothingFound
from stepscope.formats.xla import hlo_files
from stepscope.instruments.xla import costs
from tests.corpus import SAMPLES
from tests.each import each
from tests.formats.test_hlo import truths

SAMPLE = str(SAMPLES / "xla_dump")


@pytest.mark.repeats("reads recordings that do not ship")
@pytest.mark.parametrize("by", costs.BY)
def test_rows_add_up_to_the_program(by: str) -> None:
    for folder, truth in truths():
        program = hlo_files.largest([str(folder)])
        if "conditional" in program["opcodes"]:
            continue  # every branch has its row, and one of them runs
        found = costs.rows(program, by)
        for key in ("flops", "transcendentals", "bytes"):
            assert sum(row[key] for row in found) == pytest.approx(program[f"run_{key}"]), folder
        assert program["file"] in {module["file"] for module in truth["modules"]}
        assert sum(row["flops_share"] for row in found) == pytest.approx(1 if program["run_flops"] else 0)


def test_an_instruction_in_a_loop_runs_as_often_as_it_goes_round() -> None:
    program = hlo_files.largest([SAMPLE])
    assert program["id"] == 2
    dots = [row for row in costs.rows(program) if row["opcode"] == "dot"]
    assert {row["times"] for row in dots} == {4}
    assert all(row["file"] == "/home/user/steps1.py" for row in dots)


@each(
    ("op_name", "scope"),
    [
        ("jit(f)/jvp(layer_0)/attn/dot_general", "layer_0/attn"),
        ("jit(f)/transpose(jvp(layer_0))/attn/dot_general", "layer_0/attn (backward)"),
        ("jit(f)/jvp(layer_0)/mul;jit(f)/transpose(jvp(layer_1))/mul", "layer_0"),
        ("jit(f)/jvp(jit(take/along))/gather", "no scope"),
        ("gradient_tape/block1/mul", "gradient_tape/block1"),
        ("", "no scope"),
        ("((((", "no scope"),
    ],
)
def test_scopes_look_inside_of_transforms(op_name: str, scope: str) -> None:
    assert costs.scope(op_name) == scope


def test_what_binds_is_what_takes_longer() -> None:
    program = hlo_files.largest([SAMPLE])
    for row in costs.rows(program, peaks=(1e12, 1e9)):
        assert row["bound_ps"] == round(max(row["flops"], row["bytes"] * 1e3))
        assert row["bound"] == ("compute" if row["flops"] > row["bytes"] * 1e3 else "memory")


def test_many_paths_to_a_computation_take_no_time() -> None:
    levels = "".join(
        f"f{at} {{\n  a = f32[2]{{0}} parameter(0)\n  b = f32[2]{{0}} call(a), to_apply=f{at + 1}\n"
        f"  ROOT c = f32[2]{{0}} call(b), to_apply=f{at + 1}\n}}\n\n"
        for at in range(60)
    )
    leaf = "f60 {\n  a = f32[2]{0} parameter(0)\n  ROOT b = f32[2]{0} negate(a)\n}\n\n"
    entry = "ENTRY m {\n  a = f32[2]{0} parameter(0)\n  ROOT b = f32[2]{0} call(a), to_apply=f0\n}\n"
    program = _core.hlo_module(f"HloModule x\n\n{leaf}{levels}{entry}".encode())
    (row,) = costs.rows({**program, "module": "x", "id": None})
    assert row["times"] == 2**60
    assert row["flops"] == program["run_flops"] == 2**61


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["xla", "cost", SAMPLE, "--by", "line", "--peak", "200G,40G", "--format", "json"]) == 0
    out, err = capsys.readouterr()
    rows = json.loads(out)["rows"]
    assert sum(row["flops"] for row in rows) == 78554
    assert rows[0]["bound"] in ("compute", "memory")
    assert "module_0002" in err
    for words in (["--module", "nothing"], ["--peak", "1,0"], ["--peak", "x"], ["--by", "color"]):
        assert main(["xla", "cost", SAMPLE, *words]) == 2
        assert "to do" in capsys.readouterr().err
    assert main(["xla", "cost", SAMPLE, "--module", "train"]) == 0
    with pytest.raises(NothingFound):
        hlo_files.largest([str(SAMPLES / "chrome")])
