"""The magics of Jupyter and IPython: `%load_ext stepscope`, then `%stepscope` and `%%stepscope`.

They read their words with the parsers of the command line, so an option means the same in both places. What a
verb answers comes back as an object that draws itself: see stepscope.objects.
"""

from __future__ import annotations

import argparse
import contextlib
import inspect
import shlex
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from stepscope import capture, cli, library
from stepscope.capture.plan import PIECES
from stepscope.cli import add_hint
from stepscope.cli.arguments import need_paths
from stepscope.cli.record import left_out
from stepscope.cli.statements import statements
from stepscope.errors import StepscopeError, UsageError
from stepscope.objects.trace import open
from stepscope.presenters.plain import block

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from stepscope.objects.result import Result
    from stepscope.objects.trace import Trace

_tables: dict[tuple[str, ...], dict[str, str]] = {}
"""What --table named, by the paths that it was asked of."""


def load(shell: InteractiveShell) -> None:
    """What `%load_ext stepscope` calls."""

    def stepscope(line: str, cell: str | None = None) -> Any:
        """%stepscope PATH, or %stepscope VERB …: what the command line answers.

        %%stepscope query PATH [--into NAME] [--table NAME]: SQL in the cell.
        %%stepscope record [-o DIR] [--into NAME]: runs the cell and records it.
        """
        words: list[str] = []
        try:
            words = shlex.split(line)
            return run(words, cell, shell)
        except StepscopeError as error:
            raise _brief(add_hint(error, words)) from None
        except ValueError as error:
            odd = UsageError("The line cannot be read", seen=str(error), todo="close the quotes")
            raise _brief(odd) from None

    shell.register_magic_function(stepscope, "line_cell", "stepscope")


def run(words: Sequence[str], cell: str | None, shell: InteractiveShell) -> Any:
    """Answers the words of a line, and a cell where there is one. StepscopeError for what it cannot do."""
    verb, rest = cli.verb_of(words)
    if "-h" in rest or "--help" in rest or not words:
        cli.main(["help"] if not words else [verb, "--help"])
        return None
    if cell is not None:
        if verb not in _CELLS:
            raise UsageError(
                f"{verb} takes no cell" if words else "There is no verb",
                seen=f"%%stepscope {' '.join(words)}",
                todo=f"%%stepscope is for {' and '.join(_CELLS)}; write %stepscope for everything else",
            )
        return _CELLS[verb](rest, cell, shell)
    if verb in _LINES:
        options, into = _parsed(verb, rest)
        if getattr(options, "format", "table") == "table":
            need_paths(options, verb)
            answer = _LINES[verb](_open(options), options)
            return _give(answer, into, shell)
        if into is not None:
            raise UsageError("Text is not kept", seen="--into with --format", todo="leave one of them out")
    code = cli.main([verb, *rest] if verb != "summary" else list(words))
    if code:
        raise CellFailed(code, f"stepscope {' '.join(words)}")
    return None


# --- lines ---------------------------------------------------------------------------------------


def _summary(trace: Trace, options: argparse.Namespace) -> Any:
    return trace.summary(all=options.all)


def _pipeline(trace: Trace, options: argparse.Namespace) -> Any:
    if options.verify or options.before or options.out:
        raise UsageError(
            "A notebook does not verify changes",
            seen="--verify or one of its options",
            todo="run `stepscope pipeline --verify …` in a terminal: it starts the program anew",
        )
    return trace.pipeline()


def _memory(trace: Trace, options: argparse.Namespace) -> Any:
    asked = [f"--{name}" for name in ("recompute", "half", "batch") if getattr(options, name) is not None]
    if asked:
        raise UsageError(
            "What-if questions are answered as text",
            seen=" ".join(asked),
            todo="add --format md, or ask in a terminal",
        )
    return trace.memory()


def _page(trace: Trace, options: argparse.Namespace) -> Any:
    if options.port is not None:
        raise UsageError(
            "A notebook shows the page itself",
            seen=f"--port {options.port}",
            todo=f"leave it out, or run `stepscope {options.verb}` in a terminal",
        )
    return trace.view()


_LINES: dict[str, Callable[[Trace, argparse.Namespace], Any]] = {
    "summary": _summary,
    "pipeline": _pipeline,
    "memory": _memory,
    "serve": _page,
    "open": _page,
}
"""Verbs whose answers are objects; the others print what they print in a terminal."""


# --- cells ---------------------------------------------------------------------------------------


def _query(words: list[str], cell: str, shell: InteractiveShell) -> Any:
    name = _taken(words, "--table")
    options, into = _parsed("query", words)
    need_paths(options, "query")
    if options.file is not None:
        raise UsageError("There is SQL twice", seen=f"a cell and -f {options.file}", todo="leave -f out")
    if options.format != "table" or options.output is not None:
        raise UsageError(
            "The rows of a cell are an object",
            seen=f"--format {options.format}" if options.output is None else f"-o {options.output}",
            todo="use --into NAME, then NAME.df(), NAME.pl(), NAME.arrow() or NAME.rows()",
        )
    asked = statements(cell)
    if len(asked) != 1:
        raise UsageError(
            "A cell is one statement", seen=f"{len(asked)} statements", todo="use a cell for each"
        )
    trace = _open(options)
    result: Result = trace.query(asked[0])
    if name is not None:
        _define(trace, name, result, _key(options))
    return _give(result, into, shell)


def _define(trace: Trace, name: str, result: Result, key: tuple[str, ...]) -> None:
    """Lets later cells about the same paths read the answer of this one by a name."""
    if not name.isidentifier() or name.startswith("_"):
        raise UsageError(
            "A table needs a plain name", seen=f"--table {name}", todo="use letters, digits and _"
        )
    if name.lower() in {*trace.schema.names, *library.names("base")}:
        raise UsageError(
            f"There is a table {name} already", seen=f"--table {name}", todo="choose another name"
        )
    trace.define({name: result.sql})
    _tables.setdefault(key, {})[name] = result.sql


def _record(words: list[str], cell: str, shell: InteractiveShell) -> Any:
    import time

    options, into = _parsed("record", words)
    if options.command:
        raise UsageError(
            "The program is the cell",
            seen=f"%%stepscope record … {' '.join(options.command)}",
            todo="write %%stepscope record [options] alone on its line",
        )
    if options.report is not None or options.open:
        raise UsageError(
            "The answer of a cell is an object",
            seen="--open" if options.open else f"-o {options.report}",
            todo="give -o a folder, then: stepscope report FOLDER -o FILE",
        )
    out = options.out or time.strftime("stepscope-%Y%m%d-%H%M%S")
    missing = left_out(options)
    try:
        recorder = capture.record(
            out,
            warmup=options.warmup,
            steps=options.steps,
            seconds=options.seconds,
            every=options.every,
            pieces=tuple(piece for piece in PIECES if piece not in missing),
        )
    except (OSError, ValueError) as error:
        raise UsageError("The cell was not run", seen=str(error), todo="choose another -o") from error
    with recorder, _numbered_as_outer(shell):
        # A line in the place of the magic's, so that lines are those that the notebook shows.
        ran = shell.run_cell(cell if cell.lstrip().startswith("%%") else f"# %%stepscope record\n{cell}")
    if not ran.success:
        raise CellFailed(1, "the cell")  # its own traceback is on the screen
    if not recorder.recorded_steps:
        return None  # a warning that says why is on the screen
    trace = open(out)
    return _give(trace.summary() if into is None else trace, into, shell)


@contextlib.contextmanager
def _numbered_as_outer(shell: InteractiveShell) -> Iterator[None]:
    """Has what runs in a cell's magic count as that cell, so that its places have the number shown."""
    found, frame = None, inspect.currentframe()
    while frame is not None and found is None:
        found = shell.compile.format_code_name(frame.f_code.co_filename)
        frame = frame.f_back
    number = found[1].removeprefix("In[").removesuffix("]") if found else ""
    before = shell.execution_count
    if number.isdecimal():
        shell.execution_count = int(number)
    try:
        yield
    finally:
        shell.execution_count = before


_CELLS: dict[str, Callable[[list[str], str, InteractiveShell], Any]] = {"query": _query, "record": _record}


# --- words ---------------------------------------------------------------------------------------


def _parsed(verb: str, words: Sequence[str]) -> tuple[argparse.Namespace, str | None]:
    """The options of a verb as its own parser reads them, and the name after --into."""
    rest = list(words)
    into = _taken(rest, "--into")
    if into is not None and not into.isidentifier():
        raise UsageError("A variable needs a name", seen=f"--into {into}", todo="--into NAME")
    options: argparse.Namespace = cli.module_of(verb).parser().parse_args(rest)
    return options, into


def _taken(words: list[str], option: str) -> str | None:
    """Takes an option of ours out of the words."""
    for at, word in enumerate(words):
        if word.startswith(f"{option}="):
            return words.pop(at).partition("=")[2]
        if word == option:
            if at + 1 == len(words):
                raise UsageError(f"{option} needs a name", seen="nothing after it", todo=f"{option} NAME")
            del words[at]
            return words.pop(at)
    return None


def _key(options: argparse.Namespace) -> tuple[str, ...]:
    return (*options.paths, options.lake or "")


def _open(options: argparse.Namespace) -> Trace:
    trace = open(*options.paths, cache=not options.no_cache, lake=options.lake)
    trace.define(_tables.get(_key(options), {}))
    return trace


def _give(answer: Any, into: str | None, shell: InteractiveShell) -> Any:
    """The answer for the notebook to show; or into a variable, and then it is not shown."""
    if into is None:
        return answer
    shell.user_ns[into] = answer
    return None


class CellFailed(Exception):
    """A command or a cell that failed and has said why: no traceback follows, and no cell below it runs."""

    def __init__(self, code: int, what: str) -> None:
        super().__init__(f"{what} ended with exit code {code}")
        self.code = code

    def _render_traceback_(self) -> list[str]:
        """What IPython shows instead of a traceback."""
        return [str(self)]


def _brief(error: StepscopeError) -> StepscopeError:
    """The error, which IPython shows in its parts and without a traceback."""
    shown = [f"error: {block(str(error))}"]
    error._render_traceback_ = lambda: shown  # type: ignore[attr-defined]  # IPython asks the exception
    return error
