"""pyinstrument: its call tree."""

from __future__ import annotations

from pathlib import Path

from benchmarks.yardstick.answer import Answer
from benchmarks.yardstick.tools import Made, ran

NAME = "pyinstrument"
PACKAGE = "pyinstrument"
KINDS: tuple[str, ...] = ()
ABOUT = (
    "The three functions of the program with the most time of their own in `pyinstrument -r json`, where "
    "time in libraries counts for the function that calls them and imports count for none. It names no cause."
)
READS_PROGRAMS = True


def program(made: Made, python: Path) -> Answer:
    """What it says of another run of the program, as long as the recorded one."""
    return ran(NAME, python, str(made.program), *made.arguments)
