"""stepscope xla env --dump DIR: what to set, so that a program dumps what stepscope reads."""

import argparse
from pathlib import Path

from stepscope.cli.arguments import Parser, a_path, add_showing
from stepscope.cli.console import Console
from stepscope.errors import OutputError, UsageError
from stepscope.xla_tools.flags import settings
from stepscope.xla_tools.flags.settings import SHELLS

ABOUT = "print the settings that make a program dump what stepscope reads"
EPILOG = """The folders are made. In a shell: eval "$(stepscope xla env --dump DIR)" """


def parser() -> Parser:
    """The options of the verb."""
    parser = Parser("xla env", ABOUT, "stepscope xla env --dump DIR [options]", EPILOG.rstrip())
    add_dump(parser)
    add_showing(parser, aside=True)
    parser.add_argument("--shell", choices=SHELLS, default="sh", help="whose words are printed (%(default)s)")
    return parser


def add_dump(parser: Parser) -> None:
    """What is dumped, and where."""
    parser.add_argument("--dump", metavar="DIR", type=a_path, help="the folder for the dumps")
    parser.add_argument("--passes", metavar="RE", help="passes that are dumped before and after; .* is all")
    parser.add_argument("--graphs", action="store_true", help="also TensorFlow's graphs and clusters")
    parser.add_argument(
        "--profile", action="store_true", help="count cycles, which TensorFlow 1.15 does and 2.21 does not"
    )


def prepared(options: argparse.Namespace, before: dict[str, str]) -> dict[str, str]:
    """The settings; their folders are there."""
    if options.dump is None:
        raise UsageError("No folder is given", seen="no --dump", todo="add --dump DIR")
    folder = Path(options.dump).absolute()
    try:
        for path in settings.folders(folder, graphs=options.graphs):
            Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            "The folder for the dumps could not be made",
            seen=str(error),
            todo="choose another --dump",
            path=str(folder),
        ) from error
    return settings.settings(
        folder, passes=options.passes, graphs=options.graphs, profile=options.profile, before=before
    )


def run(options: argparse.Namespace, console: Console) -> int:
    """Prints the settings."""
    values = prepared(options, {})
    if options.format != "table":
        from stepscope.cli.rows_output import write_rows

        rows = list(values.items())
        write_rows(("name", "value"), rows, console, options.format, spreadsheet=options.spreadsheet)
        return 0
    for line in settings.lines(values, options.shell):
        console.data.write(line + "\n")
    return 0
