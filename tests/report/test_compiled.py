"""The report on a dump folder: what was compiled, how often, what it costs, what is odd."""

import json
import shutil
from pathlib import Path

import pytest

from stepscope import report
from stepscope.cli import main
from stepscope.formats.xla import compared_programs
from stepscope.report import ReportFinding
from stepscope.session import trace
from tests.corpus import SAMPLES

SAMPLE = SAMPLES / "xla_dump"
_HEAD = "HloModule jit_f\n\n"


def _findings(folder: Path) -> dict[str, ReportFinding]:
    with trace.open(str(folder), cache=False) as opened:
        return {one.slug: one for one in report.build(opened).findings}


def test_a_bare_path_says_what_was_compiled(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(SAMPLE)]) == 0
    out = capsys.readouterr().out
    assert "XLA compiled 2 modules of 1 function." in out
    assert "parameter 1 was f32[8,16], then f32[12,16]" in " ".join(out.split())
    assert "Of 4 dumps after passes, 1 equals the dump before byte for byte." in out
    assert "stepscope xla dumps" in out


def test_json_has_every_module_with_raw_figures(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(SAMPLE), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    (modules,) = [one["table"]["rows"] for one in found["sections"] if one["name"] == "hlo_modules"]
    assert [(one["program_id"], one["compile"], one["run_flops"]) for one in modules] == [
        ("2", 2, 78554),
        ("0", 1, 52890),
    ]
    assert [(one["slug"], one["evidence"]["total"]) for one in found["findings"]] == [
        ("compiled-for-other-shapes", 1),
        ("loops-counted-once", 2),
    ]
    assert main([str(SAMPLE / "module_0002.jit_train_step.before_optimizations.hlo.pb")]) == 0
    assert main([str(SAMPLE), "--format", "md", "--all"]) == 0


def test_folders_without_a_module_stay_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "module_0000.jit_f.before_optimizations.txt").write_text("half")
    assert main([str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "The file cannot be read" in said
    assert "no file of the dump could be read; the first is module_0000.jit_f" in said


@pytest.mark.parametrize(
    ("slug", "body"),
    [
        ("doubles-not-asked-for", "  a = f32[9]{0} parameter(0)\n  ROOT b = f64[9]{0} convert(a)\n"),
        (
            "custom-calls-without-cost",
            '  a = f32[9]{0} parameter(0)\n  ROOT b = f32[9]{0} custom-call(a), custom_call_target="x"\n',
        ),
        (
            "many-copies",
            "  a = f32[9]{0} parameter(0)\n"
            + "".join(f"  c{at} = f32[9]{{0}} copy(a)\n" for at in range(12))
            + "  ROOT b = f32[9]{0} copy(a)\n",
        ),
    ],
)
def test_problems_are_found_where_they_are(slug: str, body: str, tmp_path: Path) -> None:
    path = tmp_path / "module_0000.jit_f.cpu_after_optimizations.txt"
    path.write_text(f"{_HEAD}ENTRY m {{\n{body}}}\n")
    found = _findings(tmp_path)
    assert list(found) == [slug]
    assert "jit_f (0)" in found[slug].impact
    assert found[slug].evidence.rows
    path.write_text(
        f"{_HEAD}ENTRY m {{\n  a = f64[9]{{0}} parameter(0)\n  ROOT b = f64[9]{{0}} negate(a)\n}}\n"
    )
    assert _findings(tmp_path) == {}


def test_a_compile_that_ended_early_is_found(tmp_path: Path) -> None:
    for path in SAMPLE.glob("module_000*.hlo.pb"):
        if "0002.jit_train_step.cpu" not in path.name:
            shutil.copy(path, tmp_path)
    found = _findings(tmp_path)["compile-not-dumped-to-its-end"]
    assert found.impact == "jit_train_step (2): the last dump that is there is before_optimizations."
    shutil.copy(
        next(SAMPLE.glob("module_0000.*after_dce*reshape*")),
        tmp_path / ("module_0002.jit_train_step.0007.simplification.after_dce.before_reshape-mover.hlo.pb"),
    )
    found = _findings(tmp_path)["compile-not-dumped-to-its-end"]
    assert found.impact == "jit_train_step (2): the last dump that is there is pass 7, dce."


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("f32[2]{0}, f32[3,4]{1,0}", "f32[2]{0}, f32[5,4]{1,0}", "1 was f32[3,4], then f32[5,4]"),
        ("f32[2]{0}", "f32[2]{0}, s32[]", "1 was no parameter, then s32[]"),
        ("(f32[2]{0}, s32[])", "(f32[3]{0}, s32[])", "0 was (f32[2], s32[]), then (f32[3], s32[])"),
    ],
)
def test_the_shape_that_changed_is_named(a: str, b: str, expected: str) -> None:
    assert compared_programs._changed(a, b) == f"parameter {expected}"


@pytest.mark.parametrize(
    ("parameters", "instructions", "told"),
    [
        (("f32[8,4]{1,0}", "f32[9,4]{1,0}"), 20, "f32[8,4], then f32[9,4]. Pad inputs"),
        (("f32[8]{0}", "f32[9]{0}"), 2, "f32[8], then f32[9]. Pad inputs"),
        (("f32[8]{0}", "s32[8]{0}", "s32[9]{0}"), 20, "for 2 different inputs: parameter 0 was s32[8], then"),
        (("f32[8]{0}", "s32[8]{0}"), 20, "was f32[8], then s32[8]. Pass arguments of one type"),
        (("f32[8]{0}", "f32[8]{0}, s32[]"), 20, "parameter 1 was no parameter, then s32[]. Pass arguments"),
        (("f32[]", "s32[]", "pred[]"), 3, None),
        (("f32[8]{0}", "f32[8]{0}"), 20, None),
    ],
)
def test_what_functions_were_compiled_again_for(
    parameters: tuple[str, ...], instructions: int, told: str | None, tmp_path: Path
) -> None:
    """Single ops are compiled for each type that they are used with: no sentence says so."""
    for number, one in enumerate(parameters):
        shapes = one.split(", ") if "," not in one.partition("{")[0] else [one]
        lines = [f"  p{at} = {shape} parameter({at})" for at, shape in enumerate(shapes)]
        lines += [f"  n{at} = {shapes[0]} negate(p0)" for at in range(instructions - len(shapes) - 1)]
        text = "\n".join([*lines, f"  ROOT r = {shapes[0]} negate(p0)"])
        path = tmp_path / f"module_000{number}.jit_f.cpu_after_optimizations.txt"
        path.write_text(f"HloModule jit_f\n\nENTRY m {{\n{text}\n}}\n")
    sentences = [f"{one.impact} {one.action}" for one in _findings(tmp_path).values()]
    assert sentences == [] if told is None else len(sentences) == 1 and told in sentences[0]
