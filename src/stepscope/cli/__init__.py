"""The command line: one module per verb.

A verb's module has ABOUT (one line for the help), `parser()` and `run(options, console) -> exit code`. The
help of all verbs imports none of them. A module imports the engines, the core and what is built on them
inside `run`, so that its own help is fast as well.
"""

import atexit
import contextlib
import gc
import importlib
import os
import sys
import threading
from collections.abc import Sequence
from functools import cache
from types import ModuleType
from typing import NoReturn, TextIO

from stepscope import __version__
from stepscope.cli.abouts import abouts
from stepscope.cli.arguments import WITH_VALUE
from stepscope.cli.console import STDOUT, Console
from stepscope.cli.failure import tell, tell_unexpected
from stepscope.errors import NothingFound, OutputError, StepscopeError, UsageError

VERBS = (
    "summary", "record", "pipeline", "whatif", "memory", "roofline", "diff", "check", "query", "ingest",
    "compact", "verify", "export", "report", "serve", "open", "tfprof", "graph", "xla", "attach", "top",
    "capture", "mcp", "docs", "cache", "completions", "version",
)  # fmt: skip
"""In the order of a first day with stepscope; summary is the verb of a bare PATH. The help lists
other modules that are verbs after these."""

OK, FINDINGS, FAILED, INTERRUPTED = 0, 1, 2, 130
_OBJECTS = 100_000
"""How many more objects there have to be until Python looks for circles of those that nobody reaches. Rows of
a million events are as many objects and in no circle: with Python's own 700, a quarter of the time of a
memory report goes by with looking at them again and again."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command line and returns its exit code: 0 fine, 1 findings over a limit, 2 could not do the
    work, 130 stopped by Ctrl-C. A closed pipe is not an error."""
    if argv is None:
        gc.set_threshold(_OBJECTS, *gc.get_threshold()[1:])
        _leave(_outcome(sys.argv[1:]))
    return _outcome(argv)


def _outcome(argv: Sequence[str]) -> int:
    words = list(argv)
    console = Console.of(_color(words))
    try:
        code = _run(words, console)
        console.out.flush()
        return code
    except SystemExit as stop:  # argparse after --help
        return stop.code if isinstance(stop.code, int) else OK
    except BrokenPipeError:
        discard(console.out)  # the reader has seen enough
        return OK
    except KeyboardInterrupt:
        console.say("stopped")
        return INTERRUPTED
    except StepscopeError as error:
        tell(add_hint(error, words), console)
        return FAILED
    except OSError as error:
        tell(refused(error, console), console)
        return FAILED
    except Exception as error:  # noqa: BLE001  the last line of defence: a sentence instead of a traceback
        tell_unexpected(error, console)
        return FAILED


def _leave(code: int) -> NoReturn:
    """Ends the process of a command without taking it apart object by object, which the system does faster: a
    question to a small file takes 1.13 times the processor time otherwise (benchmarks: start-tricks).

    Functions registered with atexit still run, and other threads are waited for.
    """
    if threading.active_count() > 1:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError):
                discard(stream)
        sys.exit(code)
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        # What could not be written has been reported, as far as there is somewhere to report it.
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def refused(error: OSError, console: Console) -> StepscopeError:
    """What the system refused, as an error of ours."""
    if error.filename == STDOUT:
        discard(console.out)
        return OutputError(
            "Standard output could not be written to its end",
            seen=error.strerror or str(error),
            todo="free space, or send it elsewhere; what has been written so far is cut off",
            slug="cannot-write",
        )
    return StepscopeError(
        "The system refused an operation",
        seen=error.strerror or str(error),
        todo="check the disk's space, the permissions, and the limits on open files; then run it again",
        slug="system-refused",
        path=str(error.filename) if error.filename is not None else None,
    )


def discard(stream: TextIO) -> None:
    """Sends what is still buffered nowhere, so that it does not raise once more at exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def verb_of(words: Sequence[str]) -> tuple[str, list[str]]:
    """The verb of a command line and the words that are left: summary unless the first word that is not an
    option names another, or starts a program, which is recorded. A path that is called like a verb is written
    ./query."""
    skip = False
    for i, word in enumerate(words):
        if skip:
            skip = False
        elif word in WITH_VALUE:
            skip = True
        elif word == "--":
            program = words[i + 1 : i + 2]
            return "record" if program and starts_a_program(program[0]) else "summary", list(words)
        elif word == "-m" or not word.startswith("-") or word == "-":
            if word == "help" or is_verb(word):
                return word, [*words[:i], *words[i + 1 :]]
            return "record" if starts_a_program(word) else "summary", list(words)
    return "summary", list(words)


def starts_a_program(word: str) -> bool:
    """Whether a first word is a program to record: a file of Python's source, Python itself, or -m."""
    if word.endswith(".py"):
        return os.path.isfile(word)  # noqa: PTH113 - a name that is too long is no file, either
    name = os.path.basename(word)  # noqa: PTH119
    if not name.startswith("python") or name.removeprefix("python").strip("0123456789."):
        return word == "-m"
    return not os.path.isdir(word)  # noqa: PTH112 - a folder of recordings may be called so


def verbs() -> tuple[str, ...]:
    """All verbs, in the order of the help."""
    return (*VERBS, *sorted(_abouts().keys() - set(VERBS)))


def is_verb(word: str) -> bool:
    """Whether a word names a verb."""
    return word in VERBS or (word.isidentifier() and word in _abouts())


@cache
def _abouts() -> dict[str, str]:
    """What modules of this package say that they are ABOUT: the verbs."""
    return abouts(__path__)


def module_of(verb: str) -> ModuleType:
    """The module of a verb."""
    return importlib.import_module(f"stepscope.cli.{verb}")


def help_text() -> str:
    """What `stepscope --help` prints."""
    listed = "\n".join(f"  {verb:<13}{_abouts()[verb]}" for verb in verbs())
    return f"""usage: stepscope PATH…            where the time went, why, and what to do
       stepscope train.py …       run a program, record some of its steps, and print the same
       stepscope VERB … [--help]

{listed}

PATH is a Chrome trace, .xplane.pb, RunMetadata, event file or graph, an archive or a folder of them at any
depth, a lake, or - for standard input. Give as many as you like. Results go to stdout, everything else to
stderr. Exit codes: 0 success, 1 findings over a limit, 2 error, 130 interrupted by Ctrl-C.
"""


def _run(words: list[str], console: Console) -> int:
    verb, rest = verb_of(words)
    if verb == "help":
        verb = rest[0] if rest and is_verb(rest[0]) else "help"
        rest = ["--help"]
    if not words or verb == "help" or (verb == "summary" and words[0] in ("-h", "--help")):
        (console.out if words else console.err).write(help_text())
        return OK if words else FAILED
    if words[0] in ("-V", "--version"):
        console.out.write(f"stepscope {__version__}\n")
        return OK
    module = module_of(verb)
    code: int = module.run(module.parser().parse_args(rest), console)
    return code


def _color(words: Sequence[str]) -> str:
    # Needed before the command line is understood, because the mistakes in it are coloured, too.
    for before, word in zip(["", *words], words, strict=False):
        choice = (
            word.partition("=")[2] if word.startswith("--color=") else word if before == "--color" else ""
        )
        if choice in ("always", "never"):
            return choice
    return "auto"


def add_hint(error: StepscopeError, words: Sequence[str]) -> StepscopeError:
    """Adds "did you mean" when the first path, which is not there, looks like a verb; and how to name a path
    that is called like the verb."""
    verb, rest = verb_of(words)
    if isinstance(error, UsageError) and verb in words and os.path.exists(verb):  # noqa: PTH110
        error.todo = f"to read what is called {verb} here, write ./{verb}; {error.todo}"
        return error
    first = next((word for word in rest if not word.startswith("-")), "")
    about_it = isinstance(error, NothingFound) or error.path == first
    if not about_it or verb != "summary" or "summary" in words:
        return error
    if not os.path.exists(first):  # noqa: PTH110 - a name that is too long is not there, either
        import difflib

        near = difflib.get_close_matches(first, (*verbs(), "help"), 1)
        if near:
            error.seen = f"{error.happened.rstrip('.')}: {error.seen}"
            error.happened = f"There is no verb, file or folder {first}. Did you mean {near[0]}?"
    return error
