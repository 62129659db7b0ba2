"""`stepscope record --format`: what was recorded as data on stdout, and nothing else there."""

import csv
import json
import sys
from pathlib import Path

import pytest

from stepscope.cli import main
from stepscope.cli import record as verb
from stepscope.cli.recording_outcome import FACTS
from stepscope.errors import UsageError
from tests.capture.launching import record
from tests.corpus import SAMPLES

PROGRAM = "import sys; print('to stdout'); print('to stderr', file=sys.stderr); sys.exit(3)"


@pytest.mark.parametrize("form", ["json", "csv", "md"])
def test_stdout_is_the_facts_alone(form: str, tmp_path: Path) -> None:
    done = record("--format", form, "--", sys.executable, "-c", PROGRAM, cwd=tmp_path)
    assert done.returncode == 3
    assert "to stdout" in done.stderr
    assert "to stderr" in done.stderr
    assert "to std" not in done.stdout
    if form == "json":
        told = json.loads(done.stdout)
        (row,) = told["rows"]
        assert tuple(row) == FACTS
        assert (row["exit_code"], row["steps"], row["out"]) == (3, 0, None)
    elif form == "csv":
        (row,) = csv.DictReader(done.stdout.splitlines())
        assert (row["exit_code"], row["steps"], row["out"]) == ("3", "0", "")
    else:
        assert done.stdout.startswith("| out |")


def test_without_a_format_stdout_is_the_programs(tmp_path: Path) -> None:
    done = record("--", sys.executable, "-c", PROGRAM, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, "to stdout\n")


def test_spreadsheets_are_csv(tmp_path: Path) -> None:
    done = record("--spreadsheet", "--", sys.executable, "-c", PROGRAM, cwd=tmp_path)
    assert done.returncode == 2
    assert "Only CSV has formulas" in done.stderr


# --- what is ours and what is the program's -----------------------------------------------------


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (["train.py", "--steps", "5", "-o", "x"], ["train.py", "--steps", "5", "-o", "x"]),
        (["--steps", "7", "train.py", "--", "a"], ["train.py", "--", "a"]),
        (["--steps=7", "--", "--odd", "a"], ["--odd", "a"]),
        (["--steps", "7", "-m", "pkg", "-h"], ["-m", "pkg", "-h"]),
        (["--steps", "7", "--no-graph", "-c", "pass"], ["-c", "pass"]),
        (["--steps", "7"], []),
    ],
)
def test_options_stand_before_the_program(words: list[str], command: list[str]) -> None:
    options = verb.parser().parse_args(words)
    assert options.command == command
    assert options.steps == (7 if words[0].startswith("--steps") else None)


def test_out_is_a_folder_and_a_report(tmp_path: Path) -> None:
    def parsed(*words: str) -> tuple[str | None, str | None]:
        options = verb.parser().parse_args([*words, "train.py"])
        return options.out, options.report

    assert parsed() == (None, None)
    assert parsed("-o", "r.html") == (None, "r.html")
    assert parsed("-o", "r.HTML", "--out", "folder.d") == ("folder.d", "r.HTML")
    (tmp_path / "old.md").mkdir()
    assert parsed("-o", str(tmp_path / "old.md")) == (str(tmp_path / "old.md"), None)
    for words in (("-o", "a", "-o", "b"), ("-o", "a.md", "-o", "b.html")):
        with pytest.raises(UsageError):
            parsed(*words)


# --- the end ------------------------------------------------------------------------------------


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a program that prints, leaves a recording of another day in `out`, and exits with 3."""
    monkeypatch.chdir(tmp_path)
    sample = str(SAMPLES / "capture" / "slow_map")
    (tmp_path / "train.py").write_text(
        f"import shutil, sys\nshutil.copytree({sample!r}, 'out')\n"
        "print('trained', sys.argv[1:], flush=True)\nsys.exit(3)\n"
    )
    return tmp_path


def test_the_answer_comes_after_what_the_program_prints(
    recorded: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["-o", "out", "train.py", "--lr", "1"]) == 3
    shown = capfd.readouterr()
    first, title, sentence = shown.out.splitlines()[:3]
    assert first == "trained ['--lr', '1']"
    assert title.startswith("out: 1 run")
    assert sentence.startswith("Waiting for input takes 79.8 % of a step")
    assert "stepscope: recorded 16 steps of step to out\n" in shown.err
    assert "next:" not in shown.err


def test_the_answer_is_left_out_on_demand(recorded: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["record", "--no-summary", "-o", "out", "train.py"]) == 3
    shown = capfd.readouterr()
    assert shown.out == "trained []\n"
    assert shown.err.endswith("  next:    stepscope out\n")


@pytest.mark.repeats("a program is recorded anew, for what cli/test_formats.py reads")
def test_a_report_is_written_at_the_end(recorded: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["-o", "r.md", "-o", "out", "--no-summary", "train.py"]) == 3
    assert capfd.readouterr().err.endswith("wrote r.md\n")
    assert "Waiting for input takes 79.8 % of a step" in (recorded / "r.md").read_text()


def test_a_report_that_is_there_stops_the_program_from_starting(
    recorded: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (recorded / "r.md").touch()
    assert main(["-o", "r.md", "-o", "out", "train.py"]) == 2
    shown = capfd.readouterr()
    assert (shown.out, (recorded / "out").exists()) == ("", False)
    assert "r.md is there already" in shown.err


def test_an_answer_that_fails_changes_no_exit_code(
    recorded: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("stepscope.cli.summary.run", interrupted)
    assert main(["-o", "out", "train.py"]) == 3
    assert capfd.readouterr().err.endswith("stopped\n")


def test_the_page_opens_at_the_end(
    recorded: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    served: list[list[str]] = []
    monkeypatch.setattr("stepscope.cli.serve.run", lambda options, console: served.append(options.paths))
    assert main(["--no-summary", "--open", "-o", "out", "train.py"]) == 3
    assert served == [["out"]]
