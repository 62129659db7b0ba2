"""Sizes of the first screen, from a large one to a small one.

What survives on any size, in this order: the sentence with the place, what to do about the first finding, the
bar of the step, the second finding. Tables go first. Nothing is cut within a sentence: it is there or not.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

WHOLE = "whole"
"""Of a finding: all that it says, and all of its advice."""
BRIEF = "brief"
"""Its title, and the first sentence of what it says and of its advice."""
ADVICE = "advice"
"""Its title, and all of its advice."""
SHORT = "short"
"""Its title, and the first sentence of its advice."""
TITLE = "title"


@dataclass(frozen=True)
class Measure:
    """What a screen shows.

    findings: how each of them is shown, the first one first. headline, notes, commands: how many of them.
    sentences: of a section; wide: lines that one of these may take. rows: of a table. airy: with blanks
    between the blocks. bar: whether the mean step is drawn.
    """

    findings: tuple[str, ...] = (WHOLE,) * 6
    headline: int = 9
    notes: int = 2
    commands: int = 9
    sentences: int = 3
    wide: int = 9
    rows: int = 5
    airy: bool = True
    bar: bool = True


def _large() -> Iterator[Measure]:
    """Those with all sections."""
    size = Measure()
    yield size
    for whole in (2, 1):
        size = replace(size, findings=(WHOLE,) * whole + (BRIEF,) * (6 - whole))
        yield size
    for findings in (5, 4, 3):
        size = replace(size, findings=size.findings[:findings])
        yield size
    for changed in (
        {"wide": 2},
        {"notes": 1},
        {"sentences": 2},
        {"rows": 3},
        {"airy": False},
        {"sentences": 1},
    ):
        size = replace(size, **changed)
        yield size
    for last in (SHORT, TITLE):
        size = replace(size, findings=(WHOLE, BRIEF, last))
        yield size


def _small() -> Iterator[Measure]:
    """Those without a section, in which there may be room for some again."""
    size = replace(LARGE[-1], findings=(WHOLE, BRIEF))
    yield size
    for changed in (
        {"headline": 3},
        {"notes": 0},
        {"headline": 2},
        {"findings": (ADVICE, BRIEF)},
        {"findings": (ADVICE, SHORT)},
        {"commands": 1},
        {"findings": (ADVICE, TITLE)},
        {"commands": 0},
        {"findings": (ADVICE,)},
        {"headline": 1},
        {"bar": False},
        {"findings": (SHORT,)},
        {"findings": ()},
    ):
        size = replace(size, **changed)
        yield size


LARGE = tuple(_large())
SMALL = tuple(_small())
