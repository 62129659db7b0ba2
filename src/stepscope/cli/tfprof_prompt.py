"""The prompt of `stepscope tfprof`: a view and its options on a line, `set` for what should last.

An empty line shows the options. A mistake costs nothing: the prompt prints the error and stays.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from stepscope.cli import tfprof_help
from stepscope.cli.console import Console
from stepscope.cli.failure import tell
from stepscope.cli.prompt import answer_until_left, history_file, kept_history
from stepscope.cli.tfprof import write_files
from stepscope.errors import StepscopeError
from stepscope.instruments import tfprof

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import Completer

    from stepscope._core import TfprofOptions

PROMPT = "tfprof> "
COMMANDS = (*tfprof.VIEWS, "advise", "set", "help")
_DUMP = re.compile(r"(?<!\S)--?dump_to_file[ =](\S+)")
"""How tfprof's first years wrote where an answer goes."""


def converse(
    model: tfprof.TfprofModel, options: TfprofOptions, console: Console, *, force: bool = False
) -> int:
    """Answers lines until the user leaves; from a pipe, until it ends."""
    for note in model.notes:
        console.say(note)
    talk = TfprofDialogue(model, options, console, force=force)
    if not sys.stdin.isatty():
        for line in sys.stdin:
            if not talk.answer(line.rstrip("\r\n")):
                break
        return 0
    answer_until_left(_session(console), talk.answer)
    return 0


class TfprofDialogue:
    """What the prompt does with a line, apart from the terminal it was typed at."""

    def __init__(
        self, model: tfprof.TfprofModel, options: TfprofOptions, console: Console, *, force: bool = False
    ) -> None:
        self.model = model
        self.options = options
        self.console = console
        self._force = force

    def answer(self, line: str) -> bool:
        """Answers a line; False when the user wants to leave."""
        if line.strip() in ("exit", "quit", ".quit"):
            return False
        try:
            self._answer(line)
        except StepscopeError as error:
            tell(error, self.console)
        except KeyboardInterrupt:
            self.console.say("stopped")
        self.console.out.flush()
        return True

    def _answer(self, line: str) -> None:
        if not line:
            self.console.out.write(self.options.list())
            return
        options = self.options.copy()
        try:
            command = options.read_line(_DUMP.sub(r"-output file:outfile=\1", line))
        except ValueError as error:
            self.console.say(f"E: {error}")
            return
        if command == "set":
            self.options = options
        elif command == "help":
            self.console.out.write(tfprof_help.prompt_help())
        elif command in COMMANDS:
            answer = self.model.advise() if command == "advise" else self.model.show(command, options)
            for warning in answer.warnings:
                self.console.say(warning)
            write_files(answer, force=self._force)
            self.console.data.write(answer.text)
        else:
            self.console.say(f"E: {command} is not one of {', '.join(COMMANDS)}")


def candidates(text: str) -> Iterable[str]:
    """What the last word of a line may become: a command, an option, a column or an order."""
    *before, last = text.split(" ")
    if not before:
        known: Iterable[str] = COMMANDS
    elif before[-1] == "-select":
        chosen, comma, last = last.rpartition(",")
        return [f"{chosen}{comma}{c}" for c in tfprof.columns() if c.startswith(last)]
    elif before[-1] == "-order_by":
        known = tfprof.orders()
    else:
        known = [f"-{name}" for name in tfprof.names()]
    return [word for word in known if word.startswith(last)]


def _session(console: Console) -> PromptSession[str]:
    from prompt_toolkit import PromptSession

    return PromptSession(
        PROMPT,
        history=kept_history(history_file().with_name("tfprof_history"), console),
        completer=_completer(),
        complete_while_typing=False,
        enable_history_search=True,
    )


def _completer() -> Completer:
    from prompt_toolkit.completion import CompleteEvent, Completer, Completion
    from prompt_toolkit.document import Document

    class Words(Completer):
        def get_completions(self, document: Document, event: CompleteEvent) -> Iterable[Completion]:
            before = document.text_before_cursor
            last = before.split(" ")[-1]
            for word in candidates(before):
                yield Completion(word, start_position=-len(last))

    return Words()
