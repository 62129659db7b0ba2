"""stepscope xla check [LINE]: whether a line of flags is one that the installed library takes."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

from stepscope.cli.arguments import Parser, add_showing
from stepscope.cli.console import Console
from stepscope.cli.xla.flags import add_library
from stepscope.errors import NothingFound, UsageError
from stepscope.report import xla_flags
from stepscope.xla_tools.flags import check, variables
from stepscope.xla_tools.flags.installed import TRIGGERS, Library, installed
from stepscope.xla_tools.flags.line import FlagLine, parse

ABOUT = "check a line of flags against the installed library, before a job fails on it"
EPILOG = """LINE is what XLA_FLAGS or TF_XLA_FLAGS is to be, with or without the name; without LINE, both are
taken from the environment. The library itself is asked, in a child process. Exit code 1 when it refuses."""


class _FlagParser(Parser):
    """LINE begins with dashes, as options do."""

    def split(self, words: list[str]) -> tuple[list[str], list[str]]:
        """The options, and the flags of XLA."""
        flags = [word for word in words if word.startswith(("--xla", "--tf_"))]
        return [word for word in words if word not in flags], flags

    def complete(self, options: argparse.Namespace, apart: list[str]) -> None:
        """Adds the flags to LINE."""
        super().complete(options, apart)
        options.line = [*options.line, *apart]


def parser() -> Parser:
    """The options of the verb."""
    parser = _FlagParser("xla check", ABOUT, "stepscope xla check [LINE] [options]", EPILOG)
    parser.add_argument("line", nargs="*", metavar="LINE", help='such as "--xla_dump_to=/tmp/x"')
    parser.add_argument(
        "--variable", choices=("XLA_FLAGS", "TF_XLA_FLAGS"), help="the variable that LINE is for"
    )
    add_library(parser)
    add_showing(parser)
    return parser


def run(options: argparse.Namespace, console: Console) -> int:
    """Prints a row for each flag; 1 when one of them stops a program."""
    from stepscope.cli.query import write_records

    lines = [parse(" ".join(options.line), options.variable)] if options.line else _environment()
    libraries = [] if options.catalogue else installed(options.python)
    rows: list[dict[str, str | None]] = []
    for line in lines:
        if not line.flags:
            raise UsageError("The line has no flags", seen=line.variable, todo="give it a --flag=value")
        found = check.check(line, _library(libraries, line, options.library), options.python)
        rows += found
        for row in found:
            if row["verdict"] != "ok":
                console.say(xla_flags.sentence(row))
        console.say(xla_flags.conclusion(found, line.variable))
    write_records(check.COLUMNS, rows, options, console)
    if variables.DEAD in os.environ:
        console.say(xla_flags.warning_of_dead())
    return int(any(row["verdict"] not in xla_flags.HARMLESS for row in rows))


def _library(libraries: Sequence[Library], line: FlagLine, wanted: str | None) -> Library | None:
    """The library to ask about a line of flags."""
    able = [library for library in libraries if (library.name, line.variable) in TRIGGERS]
    # jaxlib answers ten times sooner; TensorFlow has an XLA of its own, which --library asks.
    return next((library for library in able if wanted in (None, library.name)), None)


def _environment() -> list[FlagLine]:
    names = ("XLA_FLAGS", "TF_XLA_FLAGS")
    lines = [parse(os.environ[name], name) for name in names if os.environ.get(name, "").strip()]
    if not lines:
        raise NothingFound(
            "There is no line of flags to check",
            seen="no LINE, and neither XLA_FLAGS nor TF_XLA_FLAGS is set",
            todo='stepscope xla check "--xla_dump_to=/tmp/x"',
        )
    return lines
