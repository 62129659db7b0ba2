"""What a debugger can show of libraries, and the symbols of a function in them."""

from collections.abc import Sequence

from stepscope import units
from stepscope.errors import NothingFound
from stepscope.report.listing import Listing
from stepscope.xla_tools import symbols
from stepscope.xla_tools.flags import installed

_MOST = 3
"""Libraries of a package that are read unless some are named."""


def build(paths: Sequence[str], function: str | None, python: str | None) -> Listing:
    """A row for each library, or for each symbol of a function. Without paths, libraries of a Python."""
    paths = paths or _installed(python, _MOST if function is None else None)
    if function is None:
        libraries = symbols.rows(paths)
        bare = "no lines, no arguments: `bazel build --copt=-g --strip=never …` builds TensorFlow with them"
        return Listing(symbols.COLUMNS, libraries, [] if any(row["lines"] for row in libraries) else [bare])
    rows = symbols.find(paths, function)
    if not rows:
        raise NothingFound(
            f"No symbol is called {function}",
            seen=units.count(len(paths), "library", "libraries"),
            todo="give the whole name with its namespaces; names without types match all overloads",
        )
    here = sum(row["defined"] and row["is_function"] for row in rows)
    stops = (
        f"gdb can stop at {units.count(here, 'function')} of {units.count(len(rows), 'symbol')}"
        if here
        else "gdb can stop at none of these: they are in other libraries, which have to be loaded first"
    )
    return Listing(symbols.FOUND, rows, [stops])


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
