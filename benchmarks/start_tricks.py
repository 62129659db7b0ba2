"""The stepscope command with one of its start-up tricks left out: `start_tricks.py TRICK WORD…`.

Each trick is switched off from outside, so that what is measured is the code that ships. `all` keeps every
trick: the others are compared with it.

Left out for good, because they saved less than a tenth of the processor time of a question: binding DuckDB's
functions late (0.4 %), compiling patterns when they are first used (4.8 %), rare looks for cycles (5.1 %).
"""

from __future__ import annotations

import sys
from collections.abc import Callable


def _nothing(*_: object, **__: object) -> None:
    """Stands for what is left out."""


def without_native() -> None:
    """Imports DuckDB's package, as everybody does, instead of its native module alone."""
    import duckdb  # noqa: F401


def without_ahead() -> None:
    """Makes the engine when the first query needs it, in the thread that waits for it."""
    from stepscope.engines import early_start

    early_start.begin = _nothing


def without_head_start() -> None:
    """Decodes when the first query needs it, after the engine was made."""
    from stepscope.session.tables import DecodedTables

    DecodedTables.begin = _nothing  # type: ignore[method-assign]


def without_leaving() -> None:
    """Ends the process as Python does, object by object."""
    from stepscope import cli

    cli._leave = sys.exit  # type: ignore[assignment]


TRICKS: dict[str, Callable[[], None]] = {
    "all": _nothing,
    "native": without_native,
    "ahead": without_ahead,
    "head_start": without_head_start,
    "leaving": without_leaving,
}


if __name__ == "__main__":
    TRICKS[sys.argv[1]]()
    sys.argv = ["stepscope", *sys.argv[2:]]
    from stepscope.cli import main

    main()
