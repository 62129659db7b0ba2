"""stepscope top PID|DIR: what a program that is recorded with --live does now, again every second."""

import argparse
import json
import sys
import time

from stepscope.cli.arguments import Parser, seconds
from stepscope.cli.console import Console
from stepscope.presenters.plain import plain

ABOUT = "watch a running program: its steps, its lines, its memory"
EPILOG = """Give the folder of the recording, or the process id, of a program under `stepscope record
--live`. Shows what takes most of the last ten seconds, and on which line; the length of steps and their
parts; the memory of the process; and steps that took far longer than the others. Also lists saved moments,
which open as recordings, and files with the stacks of all threads, written when no step ends for half a
minute. SIGUSR2 writes these stacks at once, into stacks-on-signal.txt. In a browser: `stepscope serve
PID|DIR`.

  stepscope record --live -o rec train.py &
  stepscope top rec
  stepscope top 4711 --once
  kill -USR2 4711"""

_MOST_LINE = 4000


def parser() -> Parser:
    """The options of the verb."""
    parser = Parser("top", ABOUT, "stepscope top PID|DIR [options]", EPILOG)
    parser.add_argument("target", metavar="PID|DIR", help="a process, or the folder of its recording")
    parser.add_argument("--once", action="store_true", help="print once and exit, as without a terminal")
    parser.add_argument("--every", type=seconds, default=1.0, metavar="S", help="seconds between updates (1)")
    parser.add_argument(
        "--format", choices=("table", "json"), default="table", help="table (as text) or json"
    )
    return parser


def run(options: argparse.Namespace, console: Console) -> int:
    """Shows the screen until the program has ended, or Ctrl-C."""
    from stepscope.attach import live
    from stepscope.report import live as report

    once = options.once or options.format == "json" or not console.is_terminal
    if not once:
        sys.stdout.write("\x1b[2J")
    program = live.WatchedProgram(options.target)
    while True:
        folder, record, running = program.look()
        if options.format == "json":
            console.data.write(json.dumps({**(record or {}), "running": running}) + "\n")
            return 0
        lines = report.lines(record, running, console.width, time.time_ns(), str(folder))
        # Only a screen that is drawn anew has to fit: what is printed once may be copied.
        shown = [plain(line, _MOST_LINE if once else console.width) for line in lines]
        if once:
            console.data.write("\n".join(shown).rstrip() + "\n")
            return 0
        height = console.height or len(shown)
        # From the top, each line to its end: a screen that is erased first flickers. Not by the console: it
        # shows such characters and does not pass them on; the lines hold none.
        sys.stdout.write("\x1b[H" + "".join(f"{line}\x1b[K\n" for line in shown[: height - 1]) + "\x1b[J")
        sys.stdout.flush()
        if not running and record is not None:
            return 0
        time.sleep(options.every)
