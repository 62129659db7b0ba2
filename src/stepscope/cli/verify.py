"""stepscope verify LAKE: compares every file of a lake with its hash."""

import argparse

from stepscope import units
from stepscope.cli.arguments import Parser, a_path, add_showing
from stepscope.cli.console import Console
from stepscope.cli.rows_output import write_rows

ABOUT = "check every file of a lake against the hash it was written with"
EPILOG = """Queries check the hash of a file when they first read it, and remember the result. This verb
checks every file again. It stops at the first that is missing or damaged, and says how to repair it."""


def parser() -> Parser:
    """The options of the verb."""
    parser = Parser("verify", ABOUT, "stepscope verify LAKE [options]", EPILOG)
    parser.add_argument("lake", metavar="LAKE", type=a_path, help="the lake")
    add_showing(parser, aside=True)
    return parser


def run(options: argparse.Namespace, console: Console) -> int:
    """Reads the lake's files."""
    from stepscope.cli.progress import bar
    from stepscope.session import trace

    with bar(console) as shown:
        files, size = trace.verify(options.lake, progress=shown.update)
    write_rows(("files", "bytes"), [(files, size)], console, options.format, spreadsheet=options.spreadsheet)
    console.say(f"{options.lake} is whole: {units.count(files, 'file')} compared")
    return 0
