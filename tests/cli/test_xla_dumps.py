"""stepscope xla dumps."""

import json
from pathlib import Path

import pytest

from stepscope.cli import main
from tests.corpus import SAMPLES

SAMPLE = str(SAMPLES / "xla_dump")


def test_json_has_all_columns(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["xla", "dumps", SAMPLE, "--format", "json"]) == 0
    out, err = capsys.readouterr()
    rows = json.loads(out)["rows"]
    assert len(rows) == 7
    last = rows[-1]
    assert (last["module"], last["id"], last["pass"]) == ("jit_train_step", 2, None)
    assert last["stage"] == "cpu_after_optimizations"
    assert (last["flops"], last["run_flops"], last["temp_bytes"]) == (20166, 78554, 12676)
    assert "2 modules of 1 function" in err
    assert "1 pass dump without a change" in err


def test_tables_are_for_people_and_csv_for_machines(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["xla", "dumps", SAMPLE]) == 0
    table = capsys.readouterr().out
    assert "algsimp" in table
    assert "heap_needed_bytes" not in table
    assert main(["xla", "dumps", SAMPLE, "--format", "csv", "--all"]) == 0
    csv = capsys.readouterr().out.splitlines()
    assert csv[0].startswith("module,id,stage,pass,file,computations,instructions,fusions,flops")
    assert len(csv) == 1 + 8
    assert main(["xla", "dumps", SAMPLE, "--format", "md", "--module", "nothing"]) == 0


def test_files_are_listed_in_the_order_of_the_compile(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["xla", "dumps", SAMPLE, "--files", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    places = [row["place"] for row in rows if row["id"] == 0]
    assert places == ["input", *["options"] * 3, "before", *["pass"] * 4, "after", "after", "memory"]


def test_mistakes_have_three_parts(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for words in (
        ["xla", "dumps"],
        ["xla", "dump", SAMPLE],
        ["xla", "dumps", str(tmp_path)],
        ["xla", "dumps", str(tmp_path / "gone")],
    ):
        assert main(words) == 2, words
        out, err = capsys.readouterr()
        assert out == ""
        assert "seen" in err
        assert "to do" in err


def test_help_lists_the_verbs_below(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["xla", "--help"], ["help", "xla"]):
        assert main(words) == 0
        assert "dumps" in capsys.readouterr().out
    assert main(["xla", "dumps", "--help"]) == 0
    assert "--files" in capsys.readouterr().out


def test_sql_reaches_a_folder_and_the_summary_stays_what_was_compiled(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["query", SAMPLE, "SELECT module FROM hlo_module", "--no-cache"]) == 0
    assert "jit_train_step" in capsys.readouterr().out
    assert main([SAMPLE, "--no-cache"]) == 0
    assert "XLA compiled 2 modules of 1 function." in capsys.readouterr().out
    assert main(["memory", SAMPLE, "--no-cache"]) == 0
    assert "Memory of 2 compiled programs" in capsys.readouterr().out


def test_a_file_that_is_no_program_points_at_its_folder(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "some.hlo.pb").write_bytes(b"\x01\x02nothing")
    assert main(["query", str(tmp_path), "SELECT 1", "--no-cache"]) == 2
    assert "--xla_dump_to" in capsys.readouterr().err


def test_a_lake_of_dumps_says_what_was_compiled(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    lake = str(tmp_path / "lake")
    assert main(["ingest", SAMPLE, "--lake", lake]) == 0
    capsys.readouterr()
    assert main(["--lake", lake, "--no-cache"]) == 0
    out = capsys.readouterr().out
    assert "Only dumps were found: they show what XLA compiled, not where the time went." in out
    assert "jit_train_step" in out


def test_dumps_are_compared_by_xla_diff(capsys: pytest.CaptureFixture[str]) -> None:
    """diff and check ask for times, which a dump has not."""
    for words in (["diff", SAMPLE, SAMPLE], ["check", "--baseline", SAMPLE, "--candidate", SAMPLE]):
        assert main([*words, "--no-cache"]) == 2, words
        out, err = capsys.readouterr()
        assert "nothing but dumps" in out + err, words
    assert main(["diff", SAMPLE, SAMPLE, "--no-cache"]) == 2
    assert "stepscope xla diff" in capsys.readouterr().err
