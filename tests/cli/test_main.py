"""Verbs, exit codes, errors in three parts, pipes and Ctrl-C."""

import gc
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from stepscope import cli
from stepscope.cli import main, query, verb_of
from stepscope.cli.console import Console, wants_color
from stepscope.cli.failure import tell, tell_nothing
from stepscope.errors import NothingFound, StepscopeError, UnreadableSource
from stepscope.sources.source import Skipped
from tests.cli.fakes import fake_trace
from tests.corpus import SAMPLES


@pytest.mark.parametrize(
    ("words", "verb", "rest"),
    [
        (["a.json"], "summary", ["a.json"]),
        (["summary", "a.json"], "summary", ["a.json"]),
        (["query", "a.json", "SELECT 1"], "query", ["a.json", "SELECT 1"]),
        (["./query"], "summary", ["./query"]),
        (["--color", "never", "query", "a"], "query", ["--color", "never", "a"]),
        (["--color=never", "query", "a"], "query", ["--color=never", "a"]),
        (["--format", "json", "a", "query"], "summary", ["--format", "json", "a", "query"]),
        (["-o", "query", "report", "a"], "report", ["-o", "query", "a"]),
        (["-", "query"], "summary", ["-", "query"]),
        (["--", "query"], "summary", ["--", "query"]),
        ([], "summary", []),
        (["-m", "pkg.train", "--lr", "1"], "record", ["-m", "pkg.train", "--lr", "1"]),
        (["python", "train.py"], "record", ["python", "train.py"]),
        (["python3.12", "-m", "pkg"], "record", ["python3.12", "-m", "pkg"]),
        (["--", "/usr/bin/python3", "x.py"], "record", ["--", "/usr/bin/python3", "x.py"]),
        (["pythonic"], "summary", ["pythonic"]),
        (["gone.py"], "summary", ["gone.py"]),
        (["summary", "gone.py"], "summary", ["gone.py"]),
    ],
)
def test_the_verb_of_a_command_line(words: list[str], verb: str, rest: list[str]) -> None:
    assert verb_of(words) == (verb, rest)


def test_a_first_word_that_is_a_program_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").touch()
    (tmp_path / "python").mkdir()
    (tmp_path / "folder.py").mkdir()
    for words in (["train.py", "query"], ["--steps", "5", "-o", "out", "train.py"], ["--", "train.py"]):
        assert verb_of(words) == ("record", words)
    for words in (["summary", "train.py"], ["query", "train.py"]):
        assert verb_of(words) == (words[0], ["train.py"])  # the name of a verb wins
    for words in (["python"], ["folder.py"]):
        assert verb_of(words) == ("summary", words)  # folders of recordings that are called so


def test_values_of_options_before_a_verb_are_no_verbs() -> None:
    """Without a verb, options are those of a summary, or of a program to record."""
    for verb in ("summary", "record"):
        for option in (action for action in cli.module_of(verb).parser()._actions if action.nargs is None):
            for name in option.option_strings:
                assert verb_of([name, "query", "a"]) == ("summary", [name, "query", "a"])


def raising(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def fail(words: list[str], console: object) -> int:
        raise error

    monkeypatch.setattr(cli, "_run", fail)


def test_an_error_has_three_parts_and_a_page(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    error = UnreadableSource(
        "It broke\x1b[31m", seen="a thing\nand another", todo="mend it", path="x.pb", offset=1234
    )
    raising(monkeypatch, error)
    assert main(["x.pb"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == (
        "error: It broke\\x1b[31m\n"
        "  file:  x.pb, byte 1,234\n"
        "  seen:  a thing\n"
        "         and another\n"
        "  to do: mend it\n"
        "  more:  stepscope docs unreadable-source\n"
    )


def test_errors_on_a_terminal_break_between_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    seen = "seventeen recordings of another program, and one/path/that/is/longer/than/the/terminal/is.pb"
    error = UnreadableSource("A sentence that is longer than forty columns", seen=seen, todo="mend it")
    out = io.StringIO()
    console = Console(io.StringIO(), out, False, False, False, True, 100, None)
    tell(error, console)
    said = out.getvalue().splitlines()
    assert [line for line in said if len(line) > 40] == [
        "         one/path/that/is/longer/than/the/terminal/is.pb"
    ]
    assert said[0] == "error: A sentence that is longer than"
    assert " ".join(out.getvalue().split()) == (
        f"error: {error.happened} seen: {seen} to do: mend it more: stepscope docs unreadable-source"
    )
    nothing = io.StringIO()
    what = "These recordings say nothing about memory: they hold none at all."
    tell_nothing(what, "record with more of it", console._replace(err=nothing))
    assert all(len(line) <= 40 for line in nothing.getvalue().splitlines())
    assert " ".join(nothing.getvalue().split()) == f"{what} to do: record with more of it"


def test_an_empty_path_is_a_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([""], ["summary", ""], ["query", "", "SELECT 1"]):
        assert main(words) == 2
        assert "An empty path names nothing." in capsys.readouterr().err


def test_an_unexpected_error_asks_for_a_report(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    raising(monkeypatch, ZeroDivisionError("oh"))
    monkeypatch.delenv("STEPSCOPE_TRACEBACK", raising=False)
    assert main(["x"]) == 2
    shown = capsys.readouterr().err
    assert "ZeroDivisionError: oh" in shown
    assert "STEPSCOPE_TRACEBACK=1" in shown
    assert "Traceback" not in shown
    monkeypatch.setenv("STEPSCOPE_TRACEBACK", "1")
    assert main(["x"]) == 2
    assert "Traceback" in capsys.readouterr().err


def test_ctrl_c(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    raising(monkeypatch, KeyboardInterrupt())
    assert main(["x"]) == 130
    assert capsys.readouterr().err == "stopped\n"


@pytest.mark.parametrize(
    ("words", "seen"),
    [
        (["--frobnicate", "x"], "unrecognized arguments: --frobnicate"),
        (["query", "x", "--format", "xml", "SELECT 1"], "invalid choice: 'xml'"),
        (["summary"], "no PATH and no --lake"),
        (["x", "--lake", "y"], "--lake y and x"),
        (["query", "a", "SELECT 1", "-f", "b"], "an argument and -f b"),
        (["query", "a", "-f", "/nowhere/b.sql"], "No such file"),
        (["query", "a", "/* nothing */ "], "nothing but blanks"),
        (["ingest", "x"], "no --lake"),
        (["ingest", "--lake", "x"], "no PATH"),
        (["export", "x"], "no -o"),
        (["report", "-"], "no -o"),
        (["report", "x", "-o", "y.pdf"], ".pdf"),
        (["docs", "slicee"], "near it: slice"),
        (["docs", "stragglers"], "near it: straggler, transfers, stores\n"),
    ],
)
def test_mistakes_are_usage_errors(words: list[str], seen: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert seen in captured.err
    assert captured.err.startswith("error: ")
    assert "to do:" in captured.err


def test_a_misspelt_verb_gets_a_hint(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    raising(monkeypatch, NothingFound("No recording", seen="nothing", todo="look"))
    assert main(["qeury", "x"]) == 2
    assert capsys.readouterr().err.startswith("error: There is no verb, file or folder ")
    raising(monkeypatch, NothingFound("No recording", seen="nothing", todo="look"))
    assert main(["logs"]) == 2
    assert "did you mean" not in capsys.readouterr().err


def test_a_closed_pipe_is_silent(tmp_path: Path) -> None:
    script = "import sys\nfrom stepscope.cli import main\nsys.exit(main(['docs', 'tables']))"
    # The reader goes before anything is written, and after the first line.
    for reader in ("true", "head -n 1"):
        command = f'set -o pipefail; "{sys.executable}" -c "{script}" | {reader} > /dev/null'
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")


def test_colors() -> None:
    assert wants_color("always", False, {"NO_COLOR": "1"})
    assert not wants_color("never", True, {"FORCE_COLOR": "1"})
    assert wants_color("auto", True, {})
    assert not wants_color("auto", False, {})
    assert not wants_color("auto", True, {"NO_COLOR": "1", "FORCE_COLOR": "1"})
    assert wants_color("auto", True, {"NO_COLOR": ""})
    assert wants_color("auto", False, {"FORCE_COLOR": "1"})
    assert not wants_color("auto", False, {"FORCE_COLOR": "0"})
    assert not wants_color("auto", True, {"TERM": "dumb"})


@pytest.mark.parametrize(("choice", "colored"), [("always", True), ("never", False), ("auto", False)])
def test_color_of_errors(
    choice: str, colored: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    raising(monkeypatch, StepscopeError("x", seen="y", todo="z"))
    main(["a", "--color", choice])
    assert ("\x1b[1;31merror:\x1b[0m" in capsys.readouterr().err) == colored


def test_a_path_with_broken_bytes_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    out, err = io.BytesIO(), io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out, encoding="ascii"))
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(err, encoding="ascii"))
    name = os.fsdecode(b"tr\xffce")
    raising(monkeypatch, NothingFound("No recording", seen="nothing", todo="look", path=name))
    assert main([name]) == 2
    sys.stderr.flush()
    assert b"file:  tr\\u{dcff}ce" in err.getvalue()


def test_summary_forms(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    starts = {"table": "resnet14: 1 run", "json": "{\n", "csv": "part,name,row", "md": "# resnet14"}
    with fake_trace(monkeypatch) as opened:
        for form, start in starts.items():
            assert main(["a", "b", "--format", form, "--no-cache"]) == 0
            assert capsys.readouterr().out.startswith(start)
        assert opened[0].paths == ("a", "b")
        assert opened[0].options["cache"] is False


def test_what_was_not_read_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    skipped = tuple(Skipped(f"a.zip!{i}\x1b", "nested-archive", "an archive within") for i in range(7))
    with fake_trace(monkeypatch, skipped):
        assert main(["a.zip"]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("resnet14")
    lines = captured.err.splitlines()
    assert lines[0] == "not read: a.zip!0\\x1b: an archive within (stepscope docs nested-archive)"
    assert lines[5:] == ["not read: 2 more files"]


def test_report_files(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with fake_trace(monkeypatch):
        for ending, start in {".html": "<!doctype html>", ".md": "# resnet14", ".json": "{\n"}.items():
            target = tmp_path / f"r{ending}"
            assert main(["report", "a", "-o", str(target)]) == 0
            assert target.read_text(encoding="utf-8").startswith(start)
            assert main(["report", "a", "-o", str(target)]) == 2
            assert "--force" in capsys.readouterr().err
            target.write_text("old")
            assert main(["report", "a", "-o", str(target), "--force"]) == 0
            assert target.read_text(encoding="utf-8").startswith(start)
            assert capsys.readouterr().out == ""
        assert sorted(path.name for path in tmp_path.iterdir()) == ["r.html", "r.json", "r.md"]
        assert main(["report", "a", "-o", "-"]) == 0
        assert capsys.readouterr().out.startswith("# resnet14")


SLOW = str(Path(__file__).resolve().parents[1] / "samples" / "capture" / "slow_map")


LIMITS = [
    ("high", 1, "python-in-pipeline (high), input-wait (high)", "json"),
    ("low", 1, "slow-step (low)", "table"),
    ("input_wait,few-steps", 1, "--fail-on: input-wait (high)\n", "table"),
    ("few-steps", 0, "", "json"),
    ("hgh", 2, "did you mean high?", "table"),
    ("input-wiat", 2, "did you mean input-wait?", "table"),
    (",", 2, "names nothing", "json"),
]
"""Each with a form in which the first tier asks; any other form makes no difference."""


@pytest.mark.parametrize(
    ("limit", "code", "told", "form"),
    [
        *LIMITS,
        *(pytest.param(*one, "csv", marks=pytest.mark.repeats("in another form")) for *one, _ in LIMITS),
    ],
)
def test_findings_over_a_limit(
    limit: str, code: int, told: str, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([SLOW, "--fail-on", limit, "--format", form]) == code
    captured = capsys.readouterr()
    assert told in captured.err
    assert bool(captured.out) == (code != 2)
    assert (captured.err == "") == (code == 0)


def test_a_folder_that_is_called_like_a_verb(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "capture").mkdir()
    assert main(["capture", "--fail-on", "high"]) == 2
    assert "to read what is called capture here, write ./capture" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "headline", "never"),
    [
        (["record", "--steps", "abc", "x.py"], "--steps: 'abc' is not a whole number", "_count"),
        (["record", "--steps", "0", "x.py"], "--steps: 0 is below 1", "_count"),
        (["record", "--seconds", "soon", "x.py"], "--seconds: 'soon' is not a number of seconds", "float"),
        (["memory", "x", "--batch", "many"], "--batch takes a whole number", " int "),
        (["--frobnicate", "x"], "stepscope summary has no option --frobnicate", "sense"),
        (["x", "--format", "xml"], "--format cannot be 'xml'", "sense"),
        (["x", "--format"], "--format needs a value", "sense"),
        (
            ["record", "--steps", "3", "--seconds", "3", "x"],
            "--seconds and --steps exclude each other",
            "sense",
        ),
        (
            ["recrod", "--", "python", "x.py"],
            "There is no verb, file or folder recrod. Did you mean record?",
            "sense",
        ),
    ],
)
def test_the_headline_is_what_is_wrong(
    words: list[str], headline: str, never: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    told = capsys.readouterr().err
    assert told.splitlines()[0] == f"error: {headline}"
    assert never not in told


def test_a_misspelt_statement_is_sql(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The engine says where it is wrong; "there is no file SELEC 1" helps nobody."""
    trace = str(SAMPLES / "chrome" / "horovod.json")
    assert main(["query", trace, "SELEC 1"]) == 2
    told = capsys.readouterr().err
    assert 'syntax error at or near "SELEC"' in told
    assert not query.looks_like_sql("my trace.json")


def test_a_report_is_called_like_what_was_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["report", str(SAMPLES / "chrome" / "horovod.json")]) == 0
    assert capsys.readouterr().err == "wrote horovod.html\n"
    assert (tmp_path / "horovod.html").read_text().startswith("<!doctype html>")


def test_a_port_may_be_any_free_one() -> None:
    from stepscope.cli.serve import parser

    assert parser().parse_args(["x", "--port", "0"]).port == 0


def test_a_process_of_ours_looks_less_often_for_circles(monkeypatch):
    """A program that calls main() with a command line keeps what it has set."""
    monkeypatch.setattr(sys, "argv", ["stepscope", "version"])
    monkeypatch.setattr(cli, "_leave", sys.exit)
    before = gc.get_threshold()
    try:
        assert main(["version"]) == 0
        assert gc.get_threshold() == before
        with pytest.raises(SystemExit, match="0"):
            main()
        assert gc.get_threshold() == (cli._OBJECTS, *before[1:])
    finally:
        gc.set_threshold(*before)
