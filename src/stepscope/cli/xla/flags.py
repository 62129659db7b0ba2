"""stepscope xla flags [NAME]: the flags of the installed XLA, and the variables around it."""

from __future__ import annotations

import argparse
import difflib

from stepscope.cli.arguments import Parser, add_showing
from stepscope.cli.console import Console
from stepscope.errors import NothingFound
from stepscope.report.xla_flags import warning_of_dead
from stepscope.xla_tools.flags import table, variables
from stepscope.xla_tools.flags.installed import installed

ABOUT = "list the flags and variables that the installed jaxlib and TensorFlow know"
EPILOG = """Flags are read from the libraries' files; defaults and help texts come from child processes,
once per build of a library. since and until are versions of jaxlib; older flags, from TensorFlow 1.15 on,
name the last library that knew them. Without a library, stepscope's own catalogue answers."""

_SHOWN = ("name", "library", "type", "default", "values", "status", "since", "until", "doc")


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


def run(options: argparse.Namespace, console: Console) -> int:
    """Prints the table."""
    from stepscope.cli.query import informative, is_for_people, write_records

    libraries = [] if options.catalogue else installed(options.python)
    libraries = [library for library in libraries if options.library in (None, library.name)]
    rows = table.rows(libraries, options.python, asking=not options.fast)
    if options.name is not None:
        rows = _named(rows, options.name)
    columns = informative(_SHOWN, rows) if is_for_people(options) else table.COLUMNS
    write_records(columns, rows, options, console)
    where = ", ".join(library.title for library in libraries) or "the catalogue; no library was asked"
    console.say(f"from {where}")
    if any(row["name"] == variables.DEAD for row in rows):
        console.say(warning_of_dead())
    return 0


def _named(rows: list[dict[str, object]], word: str) -> list[dict[str, object]]:
    """Rows of a name, else of names that contain it."""
    name = word.lstrip("-").partition("=")[0]
    found = [row for row in rows if row["name"] == name]
    found = found or [row for row in rows if name.lower() in str(row["name"]).lower()]
    if found and name:
        return found
    near = difflib.get_close_matches(name, {str(row["name"]) for row in rows}, 3)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    raise NothingFound(
        "There is no flag or variable of this name",
        seen=word,
        todo=f"{hint}stepscope xla flags lists all",
        slug="no-flag",
    )
