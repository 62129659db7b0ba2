"""stepscope xla symbols [LIB…]: what gdb will be able to show of a library, and where it can stop."""

from __future__ import annotations

import argparse

from stepscope import units
from stepscope.cli.arguments import Parser, add_showing
from stepscope.cli.console import Console
from stepscope.errors import NothingFound
from stepscope.xla_tools import symbols
from stepscope.xla_tools.flags import installed

ABOUT = "symbols of a library: what gdb can show, and where it can stop"
EPILOG = """Without LIB, the largest libraries of the installed jaxlib and TensorFlow; --find looks in all of
them. Files are read, not loaded.

  stepscope xla symbols --find tensorflow::TF_NewSessionRef"""

_MOST = 3
"""Libraries of a package that are read unless some are named."""


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
    from stepscope.cli.query import write_records

    paths = options.libraries or _installed(options.python, None if options.find else _MOST)
    if options.find is None:
        rows = symbols.rows(paths)
    else:
        rows = symbols.find(paths, options.find)
        if not rows:
            raise NothingFound(
                f"No symbol is called {options.find}",
                seen=units.count(len(paths), "library", "libraries"),
                todo="give the whole name with its namespaces; names without types match all overloads",
            )
    columns: tuple[str, ...] = symbols.COLUMNS if options.find is None else symbols.FOUND
    write_records(columns, rows, options, console)
    if options.find is None and not any(row["lines"] for row in rows):
        console.say(
            "no lines, no arguments: `bazel build --copt=-g --strip=never …` builds TensorFlow with them"
        )
    if options.find is not None:
        here = sum(row["defined"] and row["is_function"] for row in rows)
        console.say(
            f"gdb can stop at {units.count(here, 'function')} of {units.count(len(rows), 'symbol')}"
            if here
            else "gdb can stop at none of these: they are in other libraries, which have to be loaded first"
        )
    return 0


def _installed(python: str | None, most: int | None) -> list[str]:
    found = []
    for library in installed.installed(python):
        files = [path for path in library.folder.rglob("*.so*") if path.is_file() and not path.is_symlink()]
        files.sort(key=lambda path: (-path.stat().st_size, path))
        found += [str(path) for path in files[:most]]
    if not found:
        raise NothingFound(
            "There is no library to look at",
            seen="no jaxlib and no TensorFlow",
            todo="name a library, or give --python the interpreter that has them",
        )
    return found
