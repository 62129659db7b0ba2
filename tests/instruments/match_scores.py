"""How well instructions are matched across passes: precision and recall against names, which the matching
never reads.

The truth of two dumps that follow each other: instructions with the same name, opcode and shape (without
layout) before and after. Precision: of the pairs with an instruction that has a truth, those that are it.
Recall: of the truth, what was found.
"""

import itertools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from stepscope import _core
from stepscope.formats.xla import compiles

_LAYOUT = re.compile(r"\{[^{}]*\}")


class Score(NamedTuple):
    """Pairs that were found and have a truth, those of them that are right, and the truth."""

    said: int
    right: int
    truth: int

    @property
    def precision(self) -> float:
        """1 where nothing was said."""
        return self.right / self.said if self.said else 1.0

    @property
    def recall(self) -> float:
        """1 where there was nothing to find."""
        return self.right / self.truth if self.truth else 1.0


def score(before: str, after: str, *, named: bool) -> Score:
    """Of two dumps that follow each other. named: whether the framework's names of ops count."""
    found = _core.hlo_diff([before, after], named)
    a, b = ({_key(row): at for at, row in enumerate(found[side]["rows"])} for side in ("a", "b"))
    truth = {a[key]: b[key] for key in a.keys() & b.keys()}
    back = set(truth.values())
    said = [(one, other) for one, other, *_ in found["pairs"] if one in truth or other in back]
    return Score(len(said), sum(truth.get(one) == other for one, other in said), len(truth))


def _key(row: Sequence[Any]) -> tuple[str, str, str]:
    return row[0], row[1], _LAYOUT.sub("", row[2])


def scores(folder: Path, *, named: bool, least: int = 40) -> Iterator[tuple[str, str, Score]]:
    """Module, pass and score of all passes in a folder whose module has so many instructions."""
    for stages in compiles.read([str(folder)]):
        passes = [one for one in stages if one.row["pass"] is not None]
        if not passes or passes[0].row["instructions"] < least:
            continue
        for before, after in itertools.pairwise(passes):
            yield passes[0].row["module"], after.name, score(before.path, after.path, named=named)


def together(scores: Sequence[Score]) -> Score:
    """The sum."""
    return Score(*(sum(one[at] for one in scores) for at in range(3)))
