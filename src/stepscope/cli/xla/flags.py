"""stepscope xla flags [NAME]: the flags of the installed XLA, and the variables around it."""

import argparse

from stepscope.cli.arguments import Parser, add_showing
from stepscope.cli.console import Console
from stepscope.report import xla_flags
from stepscope.xla_tools.flags.installed import Library, installed

ABOUT = "list the flags and variables that the installed jaxlib and TensorFlow know"
EPILOG = """Flags are read from the libraries' files; defaults and help texts come from child processes,
once per build of a library. since and until are versions of jaxlib; older flags, from TensorFlow 1.15 on,
name the last library that knew them. Without a library, stepscope's own catalogue answers."""


def parser() -> Parser:
    """The options of the verb."""
    parser = Parser("xla flags", ABOUT, "stepscope xla flags [NAME] [options]", EPILOG)
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="a flag or variable, or a part of its name; without NAME, all"
    )
    add_library(parser)
    parser.add_argument("--fast", action="store_true", help="start no child process: no texts, few defaults")
    add_showing(parser, aside=True)
    return parser


def add_library(parser: Parser) -> None:
    """Which library is meant."""
    parser.add_argument("--python", metavar="EXE", help="the Python whose libraries are asked, not this one")
    parser.add_argument("--library", choices=("jaxlib", "tensorflow"), help="only this library")
    parser.add_argument(
        "--catalogue", action="store_true", help="ask stepscope's own catalogue, not the library"
    )


def libraries(options: argparse.Namespace) -> list[Library]:
    """The libraries that are meant."""
    found = [] if options.catalogue else installed(options.python)
    return [library for library in found if options.library in (None, library.name)]


def run(options: argparse.Namespace, console: Console) -> int:
    """Prints the table."""
    from stepscope.cli.rows_output import write_listing

    asking = not options.fast
    listing = xla_flags.listed(options.name, libraries(options), options.python, asking=asking)
    write_listing(listing, options, console)
    return 0
