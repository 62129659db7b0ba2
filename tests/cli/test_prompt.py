"""The prompt: what it does with a text, and what it offers to complete."""

import argparse
import io
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from stepscope.cli import prompt
from stepscope.cli.completion import SqlCompleter
from stepscope.cli.console import Console
from stepscope.cli.progress import Bar
from stepscope.lake.schema import schema
from tests.cli.fakes import OpenedTrace, fake_trace


@pytest.fixture
def talk() -> Iterator[prompt.SqlDialogue]:
    console = Console(io.StringIO(), io.StringIO(), False, False, False, False, 100, None)
    with OpenedTrace("a") as trace:
        yield prompt.SqlDialogue(trace, console, "csv", Bar(console))


def heard(talk: prompt.SqlDialogue) -> tuple[str, str]:
    assert isinstance(talk.console.out, io.StringIO)
    assert isinstance(talk.console.err, io.StringIO)
    return talk.console.out.getvalue(), talk.console.err.getvalue()


def test_statements_are_answered(talk: prompt.SqlDialogue) -> None:
    assert talk.answer("SELECT 1 AS one;\n SELECT 2 AS two;")
    assert heard(talk) == ("one\r\n1\r\ntwo\r\n2\r\n", "")


def test_a_mistake_keeps_the_prompt_alive(talk: prompt.SqlDialogue) -> None:
    for text in (
        "SELECT nonsense FROM slice;",
        ".schema nonsense",
        ".mode xml",
        ".read",
        ".nonsense",
        '.read "x',
    ):
        assert talk.answer(text)
    out, err = heard(talk)
    assert out == ""
    assert err.count("error: ") == 6


def test_ctrl_c_stops_the_query_and_not_the_prompt(
    talk: prompt.SqlDialogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(sql: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(talk.trace, "query", stop)
    assert talk.answer("SELECT 1;")
    assert talk.trace.interrupted  # type: ignore[attr-defined]
    assert heard(talk)[1] == "stopped\n"


@pytest.mark.parametrize(
    "text", [".quit", "quit", "exit;", " .exit ", "SELECT name\nFROM slice\nquit", "QUIT"]
)
def test_leaving(talk: prompt.SqlDialogue, text: str) -> None:
    assert not talk.answer(text)


def test_dot_commands(talk: prompt.SqlDialogue, tmp_path: Path) -> None:
    file = tmp_path / "with blank.sql"
    file.write_text("SELECT 7 AS seven")
    for text in (".help", ".tables", ".analyses", ".schema track", ".mode md", f".read '{file}'"):
        assert talk.answer(text)
    out, err = heard(talk)
    assert err == ""
    for expected in (".quit", "An interval on a track", "op_types", "device_id", "| 7 |"):
        assert expected in out
    assert talk.mode == "md"


def test_help_in_the_middle_of_a_statement(talk: prompt.SqlDialogue) -> None:
    assert talk.answer("SELECT name\nhelp")
    assert ".tables" in heard(talk)[0]
    assert talk.answer("SELECT 1 AS\nhelp;")
    assert heard(talk)[0].endswith("help\r\n1\r\n"), "a column may be called so"


@pytest.mark.parametrize("size", [(80, 24), (100, 40), (200, 60)])
def test_tables_fit_the_screen(size: tuple[int, int]) -> None:
    width, height = size
    console = Console(io.StringIO(), io.StringIO(), False, False, True, True, width, height)
    with OpenedTrace("a") as trace:
        talk = prompt.SqlDialogue(trace, console, "table", Bar(console))
        assert talk.answer(".tables")
        lines = heard(talk)[0].splitlines()
        assert len(lines) < height
        assert max(map(len, lines)) <= width
        names = {word for line in lines for word in line.split()}
        assert set(schema().names) <= names
        assert talk.answer(".tables iterator")
        assert "iterator_call" in heard(talk)[0].splitlines()[-1] or "iterator" in heard(talk)[0]


def test_a_misspelt_command_gets_a_hint(talk: prompt.SqlDialogue) -> None:
    assert talk.answer(".tabels")
    assert "did you mean .tables?" in heard(talk)[1]


def test_schema_of_everything(talk: prompt.SqlDialogue) -> None:
    assert talk.answer(".schema")
    out, _ = heard(talk)
    for table in schema().tables:
        for column in table.columns:
            assert column.name in out


@pytest.mark.parametrize(
    ("text", "complete"),
    [
        ("", True),
        (".help", True),
        ("@op_types", True),
        ("SELECT 1", False),
        ("SELECT 1;", True),
        ("SELECT 1; -- done", True),
        ("SELECT ';", False),
        ("SELECT 1; SELECT 2", False),
        ("-- a thought", True),
        ("help", True),
        ("quit;", True),
        ("SELECT 1\nexit", True),
        ("SELECT 1 AS\nhelp;\nmore", False),
        ("SELECT quit", False),
    ],
)
def test_when_enter_runs(text: str, complete: bool) -> None:
    assert prompt.is_complete(text) == complete


@pytest.fixture
def converse(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], int]:
    """What a prompt exits with after these keys."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    options = argparse.Namespace(paths=["a"], lake=None, no_cache=False, format="csv", all=False)

    def typed(text: str) -> int:
        with (
            fake_trace(monkeypatch),
            create_pipe_input() as keys,
            create_app_session(input=keys, output=DummyOutput()),
        ):
            keys.send_text(text)
            return prompt.converse(options, Console.of())

    return typed


def test_a_whole_conversation(
    converse: Callable[[str], int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert converse("SELECT count(*) AS n\rFROM slice;\r.mode json\rSELECT 1 AS one;\r.quit\r") == 0
    assert capsys.readouterr().out == 'n\r\n9\r\n{"format": 1, "rows": [\n{"one": 1}\n]}\n'
    assert "+SELECT count(*) AS n\n+FROM slice;" in (tmp_path / "stepscope" / "history").read_text()


def test_ctrl_d_leaves(converse: Callable[[str], int]) -> None:
    assert converse("SELECT half\x03\x04") == 0


def test_history_that_cannot_be_kept_is_said(
    converse: Callable[[str], int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "stepscope").write_text("a file in the way")
    assert converse(".quit\r") == 0
    assert "history is not kept" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "offered", "not_offered"),
    [
        ("SEL", "SELECT", "slice"),
        ("sel", "select", "SELECT"),
        ("SELECT * FROM sl", "slice", "SELECT"),
        ("SELECT * FROM slice JOIN tra", "track", "ts_ps"),
        ("SELECT slice.du", "slice.dur_ps", "dur_ps"),
        ("SELECT s. FROM slice AS s", "s.self_ps", "self_ps"),
        ("SELECT * FROM slice WHERE sel", "self_ps", "slice"),
        ("SELECT self", "self_ps", "slice"),
        ("@op_t", "@op_types", "op_types"),
        ("SELECT * FROM op_sl", "op_slice", "slice"),
        (".sch", ".schema", ".help"),
        (".schema sou", "source", "slice"),
        (".mode j", "json", "csv"),
    ],
)
def test_completion(text: str, offered: str, not_offered: str) -> None:
    # In the middle of a statement, what follows counts as well: the cursor stands after the dot.
    cursor = text.index("s.") + 2 if "s. " in text else len(text)
    found = [c.text for c in SqlCompleter(schema()).get_completions(Document(text, cursor), CompleteEvent())]
    assert offered in found
    assert not_offered not in found
    assert len(found) == len(set(found))
