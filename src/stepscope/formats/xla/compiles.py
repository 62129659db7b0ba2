"""The stages and passes of each compile in a dump, and two or more of them compared.

The core matches instructions by structure (names never count), and says for each without partner what became
of it. Stages that lie far apart are compared by way of the passes between them, where the folder has them.
"""

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from stepscope import _core
from stepscope.errors import NothingFound, UnreadableSource
from stepscope.formats.xla import dumps

Row = Mapping[str, Any]


class Stage(NamedTuple):
    """One side: a row of the dump, and the file that it was read from."""

    path: str
    row: Row

    @property
    def name(self) -> str:
        """What people call it: the pass, or the stage."""
        return str(self.row["pass"] or self.row["stage"] or self.row["file"])


class DumpComparison(NamedTuple):
    """Two sides, and the files from the one to the other."""

    a: Stage
    b: Stage
    paths: list[str]
    diff: dict[str, Any]

    @property
    def is_empty(self) -> bool:
        """Whether nothing changed."""
        diff = self.diff
        return not (diff["removed"] or diff["added"] or any(pair[4] for pair in diff["pairs"]))


Compile = list[Stage]


def read(paths: Sequence[str], module: str | None = None) -> list[Compile]:
    """The stages and passes of each compile, in their order. NothingFound when there is none."""
    rows = [row for row in dumps.read(paths, fold=False).rows if row["instructions"] is not None]
    found: dict[tuple[Any, ...], Compile] = defaultdict(list)
    for row in dumps.rows_of_module(rows, module, paths):
        found[row["folder"], row["function"], row["compile"]].append(Stage(row["path"], row))
    # Stages of two module numbers that are one compile come one behind the other.
    return list(found.values())


def largest(found: Sequence[Compile]) -> Compile:
    """The compile to look at where none is named: that with the most instructions, if it has stages."""
    return max(found, key=lambda chain: (len(chain) > 1, max(stage.row["instructions"] for stage in chain)))


def place(stages: Compile, wanted: str) -> int:
    """Which stage is meant: before, after, the number of a pass, or a part of a name; the first that fits.
    NothingFound when none does."""
    found = _places(stages, wanted)
    if found:
        return found[0]
    raise NothingFound(
        f"There is no stage {wanted}",
        seen=", ".join(list(dict.fromkeys(stage.name for stage in stages))[:12]),
        todo="give before, after, a pass or its number; stepscope xla dumps --all lists them",
    )


def _places(stages: Compile, wanted: str) -> list[int]:
    """The stages that may be meant."""
    exact = [at for at, stage in enumerate(stages) if wanted in (stage.row["pass"], stage.row["stage"])]
    if exact:
        return exact
    if wanted.isdigit():
        return [at for at, stage in enumerate(stages) if stage.row["pass_number"] == int(wanted)]
    if wanted in ("before", "after"):
        ends = [at for at, stage in enumerate(stages) if not stage.row["pass"]]
        return [at for at in ends if wanted in (stages[at].row["stage"] or "")]
    return [at for at, stage in enumerate(stages) if wanted in stage.name]


def way(stages: Compile, first: int, last: int) -> Compile:
    """The stages from the one to the other, either of which may come first."""
    return stages[first : last + 1] if first <= last else stages[last : first + 1][::-1]


def compare(stages: Sequence[Stage], *, named: bool = True) -> DumpComparison:
    """The first and the last, by way of those between. UnreadableSource when a file has gone."""
    paths = [stage.path for stage in stages]
    try:
        diff = _core.hlo_diff(_different(stages), named)
    except (OSError, _core.CoreError) as error:
        raise UnreadableSource(
            "A module can no longer be read", seen=str(error), todo="dump it again", path=paths[0]
        ) from error
    return DumpComparison(stages[0], stages[-1], paths, diff)


def _different(stages: Sequence[Stage]) -> list[str]:
    """Files without those between that are known to change nothing: about half of all passes."""
    kept = [stages[0]]
    for before, stage in itertools.pairwise(stages):
        if Path(before.path).read_bytes() != Path(stage.path).read_bytes():
            kept.append(stage)
    return [stage.path for stage in (*kept, stages[-1])]


def passes(stages: Compile, *, named: bool = True) -> Iterator[DumpComparison]:
    """Each with the one before it, with what changed nothing."""
    for pair in itertools.pairwise(stages):
        yield compare(pair, named=named)


def paired(a: Sequence[Compile], b: Sequence[Compile]) -> tuple[list[tuple[Compile, Compile]], list[str]]:
    """Compiles of two folders by function and number, and the modules that only one of them has."""
    left, right = ({_key(chain): chain for chain in side} for side in (a, b))
    both = [(left[name], right[name]) for name in left if name in right]
    alone = sorted(str(name[0]) for name in left.keys() ^ right.keys())
    return both, alone


def _key(chain: Compile) -> tuple[str, int]:
    return chain[0].row["function"], chain[0].row["compile"]
