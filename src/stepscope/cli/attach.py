"""stepscope attach PID|-- CMD…: what all threads do, now, over some seconds, or at a breakpoint."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepscope import __version__
from stepscope.cli.arguments import CommandParser, Parser, add_output, add_showing, not_started
from stepscope.cli.console import Console
from stepscope.cli.progress import working
from stepscope.errors import StepscopeError, UsageError

if TYPE_CHECKING:
    from stepscope.attach import Seen

ABOUT = "Python and C++ stacks of a process: now, sampled, or at a breakpoint"
EPILOG = """py-spy reads Python threads with their C++ frames, gdb all other threads; both are optional.
The process stops while they read, and then continues. gdb loads all symbols first, which takes half a
minute for TensorFlow: --quick skips gdb. The program's own output goes to stderr.

  stepscope attach 4711                              stacks now
  stepscope attach 4711 --seconds 10 -o stacks       sampled into a folder, as `record` writes it
  stepscope report stacks -o flame.html              its flame graph
  stepscope attach --after 20 -- python train.py     stacks 20 s after the start
  stepscope attach 4711 --break TF_NewSession        stacks when it is called next; the process goes on
  stepscope attach --break TF_NewSession -- python train.py"""
_MOST_RATE = 1000
_SHOWN = 20


def parser() -> Parser:
    """The options of the verb."""
    parser = CommandParser("attach", ABOUT, "stepscope attach PID|-- CMD… [options]", EPILOG)
    parser.add_argument("pid", metavar="PID", type=int, nargs="?", help="the id of the process")
    parser.add_argument("--quick", action="store_true", help="skip gdb")
    parser.add_argument(
        "--timeout", metavar="S", type=float, default=120.0, help="time limit of each tool in seconds (120)"
    )
    sampling = parser.add_argument_group("over some seconds")
    sampling.add_argument("--seconds", metavar="N", type=float, help="sample stacks for N seconds")
    sampling.add_argument("--rate", metavar="HZ", type=int, default=100, help="samples per second (100)")
    add_output(parser, "with --seconds, the folder for the samples, which other verbs read")
    starting = parser.add_argument_group("a program that is started")
    starting.add_argument(
        "--after", metavar="S", type=float, default=1.0, help="seconds between the start and the stacks (1)"
    )
    starting.add_argument(
        "--break",
        metavar="FUNCTION",
        dest="breakpoints",
        action="append",
        help="run the process or the program under gdb until it calls FUNCTION",
    )
    parser.add_argument(
        "--source",
        metavar="FROM=TO",
        action="append",
        default=[],
        help="look for source files below FROM in the folder TO, and print their lines",
    )
    add_showing(parser, aside=True)
    return parser


def run(options: argparse.Namespace, console: Console) -> int:
    """Prints the stacks: as text, or a row for each frame."""
    sources = _check(options)
    from stepscope import attach
    from stepscope.attach import started_program

    out = sys.stderr.fileno() if _has_descriptor() else os.open(os.devnull, os.O_WRONLY)
    if options.breakpoints:
        seen = attach.stop_at_breakpoint(
            options.command or (), options.breakpoints, options.timeout, out, options.pid
        )
        return _show(seen, options.pid, sources, options, console)
    if options.pid is not None:
        return _look(options.pid, sources, options, console)
    try:
        process = started_program.start(options.command, out)
    except OSError as error:
        raise not_started(options.command[0], error) from error
    try:
        _wait(process, options.after)
        _look(process.pid, sources, options, console, own_child=True)
    except BaseException:
        process.terminate()
        raise
    finally:
        code = started_program.end(process)
    return code


def _has_descriptor() -> bool:
    try:
        sys.stderr.fileno()
    except (AttributeError, OSError, ValueError):
        return False
    return True


def _wait(process: Any, seconds: float) -> None:
    end = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < end:
        time.sleep(min(0.05, max(end - time.monotonic(), 0.0)))
    if process.poll() is not None:
        raise StepscopeError(
            "The program ended before it was looked at",
            seen=f"exit code {process.returncode}, within {seconds:g} s",
            todo="give a smaller --after",
            slug="attach-refused",
        )


def _check(options: argparse.Namespace) -> list[tuple[str, str]]:
    """The pairs of --source; UsageError for what makes no sense."""
    if (options.pid is None) == (not options.command):
        raise UsageError(
            "A process or a program is looked at",
            seen="both" if options.command else "neither",
            todo="stepscope attach PID, or stepscope attach -- python train.py",
        )
    if not 0 < options.timeout <= 3600:
        raise UsageError(
            "The tools cannot take so long", seen=f"--timeout {options.timeout:g}", todo="give 1 to 3600"
        )
    if options.pid is not None and options.pid < 1:
        raise UsageError(
            "A process has a positive number", seen=f"{options.pid}", todo="give the number of a process"
        )
    _check_sampling(options)
    pairs = [pair.partition("=") for pair in options.source]
    if any(not before or not middle or not after for before, middle, after in pairs):
        raise UsageError(
            "A source map has two sides",
            seen=f"--source {options.source}",
            todo="--source /build/path=/my/path",
        )
    return [(before, after) for before, _, after in pairs]


def _check_sampling(options: argparse.Namespace) -> None:
    """UsageError for breakpoints and samples that cannot be."""
    for place in options.breakpoints or ():
        if not place.strip() or any(ord(letter) < 32 for letter in place) or place.lstrip().startswith("-"):
            raise UsageError(
                "A breakpoint is the name of a function",
                seen=f"--break {place!r}",
                todo="give a name, as ns::function",
            )
    if options.seconds is not None and not 0.5 <= options.seconds <= 3600:
        raise UsageError(
            "That is not possible", seen=f"--seconds {options.seconds:g}", todo="give 0.5 to 3600"
        )
    if not 1 <= options.rate <= _MOST_RATE or not 0 <= options.after <= 86_400:
        raise UsageError(
            "That is not possible",
            seen=f"--rate {options.rate}, --after {options.after:g}",
            todo=f"--rate is 1 to {_MOST_RATE}, --after 0 to 86400",
        )
    if options.output is not None and (options.seconds is None or options.breakpoints):
        raise UsageError("Only samples are written", seen=f"-o {options.output}", todo="add --seconds 10")


def _look(
    pid: int,
    sources: list[tuple[str, str]],
    options: argparse.Namespace,
    console: Console,
    *,
    own_child: bool = False,
) -> int:
    from stepscope import attach

    if options.seconds is not None:
        return _sample(pid, options, console, own_child=own_child)
    with working("reading stacks", console):
        seen = attach.look(pid, options.timeout, quick=options.quick, own_child=own_child)
    return _show(seen, pid, sources, options, console)


def _show(
    seen: Seen, pid: int | None, sources: list[tuple[str, str]], options: argparse.Namespace, console: Console
) -> int:
    """Writes what the threads do, then their stacks. pid: None where the program was ended at a
    breakpoint."""
    from stepscope import attach
    from stepscope.attach import py_spy
    from stepscope.cli.rows_output import write_listing
    from stepscope.report import stack_answer, stack_text
    from stepscope.report.listing import Listing

    what = "the program" if pid is None else f"process {pid}"
    if options.format == "table":
        folder = str(Path.cwd()) if pid is None else py_spy.folder_of(pid)
        _say(stack_answer.sentences(seen, what, folder), console)
        for line in stack_text.lines(seen, sources):
            console.data.write(line + "\n")
        console.data.flush()
    else:
        write_listing(Listing(attach.COLUMNS, seen.rows()), options, console)
    for note in stack_text.notes(seen):
        console.say(note)
    if not seen.has_stacks:
        raise _no_stacks(what, seen, options.quick)
    return 0


def _say(sentences: Iterable[str], console: Console) -> None:
    """Writes the sentences that answer, and a blank line below them."""
    from stepscope.presenters.cells import SENTENCE_WIDTH
    from stepscope.presenters.gutter import wrap

    lines = [line for sentence in sentences for line in wrap(sentence, min(console.width, SENTENCE_WIDTH))]
    console.data.write("".join(f"{line}\n" for line in [*lines, ""] if lines))


def _sample(pid: int, options: argparse.Namespace, console: Console, *, own_child: bool) -> int:
    """Samples, prints the functions that take most, and writes the folder."""
    from stepscope.attach import kernel, py_spy
    from stepscope.cli.rows_output import write_listing
    from stepscope.exporters.staging import staged
    from stepscope.report import stack_answer, stack_text
    from stepscope.report.listing import Listing

    kernel.tasks(pid)
    if (refusal := kernel.refusal(pid, own_child=own_child)) is not None:
        raise _refused(f"process {pid}", *refusal)
    words = py_spy.words_of(pid)
    with contextlib.ExitStack() as stack:
        part = None
        if options.output is not None:
            part = stack.enter_context(staged(Path(options.output), force=options.force))
        with working(f"sampling for {options.seconds:g} s", console):
            found = py_spy.sample(pid, options.seconds, options.rate)
        if isinstance(found, str):
            todo = "pip install py-spy" if "not installed" in found else "raise --seconds, or drop it"
            raise _refused(f"process {pid}", found, todo)
        if part is not None:
            part.mkdir()
            for name, data in py_spy.files(found, pid, words, __version__).items():
                (part / name).write_bytes(data)
    if options.format == "table":
        _say(stack_answer.sampled_sentences(found), console)
    rows = found.hot if options.format != "table" else stack_text.hot(found.hot[:_SHOWN])
    columns = py_spy.HOT if options.format != "table" else stack_text.HOT
    notes = stack_text.sampled_notes(found, shown=_SHOWN if options.format == "table" else None)
    write_listing(Listing(columns, rows, notes), options, console)
    if options.output is not None:
        console.say(f"wrote {options.output}: `stepscope report {options.output} -o flame.html` draws it")
    return 0


def _refused(what: str, seen: str, todo: str) -> StepscopeError:
    return StepscopeError(
        f"The stacks of {what} could not be read", seen=seen, todo=todo, slug="attach-refused"
    )


def _no_stacks(what: str, seen: Seen, quick: bool) -> StepscopeError:
    if seen.ended:
        reason = ("it ended while it was traced", "start it again, and attach while it works")
    elif seen.refusal is not None:
        reason = seen.refusal
    else:
        todo = "drop --quick, so that gdb is asked" if quick else "install py-spy or gdb, or raise --timeout"
        reason = ("; ".join(seen.notes) or "no tool answered", todo)
    return _refused(what, *reason)
