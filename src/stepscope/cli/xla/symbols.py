"""stepscope xla symbols [LIB…]: what gdb will be able to show of a library, and where it can stop."""

import argparse

from stepscope.cli.arguments import Parser, add_showing
from stepscope.cli.console import Console
from stepscope.report import xla_symbols

ABOUT = "symbols of a library: what gdb can show, and where it can stop"
EPILOG = """Without LIB, the largest libraries of the installed jaxlib and TensorFlow; --find looks in all of
them. Files are read, not loaded.

  stepscope xla symbols --find tensorflow::TF_NewSessionRef"""


def parser() -> Parser:
    """The options of the verb."""
    parser = Parser("xla symbols", ABOUT, "stepscope xla symbols [LIB…] [options]", EPILOG)
    parser.add_argument("libraries", nargs="*", metavar="LIB", help="shared libraries (.so) or programs")
    parser.add_argument("--find", metavar="NAME", help="list the symbols of this function, C++ or C")
    parser.add_argument("--python", metavar="EXE", help="the Python whose libraries are asked, not this one")
    add_showing(parser, aside=True)
    return parser


def run(options: argparse.Namespace, console: Console) -> int:
    """Prints a row for each library, or for each symbol that --find asks for."""
    from stepscope.cli.rows_output import write_listing

    write_listing(xla_symbols.build(options.libraries, options.find, options.python), options, console)
    return 0
