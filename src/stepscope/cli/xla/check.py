"""stepscope xla check [LINE]: whether a line of flags is one that the installed library takes."""

import argparse
import os

from stepscope.cli.arguments import Parser, add_showing
from stepscope.cli.console import Console
from stepscope.cli.xla.flags import add_library, libraries
from stepscope.errors import NothingFound
from stepscope.report import xla_flags
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
    from stepscope.cli.rows_output import write_listing

    lines = [parse(" ".join(options.line), options.variable)] if options.line else _environment()
    listing = xla_flags.checked(lines, libraries(options), options.python, os.environ)
    write_listing(listing, options, console)
    return int(xla_flags.is_refused(listing))


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
