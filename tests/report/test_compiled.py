"""The report on a dump folder: what was compiled, how often, what it costs, what is odd."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from stepscope.cli import main
from stepscope.instruments.xla import dumps, oddities
from stepscope.report import compiled, compiled_findings
from tests.corpus import SAMPLES

SAMPLE = SAMPLES / "xla_dump"
_HEAD = "HloModule jit_f\n\n"


def _odd(folder: Path) -> list[oddities.Odd]:
    return oddities.find(dumps.read([str(folder)]).rows)


def test_a_bare_path_says_what_was_compiled(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(SAMPLE)]) == 0
    out = capsys.readouterr().out
    assert "XLA compiled 2 modules of 1 function." in out
    assert "parameter 1 was f32[8,16], then f32[12,16]" in " ".join(out.split())
    assert "1 equals the dump before byte for byte." in out
    assert "stepscope xla dumps" in out


def test_json_has_every_module_with_raw_figures(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(SAMPLE), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(one["id"], one["compile"], one["run_flops"]) for one in found["modules"]] == [
        (0, 1, 52890),
        (2, 2, 78554),
    ]
    assert [one["kind"] for one in found["oddities"]] == ["recompiled", "loops", "loops"]
    assert main([str(SAMPLE / "module_0002.jit_train_step.before_optimizations.hlo.pb")]) == 0
    assert main([str(SAMPLE), "--format", "md", "--all"]) == 0


def test_folders_without_a_module_stay_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "module_0000.jit_f.before_optimizations.txt").write_text("half")
    assert main([str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "The file cannot be read" in said
    assert "no file of the dump could be read; the first is module_0000.jit_f" in said


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("doubles", "  a = f32[9]{0} parameter(0)\n  ROOT b = f64[9]{0} convert(a)\n"),
        (
            "custom_calls",
            '  a = f32[9]{0} parameter(0)\n  ROOT b = f32[9]{0} custom-call(a), custom_call_target="x"\n',
        ),
        (
            "copies",
            "  a = f32[9]{0} parameter(0)\n"
            + "".join(f"  c{at} = f32[9]{{0}} copy(a)\n" for at in range(12))
            + "  ROOT b = f32[9]{0} copy(a)\n",
        ),
    ],
)
def test_oddities_are_found_where_they_are(kind: str, body: str, tmp_path: Path) -> None:
    path = tmp_path / "module_0000.jit_f.cpu_after_optimizations.txt"
    path.write_text(f"{_HEAD}ENTRY m {{\n{body}}}\n")
    assert [one.kind for one in _odd(tmp_path)] == [kind]
    (finding,) = compiled.build(dumps.read([str(tmp_path)]), "d").findings
    assert "jit_f (0)" in finding.impact
    assert finding.evidence.rows
    path.write_text(
        f"{_HEAD}ENTRY m {{\n  a = f64[9]{{0}} parameter(0)\n  ROOT b = f64[9]{{0}} negate(a)\n}}\n"
    )
    assert _odd(tmp_path) == []


def test_a_compile_that_ended_early_is_odd(tmp_path: Path) -> None:
    for path in SAMPLE.glob("module_000*.hlo.pb"):
        if "0002.jit_train_step.cpu" not in path.name:
            shutil.copy(path, tmp_path)
    found = [one for one in _odd(tmp_path) if one.kind == "unfinished"]
    assert [(one.id, one.details) for one in found] == [(2, ("before_optimizations", ""))]


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("f32[2]{0}, f32[3,4]{1,0}", "f32[2]{0}, f32[5,4]{1,0}", ("1", "f32[3,4]", "f32[5,4]")),
        ("f32[2]{0}", "f32[2]{0}, s32[]", ("1", "no parameter", "s32[]")),
        ("(f32[2]{0}, s32[])", "(f32[3]{0}, s32[])", ("0", "(f32[2], s32[])", "(f32[3], s32[])")),
    ],
)
def test_the_shape_that_changed_is_named(a: str, b: str, expected: tuple[str, ...]) -> None:
    assert oddities._changed(a, b) == expected


def _compiled(*parameters: str, instructions: int = 20) -> list[dict[str, object]]:
    """Rows of a function that was compiled for each of some parameters."""
    made: dict[str, object] = dict.fromkeys(dumps.COLUMNS)
    made.update(dict.fromkeys(("flops", "run_flops", "copies", "instructions"), 0))
    made.update({"stage": "cpu_after_optimizations", "module": "jit_f", "function": "f", "folder": "d"})
    return [
        {**made, "id": number, "parameters": one, "instructions": instructions}
        for number, one in enumerate(parameters)
    ]


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
    parameters: tuple[str, ...], instructions: int, told: str | None
) -> None:
    """Single ops are compiled for each type that they are used with: no sentence says so."""
    found = oddities.find(_compiled(*parameters, instructions=instructions))
    findings = compiled_findings.build(found, [], {"f"})
    sentences = [f"{one.impact} {one.action}" for one in findings]
    assert sentences == [] if told is None else len(sentences) == 1 and told in sentences[0]
