"""One thing that a document describes, the command that does it, and what is true of the answer."""

import contextlib
import functools
import io
import shlex
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from stepscope.cli import main


@dataclass(frozen=True)
class Item:
    """A row of `docs/five-documents.md`, and its test.

    `command` is what a reader types in a folder that holds the samples (`tests/samples` by name): lines that
    begin with "stepscope", behind each what is typed at its prompt ("tfprof> …"), or else Python. `says` are
    pieces of what it prints, which are true of the sample, `never` pieces that would be false; white space
    counts as one blank. `check` looks at the files that were written. Where the command needs a program of
    its own to run, `kept_by` names the test that runs it ("tests/capture/test_programs.py::test_x"), and the
    item is only shown.
    """

    asks: str
    command: str
    says: tuple[str, ...]
    never: tuple[str, ...] = ()
    exit: int = 0
    check: Callable[[Path, str], None] | None = None
    kept_by: str = ""

    def run(self, folder: Path) -> None:
        """Types the command in `folder`, and holds what it prints against what is true."""
        # Several items look at one answer; what writes files is typed anew in each folder.
        printed, ended = _typed(self.command) if self.check else _remembered(self.command)
        text = " ".join(printed.split())
        assert ended == self.exit, f"{self.command}\nexit {ended}\n{printed}"
        for piece in self.says:
            assert piece in text, f"{self.command}\ndoes not say: {piece}\n{printed}"
        for piece in self.never:
            assert piece not in text, f"{self.command}\nsays: {piece}\n{printed}"
        if self.check:
            self.check(folder, printed)


def _typed(command: str) -> tuple[str, int]:
    """What the last command line prints on both streams, and its exit code; those before it must succeed."""
    lines = command.strip().splitlines()
    if not lines[0].startswith("stepscope "):
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            exec(compile(command, "item", "exec"), {"__name__": "item"})
        return out.getvalue(), 0
    ended, printed = 0, ""
    for line, typed in _with_answers(lines):
        assert ended == 0, f"{line} was not tried: the line before it failed\n{printed}"
        out = io.StringIO()
        with _typing(typed), contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            try:
                ended = main(shlex.split(line)[1:])
            except SystemExit as left:
                ended = int(left.code or 0)
        printed = out.getvalue()
    return printed, ended


_remembered = functools.cache(_typed)

_PROMPT = "tfprof>"


def _with_answers(lines: list[str]) -> list[tuple[str, str]]:
    """Each command line with what is typed at its prompt."""
    found: list[tuple[str, str]] = []
    for line in lines:
        if line.startswith(_PROMPT):
            command, typed = found.pop()
            found.append((command, typed + line.removeprefix(_PROMPT).strip() + "\n"))
        else:
            found.append((line, ""))
    return found


@contextlib.contextmanager
def _typing(text: str) -> Iterator[None]:
    """What a program reads from its standard input."""
    before, sys.stdin = sys.stdin, io.StringIO(text)
    try:
        yield
    finally:
        sys.stdin = before
