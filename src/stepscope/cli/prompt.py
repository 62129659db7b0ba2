"""The prompt of `stepscope query PATH`: history, completion, statements of several lines, dot commands.

A mistake costs nothing: the prompt prints the error and stays.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Callable
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.cli.arguments import FORMATS
from stepscope.cli.console import Console
from stepscope.cli.failure import tell
from stepscope.cli.query import answer
from stepscope.cli.reading import opened
from stepscope.cli.rows_output import write_rows
from stepscope.cli.statements import is_blank, split, statements
from stepscope.errors import StepscopeError, UsageError

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.history import History

    from stepscope.cli.progress import Bar
    from stepscope.session.trace import OpenTrace

COMMANDS = {
    ".tables": "the tables and views; .tables WORD: those with the word in their line",
    ".schema": ".schema [TABLE]: the columns and what they mean",
    ".analyses": "the named questions; @NAME; runs one",
    ".mode": f".mode {'|'.join(FORMATS)}: format of the outputs",
    ".read": ".read FILE: runs the SQL in a file",
    ".help": "this list; so does help",
    ".quit": "leaves; so do quit, exit and Ctrl-D",
}
_PLAIN = {"help": ".help", "exit": ".quit", "quit": ".quit", ".exit": ".quit"}
"""Words that do what they say, alone on a line, also in the middle of a statement."""


def converse(options: argparse.Namespace, console: Console) -> int:
    """Reads and answers until the user leaves."""
    with opened(options, console) as (trace, bar):
        talk = SqlDialogue(trace, console, options.format, bar, everything=options.all)
        console.say(f"{_named(trace)}\nSQL ends with a semicolon; .help lists commands; Tab completes.")
        answer_until_left(_session(trace, console), talk.answer)
    return 0


def answer_until_left(session: PromptSession[str], answer: Callable[[str], bool]) -> None:
    """Has each text answered, until the user leaves or an answer is False."""
    while True:
        try:
            text = session.prompt()
        except KeyboardInterrupt:  # Ctrl-C drops the line, as in a shell
            continue
        except EOFError:
            return
        if not answer(text):
            return


class SqlDialogue:
    """What the prompt does with a text, apart from the terminal it was typed at."""

    def __init__(
        self, trace: OpenTrace, console: Console, mode: str, bar: Bar, *, everything: bool = False
    ) -> None:
        self.trace = trace
        self.console = console
        self.mode = mode
        self._bar = bar
        self._everything = everything

    def answer(self, text: str) -> bool:
        """Runs a dot command or statements; False when the user wants to leave."""
        text = _command_in(text) or text.strip()
        if text == ".quit":
            return False
        try:
            if text.startswith("."):
                self._command(text)
            else:
                self._run(text)
        except StepscopeError as error:
            self._bar.stop()
            tell(error, self.console)
        except KeyboardInterrupt:
            self._bar.stop()
            self.trace.interrupt()
            self.console.say("stopped")
        return True

    def _run(self, text: str) -> None:
        for statement in statements(text):
            show = partial(write_rows, console=self.console, form=self.mode, everything=self._everything)
            answer(self.trace, statement, self.mode, self._bar, show, self.console.say)
            self.console.out.flush()

    def _command(self, text: str) -> None:
        try:
            name, *words = shlex.split(text.rstrip(";"))
        except ValueError as error:
            raise UsageError(
                "The command cannot be read", seen=str(error), todo="close the quotes"
            ) from error
        if name == ".help":
            for command, about in COMMANDS.items():
                self.console.out.write(f"  {command:<10} {about}\n")
        elif name in (".tables", ".analyses"):
            self._list(("tables", "views") if name == ".tables" else ("analyses", "findings"), words)
        elif name == ".schema":
            self._schema(words)
        elif name == ".mode":
            self._set_mode(words)
        elif name == ".read":
            self._read(words)
        else:
            near = get_close_matches(name, COMMANDS, 1)
            todo = f"did you mean {near[0]}? " if near else ""
            raise UsageError(
                f"There is no command {name}", seen=", ".join(COMMANDS), todo=f"{todo}.help lists them"
            )
        self.console.out.flush()

    def _list(self, chapters: tuple[str, ...], words: list[str]) -> None:
        """Names with a line about each; only the names, in columns, where the lines do not fit the screen."""
        from stepscope import reference
        from stepscope.presenters.cells import shorten_cells

        wanted = " ".join(words).lower()
        found = [
            entry
            for entry in reference.entries()
            if entry.chapter in chapters and wanted in f"{entry.name} {entry.line}".lower()
        ]
        if not found:
            raise UsageError(
                f"No name or line has {wanted}", seen=", ".join(chapters), todo="leave the word out"
            )
        height = self.console.height
        if height is None or wanted or len(found) < height - 1:
            for entry in found:
                line = f"  {entry.name:<24} {entry.line}"
                self.console.out.write(
                    (line if height is None else shorten_cells(line, self.console.width)) + "\n"
                )
            return
        for chapter in chapters:
            self.console.out.write(f"{chapter}:\n")
            for line in _columns(
                [entry.name for entry in found if entry.chapter == chapter], self.console.width
            ):
                self.console.out.write(f"  {line}\n")
        self.console.say(f"({chapters[0]}: {found[0].name} and the others are explained by .schema NAME)")

    def _schema(self, words: list[str]) -> None:
        from stepscope import reference
        from stepscope.presenters.pages import render

        text = reference.look_up(words[0]) if words else reference.chapter("tables")
        self.console.out.write(render(text, width=self.console.width, color=self.console.color))

    def _set_mode(self, words: list[str]) -> None:
        if len(words) != 1 or words[0] not in FORMATS:
            raise UsageError(
                "There is no such form", seen=" ".join(words) or "nothing", todo=f".mode {'|'.join(FORMATS)}"
            )
        self.mode = words[0]

    def _read(self, words: list[str]) -> None:
        if len(words) != 1:
            raise UsageError("There is no file to read", seen=" ".join(words) or "nothing", todo=".read FILE")
        try:
            text = Path(words[0]).expanduser().read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(
                "The file cannot be read", seen=str(error), todo="give a text file", path=words[0]
            ) from error
        self._run(text)


def is_complete(text: str) -> bool:
    """True when Enter should run the text: a command, @NAME, nothing, or statements up to a semicolon."""
    return (
        _command_in(text) is not None
        or text.lstrip().startswith((".", "@"))
        or is_blank(text)
        or is_blank(split(text)[1])
    )


def _command_in(text: str) -> str | None:
    """The command that a plain word is: alone, or on the last line of a statement that is dropped with it."""
    lines = text.strip().lower().splitlines()
    if not lines:
        return None
    # In the middle of a statement a semicolon shows that the word belongs to it.
    return _PLAIN.get(lines[0].rstrip("; ") if len(lines) == 1 else lines[-1].strip())


def _columns(names: list[str], width: int) -> list[str]:
    """Names in columns from top to bottom, as `ls` lists them."""
    wide = max(map(len, names)) + 2
    across = max((width - 2) // wide, 1)
    lines = -(-len(names) // across)
    return ["".join(name.ljust(wide) for name in names[i::lines]).rstrip() for i in range(lines)]


def history_file() -> Path:
    """Where the prompt keeps what was typed: the user's folder for state."""
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    return base / "stepscope" / "history"


def kept_history(file: Path, console: Console) -> History:
    """What was typed before, from a file that takes what will be typed; only in memory where it cannot."""
    from prompt_toolkit.history import FileHistory, InMemoryHistory

    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        return FileHistory(str(file))
    except OSError as error:
        console.say(f"history is not kept: {error}")
        return InMemoryHistory()


def _session(trace: OpenTrace, console: Console) -> PromptSession[str]:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.filters import Condition
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

    from stepscope.cli.completion import SqlCompleter

    keys = KeyBindings()

    @keys.add("enter", filter=Condition(lambda: not session.default_buffer.complete_state))
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if is_complete(buffer.document.text):
            buffer.validate_and_handle()
        else:
            buffer.insert_text("\n")

    session: PromptSession[str] = PromptSession(
        "stepscope> ",
        multiline=True,
        prompt_continuation="      ...> ",
        history=kept_history(history_file(), console),
        completer=SqlCompleter(trace.schema),
        complete_while_typing=False,
        enable_history_search=True,
        key_bindings=keys,
    )
    return session


def _named(trace: OpenTrace) -> str:
    names = [source.path for source in trace.sources]
    return names[0] if len(names) == 1 else f"{len(names)} sources"
