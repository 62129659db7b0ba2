"""Answers that are longer than the screen go through a pager, and nothing else does."""

import io
import sys
from pathlib import Path
from typing import Any, cast

import pytest

from stepscope.cli import pager
from stepscope.cli.console import Console

LONG = "".join(f"line {number} \x1b[1mbold\x1b[0m\n" for number in range(100))


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Console:
    monkeypatch.setattr(sys, "stdin", _Terminal())
    for name in ("STEPSCOPE_PAGER", "PAGER", "TERM", "LESS"):
        monkeypatch.delenv(name, raising=False)
    out = _Terminal()
    return Console(out, out, True, True, True, True, 80, 24)


def written(console: Console) -> str:
    return cast("Any", console.out).getvalue()


def paged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A pager that keeps what it is given, with what less would be told."""
    kept = tmp_path / "kept"
    program = tmp_path / "a pager"
    program.write_text(f"#!/bin/sh\n{{ echo $LESS; cat; }} > '{kept}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("STEPSCOPE_PAGER", f"'{program}' --quiet")
    return kept


def test_a_long_text_is_paged(terminal: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = paged(tmp_path, monkeypatch)
    pager.show(LONG + "a\x07b\n", terminal)
    options, *lines = kept.read_text().splitlines()
    assert (options, len(lines), written(terminal)) == ("FRX", 101, "")
    assert lines[0] == "line 0 \x1b[1mbold\x1b[0m"
    assert lines[-1] == "a\\x07b", "what a recording holds is escaped there, too"


def test_what_fits_is_not(terminal: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = paged(tmp_path, monkeypatch)
    pager.show("short\n" * 23, terminal)
    assert not kept.exists()
    assert written(terminal) == "short\n" * 23
    pager.show("a long line " * 160, terminal)  # 24 lines of the screen
    assert kept.exists()


@pytest.mark.parametrize("changed", [{"is_terminal": False}, {"height": None}])
def test_files_and_pipes_get_the_text(
    changed: dict[str, Any], terminal: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = paged(tmp_path, monkeypatch)
    pager.show(LONG, terminal._replace(**changed))
    assert not kept.exists()
    assert written(terminal) == LONG


@pytest.mark.parametrize("named", ["", "cat", "no-such-pager -x", "'", "sh -c 'exit 127'"])
def test_without_a_pager_nothing_is_lost(
    named: str, terminal: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAGER", named)
    pager.show(LONG, terminal)
    assert written(terminal) == LONG
