"""stepscope xla run --dump DIR -- CMD…: run a program with these settings, then show what it compiled."""

import argparse
import os
import shlex
import sys
from pathlib import Path

from stepscope.cli.arguments import CommandParser, Parser, add_showing, not_started
from stepscope.cli.console import Console
from stepscope.cli.xla.env import add_dump, prepared
from stepscope.cli.xla.kept import run as run_kept
from stepscope.errors import UsageError

ABOUT = "run a program with those settings, and show what it compiled"
EPILOG = """The exit code is the program's. XLA_FLAGS and TF_XLA_FLAGS of the environment are kept.
With --format json, csv or md, what the program prints goes to stderr. Its messages on stderr are shown and
kept as program.log in DIR: findings and `stepscope xla clusters DIR` read them."""


def parser() -> Parser:
    """The options of the verb."""
    parser = CommandParser("xla run", ABOUT, "stepscope xla run --dump DIR [options] -- CMD…", EPILOG)
    add_dump(parser)
    add_showing(parser, aside=True)
    return parser


def run(options: argparse.Namespace, console: Console) -> int:
    """Runs the program; its exit code."""
    if not options.command:
        raise UsageError("There is no program to run", seen="nothing after --", todo="add -- python train.py")
    values = prepared(options, dict(os.environ))
    console.out.flush()
    try:
        # stdout is for what other programs read, then.
        out = None if options.format == "table" else sys.stderr.fileno()
        code, kept = run_kept(options.command, {**os.environ, **values}, out, Path(options.dump))
    except OSError as error:
        raise not_started(options.command[0], error) from error
    console.say(f"dumps are in {options.dump}{'' if kept else ', which has no room for the program log'}")
    if any(path.is_file() for path in (Path(options.dump) / "hlo").rglob("*")):
        from stepscope import cli

        spreadsheet = ["--spreadsheet"] if options.spreadsheet else []
        cli.main(["xla", "dumps", options.dump, "--format", options.format, *spreadsheet])
        for command in ("stepscope", *(["stepscope xla clusters"] if options.graphs else [])):
            console.say(f"next: {command} {shlex.quote(options.dump)}")
    else:
        if options.format != "table":
            from stepscope.cli.rows_output import write_rows

            write_rows(("module",), [], console, options.format)
        console.say("nothing was dumped: the program compiled nothing with XLA, or set its own XLA_FLAGS")
    return code if code >= 0 else 128 - code
