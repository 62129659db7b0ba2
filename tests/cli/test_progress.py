"""The progress bar keeps out of the way."""

import ast
import io
import threading
from pathlib import Path

import pytest

from stepscope import cli
from stepscope.cli import progress
from stepscope.cli.console import Console


def console(is_terminal: bool) -> Console:
    return Console(io.StringIO(), io.StringIO(), False, False, is_terminal, is_terminal, 80, 24)


def written(console: Console) -> str:
    assert isinstance(console.err, io.StringIO)
    assert isinstance(console.out, io.StringIO)
    assert console.out.getvalue() == ""
    return console.err.getvalue()


def test_quick_work_shows_nothing() -> None:
    where = console(True)
    with progress.bar(where) as bar:
        bar.update("a.json", 10, 100)
    assert written(where) == ""


def test_a_pipe_sees_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", 0)
    where = console(False)
    with progress.bar(where) as bar:
        bar.update("a.json", 10, 100)
    assert written(where) == ""


def test_work_without_an_end_shows_how_long_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", 0)
    where = console(True)
    with progress.working("reading stacks", where):
        pass
    shown = written(where)
    assert "reading stacks" in shown
    assert "0:00:00" in shown
    assert "0/" not in shown


def test_long_work_shows_bytes_and_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", 0)
    where = console(True)
    with progress.bar(where) as bar:
        bar.update("x\x1b[2J.json", 1 << 20, 1 << 22)
        bar.stop()
        shown = written(where)
        bar.stop()  # again is no error
        bar.update("next", 1, 0)
    assert "1.00 MiB/4.00 MiB" in shown
    assert "/s" in shown
    assert "\x1b[2J" not in shown
    assert written(where).endswith("\r\x1b[2K\x1b[?25h")


def test_the_bar_is_gone_when_the_work_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", 0)
    where = console(True)

    def work() -> None:
        with progress.bar(where) as bar:
            bar.update("a", 1, 2)
            raise OSError("no")

    with pytest.raises(OSError, match="no"):
        work()
    # The line is erased and the cursor is back.
    assert "\x1b[2K" in written(where).rsplit("a ", 1)[1]
    assert written(where).rindex("\x1b[?25h") > written(where).rindex("\x1b[?25l")


def test_a_query_that_says_nothing_is_shown_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", 0.01)
    shown = threading.Event()
    line = progress.Bar._line

    def drawn(bar: progress.Bar) -> str:
        shown.set()
        return line(bar)

    monkeypatch.setattr(progress.Bar, "_line", drawn)
    where = console(True)
    with progress.bar(where) as bar:
        bar.asking("_step_parts", 3, 40)
        assert shown.wait(100)
        bar.stop()
    assert "step parts" in written(where)
    assert "3/40" in written(where)


def test_talk_is_broken_at_blanks_and_commands_stay_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    where, command = console(True), "  ssh -N -L 45987:127.0.0.1:45987 somebody@somewhere"
    where.say(f"255 inside fusions, which are not timed there\n{command}")
    assert written(where) == f"255 inside fusions, which are not timed\nthere\n{command}\n"


def test_reading_gives_way_to_asking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", 0)
    where = console(True)
    with progress.bar(where) as bar:
        bar.update("a.json", 1 << 20, 1 << 22)
        bar.asking("op_types", 1, 2)
        bar.asking("lines_of_ops", 0, 0)
        assert "0/0" not in bar._line()
    assert "MiB" in written(where)
    assert "op types" in written(where)
    assert "1/2" in written(where)


def test_every_verb_that_opens_a_trace_has_a_bar() -> None:
    """They open it with reading.py; the page shows its own progress."""
    folder = Path(cli.__file__).parent
    opens = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "trace.open"
    }
    assert opens == {"reading.py", "serve.py"}
