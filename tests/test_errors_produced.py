"""Errors that no other test asks for by name, each with the smallest command that produces it."""

import builtins
import socket
from pathlib import Path
from typing import Any

import pytest

from stepscope.cli import main
from stepscope.cli import query as verb

SAMPLE = str(Path(__file__).parent / "samples" / "chrome" / "viztracer.json")


def told(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """What a command says when it fails."""
    assert main(words) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert "  seen:  " in said
    assert "  to do: " in said
    return said


def test_a_trace_holds_no_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.json"
    said = told(["export", SAMPLE, "-o", str(out), "--table", "step", "--no-cache"], capsys)
    assert "docs not-a-table" in said
    assert not out.exists()


def test_a_port_that_another_program_has(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        assert "docs port-taken" in told(["serve", SAMPLE, "--port", port, "--no-open"], capsys)


def test_a_package_of_the_page_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = builtins.__import__

    def without(name: str, *more: Any, **others: Any) -> Any:
        if name.startswith("stepscope.server"):
            raise ModuleNotFoundError("No module named 'starlette'", name="starlette")
        return real(name, *more, **others)

    monkeypatch.setattr(builtins, "__import__", without)
    assert "docs no-server" in told(["serve", SAMPLE], capsys)


@pytest.mark.parametrize(
    ("failure", "slug"),
    [(OSError(24, "Too many open files"), "system-refused"), (ZeroDivisionError("division"), "unexpected")],
)
def test_what_nobody_foresaw(
    failure: Exception, slug: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: Any, **__: Any) -> Any:
        raise failure

    monkeypatch.setattr(verb, "run", fails)
    assert f"docs {slug}" in told(["query", SAMPLE, "SELECT 1"], capsys)
