"""stepscope xla diff."""

import json
import shutil
from pathlib import Path

import pytest

from stepscope.cli import main
from tests.corpus import SAMPLES

SAMPLE = str(SAMPLES / "xla_dump")
BEFORE = f"{SAMPLE}/module_0000.jit_train_step.before_optimizations.hlo.pb"
AFTER = f"{SAMPLE}/module_0000.jit_train_step.cpu_after_optimizations.hlo.pb"


def test_a_folder_is_told_pass_by_pass(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["xla", "diff", SAMPLE]) == 0
    out, err = capsys.readouterr()
    assert "jit_train_step: before_optimizations → 0003 algsimp" in out
    assert "instructions 116 → 85 (-31), fusions 0, flops" in out
    assert "1 pass changed nothing" in err
    assert "guessed by order" in err


def test_json_holds_every_pair_with_its_basis(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["xla", "diff", SAMPLE, "--stage", "before..after", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    (one,) = told["comparisons"]
    assert len(one["by_way_of"]) == 4
    assert one["totals"]["instructions"] == {"a": 116, "b": 143, "delta": 27}
    assert sum(one["bases"].values()) == len(one["pairs"])
    assert {pair["guess"] for pair in one["pairs"]} <= {pair["basis"] == "order" for pair in one["pairs"]}
    assert all(pair["basis"] for pair in one["pairs"])
    assert told["unchanged_passes"] is None
    # Two files of one folder are compared in the same way.
    assert main(["xla", "diff", BEFORE, AFTER, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["comparisons"] == told["comparisons"]


def test_the_other_direction_is_the_mirror(capsys: pytest.CaptureFixture[str]) -> None:
    told = []
    for stages in ("before..after", "after..before"):
        assert main(["xla", "diff", SAMPLE, "--stage", stages, "--format", "json"]) == 0
        told.append(json.loads(capsys.readouterr().out)["comparisons"][0])
    there, back = (
        {(pair[x], pair[y]) for pair in one["pairs"]}
        for one, x, y in ((told[0], "a", "b"), (told[1], "b", "a"))
    )
    assert there == back


def test_two_compiles_and_two_folders(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["xla", "diff", SAMPLE, "--compile", "1..2"]) == 0
    out = capsys.readouterr().out
    assert "cpu_after_optimizations → cpu_after_optimizations of compile 2" in out
    assert "with another shape" in out
    shutil.copytree(SAMPLE, tmp_path / "new")
    assert main(["xla", "diff", SAMPLE, str(tmp_path / "new"), "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert len(told["comparisons"]) == 2
    assert not any(one["groups"] for one in told["comparisons"])
    assert main(["xla", "diff", SAMPLE, str(tmp_path / "new")]) == 0
    assert "nothing changed" in capsys.readouterr().out
    for file in (tmp_path / "new").glob("module_0002*"):
        file.unlink()
    assert main(["xla", "diff", SAMPLE, str(tmp_path / "new"), "--stage", "before"]) == 0
    assert "only on one side: train_step" in capsys.readouterr().err


def test_csv_and_markdown_have_a_row_for_each_change(capsys: pytest.CaptureFixture[str]) -> None:
    for form in ("csv", "md"):
        assert main(["xla", "diff", SAMPLE, "--format", form]) == 0
        assert "-folded" in capsys.readouterr().out
    assert main(["xla", "diff", SAMPLE, "--all", "--no-metadata"]) == 0
    assert "basis" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["gone"],
        [SAMPLE, SAMPLE, SAMPLE],
        [SAMPLE, "--module", "nothing"],
        [SAMPLE, "--stage", "before"],
        [SAMPLE, "--stage", "before..nothing"],
        [SAMPLE, "--stage", "before..before"],
        [SAMPLE, "--compile", "1"],
        [SAMPLE, "--compile", "1..9"],
        [SAMPLE, SAMPLE, "--compile", "1..2"],
        [SAMPLE, SAMPLE, "--stage", "before..after"],
        [SAMPLE, "--spreadsheet"],
    ],
)
def test_mistakes_have_three_parts(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["xla", "diff", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "seen" in err
    assert "to do" in err


def test_damaged_files_end_in_a_sentence(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    shutil.copytree(SAMPLE, tmp_path / "d")
    damaged = tmp_path / "d" / Path(AFTER).name
    damaged.write_bytes(damaged.read_bytes()[:1000])
    # The text of the stage is there.
    assert main(["xla", "diff", str(tmp_path / "d")]) == 0
    assert main(["xla", "diff", str(tmp_path / "d" / Path(BEFORE).name), str(damaged)]) in (0, 2)
    capsys.readouterr()
