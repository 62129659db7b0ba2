"""stepscope attach PID: what all threads of a process do now, in Python and in C++."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from stepscope.cli.arguments import Parser, add_showing, need_csv
from stepscope.cli.console import Console
from stepscope.errors import StepscopeError, UsageError

if TYPE_CHECKING:
    from stepscope.instruments.stacks import Seen

ABOUT = "Python and C++ stacks of all threads of a process that runs"
EPILOG = """py-spy reads the threads of Python with their C++ frames, gdb the others; both are optional. The
process is stopped for as long as they read, and then goes on. gdb reads all symbols first, which takes half a
minute for TensorFlow: --quick leaves it out.

  stepscope attach 4711"""


def parser() -> Parser:
    """The options of the verb."""
    parser = Parser("attach", ABOUT, "stepscope attach PID [options]", EPILOG)
    parser.add_argument("pid", metavar="PID", type=int, help="the number of the process")
    parser.add_argument("--quick", action="store_true", help="do not ask gdb")
    parser.add_argument(
        "--timeout", metavar="S", type=float, default=120.0, help="seconds that each tool may take (120)"
    )
    add_showing(parser)
    return parser


def run(options: argparse.Namespace, console: Console) -> int:
    """Prints the stacks: as text, or a row for each frame."""
    need_csv(options, options.format == "csv")
    if not 0 < options.timeout <= 3600:
        raise UsageError(
            "The tools cannot take so long", seen=f"--timeout {options.timeout:g}", todo="give 1 to 3600"
        )
    if options.pid < 1:
        raise UsageError(
            "A process has a positive number", seen=f"{options.pid}", todo="give the number of a process"
        )
    from stepscope.cli.query import write_rows
    from stepscope.instruments import stacks
    from stepscope.report import attached

    seen = stacks.look(options.pid, options.timeout, quick=options.quick)
    if options.format == "table":
        for line in attached.lines(seen):
            console.data.write(line + "\n")
        console.data.flush()
    else:
        rows = ([row[name] for name in stacks.COLUMNS] for row in seen.rows())
        write_rows(stacks.COLUMNS, rows, console, options.format, spreadsheet=options.spreadsheet)
    for note in attached.notes(seen):
        console.say(note)
    if not seen.has_stacks:
        raise _no_stacks(options.pid, seen, options.quick)
    return 0


def _no_stacks(pid: int, seen: Seen, quick: bool) -> StepscopeError:
    if seen.ended:
        what = "it ended while it was traced"
        reason = (what, "start it again, and attach while it works")
    elif seen.refusal is not None:
        reason = seen.refusal
    else:
        todo = "drop --quick, so that gdb is asked" if quick else "install py-spy or gdb, or raise --timeout"
        reason = ("; ".join(seen.notes) or "no tool answered", todo)
    return StepscopeError(
        f"The stacks of process {pid} could not be read",
        seen=reason[0],
        todo=reason[1],
        slug="attach-refused",
    )
