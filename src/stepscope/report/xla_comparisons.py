"""Programs that are compared: which stages, passes, compiles or folders, and what to know beside them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from stepscope import units
from stepscope.errors import NothingFound, UsageError
from stepscope.formats.xla import compiles
from stepscope.formats.xla.compiles import Compile, DumpComparison, Stage
from stepscope.instruments.xla import diffs
from stepscope.report import xla_diff


class Comparisons:
    """The comparisons, one after the other, because all passes of a large program would fill the memory; what
    is counted on the way; and functions that only one side has."""

    def __init__(
        self, found: Iterable[DumpComparison], *, by_pass: bool = False, alone: Sequence[str] = ()
    ) -> None:
        self._found = found
        self.by_pass = by_pass
        self.alone = alone
        self.unchanged = 0
        self.bases: Counter[str] = Counter()

    def __iter__(self) -> Iterator[DumpComparison]:
        for comparison in self._found:
            self.bases.update(diffs.bases(comparison.diff))
            if self.by_pass and comparison.is_empty:
                self.unchanged += 1
            else:
                yield comparison

    def sentences(self) -> Iterator[str]:
        """What to know once all have been read: what is left out, and how pairs were found."""
        if self.by_pass:
            yield f"{units.count(self.unchanged, 'pass', 'passes')} changed nothing"
        if self.alone:
            yield f"only on one side: {', '.join(self.alone)}"
        if self.bases:
            yield xla_diff.bases(self.bases)


def compared(
    paths: Sequence[str], module: str | None, stage: str | None, numbers: str | None, *, named: bool
) -> Comparisons:
    """One folder pass by pass, or two folders or files. module: only modules whose name contains it. stage:
    of both sides, or A..B of a folder. numbers: two compiles of a function, such as 1..2. named: what the
    framework calls ops counts, too."""
    if len(paths) == 2:
        return _compared_paths(paths, module, stage, named)
    every = compiles.read(paths, module)
    if numbers is not None:
        earlier, other = _numbered(every, numbers)
        return Comparisons([compiles.compare(_ends(earlier, other, stage), named=named)])
    stages = compiles.largest(every)
    if stage is not None:
        chosen = compiles.way(stages, *(compiles.place(stages, end) for end in _both_ends(stage)))
        if len(chosen) < 2:
            raise NothingFound(
                "Both sides are the same stage", seen=f"--stage {stage}", todo="give two of them"
            )
        return Comparisons([compiles.compare(chosen, named=named)])
    if len(stages) < 2:
        raise NothingFound(
            "There is only one stage, and nothing to compare it with",
            seen=stages[0].name,
            todo="dump with --xla_dump_hlo_pass_re=.*, or give two folders or files",
            path=paths[0],
        )
    return Comparisons(compiles.passes(stages, named=named), by_pass=True)


def _compared_paths(paths: Sequence[str], module: str | None, stage: str | None, named: bool) -> Comparisons:
    """Two files, or what two folders compiled."""
    a, b = (Path(path) for path in paths)
    if a.is_file() and b.is_file():
        return Comparisons([compiles.compare(_stages_between(a, b), named=named)])
    left, right = (compiles.read([path], module) for path in paths)
    pairs, alone = compiles.paired(left, right)
    if not pairs:
        pairs = _only(left, right)
        alone = []
    ends = [_ends(first, other, stage) for first, other in pairs]
    return Comparisons((compiles.compare(both, named=named) for both in ends), alone=alone)


def _stages_between(a: Path, b: Path) -> list[Stage]:
    """Two files, with the passes between them where they are of one compile in one folder."""
    if a.parent.resolve() == b.parent.resolve():
        try:
            together = compiles.read([str(a.parent)])
        except NothingFound:  # files of other names, such as of compiled.as_text()
            together = []
        for stages in together:
            names = [Path(stage.path).name for stage in stages]
            if a.name != b.name and a.name in names and b.name in names:
                return compiles.way(stages, names.index(a.name), names.index(b.name))
    return [compiles.read([str(path)])[0][0] for path in (a, b)]


def _only(left: list[Compile], right: list[Compile]) -> list[tuple[Compile, Compile]]:
    """Two sides without a function in common: renamed, if each has only one."""
    if len(left) == len(right) == 1:
        return [(left[0], right[0])]
    names = [", ".join(sorted({str(made[0].row["function"]) for made in side})[:4]) for side in (left, right)]
    raise NothingFound(
        "The two sides have no function in common",
        seen=f"{names[0]}; {names[1]}",
        todo="give two files, or choose a module on each side by its file",
    )


def _ends(a: Compile, b: Compile, stage: str | None) -> list[Stage]:
    """One stage of each, the last where none is named."""
    if stage is None:
        return [a[-1], b[-1]] if bool(a[-1].row["pass"]) == bool(b[-1].row["pass"]) else [a[0], b[0]]
    return [stages[compiles.place(stages, stage)] for stages in (a, b)]


def _both_ends(stage: str) -> tuple[str, str]:
    first, dots, last = stage.partition("..")
    if not dots or not first or not last:
        raise UsageError(
            "Two stages of a folder are compared",
            seen=f"--stage {stage}",
            todo="--stage before..after, or a pass or its number on either side",
        )
    return first, last


def _numbered(every: list[Compile], wanted: str) -> tuple[Compile, Compile]:
    """Two compiles of one function: of the first that has both."""
    first, last = (int(end) for end in wanted.split(".."))
    by_number = {tuple(made[0].row[key] for key in ("folder", "function", "compile")): made for made in every}
    for folder, function, _ in by_number:
        earlier, other = by_number.get((folder, function, first)), by_number.get((folder, function, last))
        if earlier is not None and other is not None:
            return earlier, other
    most = max(made[0].row["compile"] for made in every)
    raise NothingFound(
        f"No function was compiled as often as --compile {wanted} says",
        seen=f"at most {most}",
        todo="stepscope xla dumps lists the compiles",
    )
