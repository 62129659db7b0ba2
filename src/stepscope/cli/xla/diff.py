"""stepscope xla diff A B: what changed between stages, compiles or folders; xla diff DIR: pass by pass."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.cli.arguments import Parser, add_showing
from stepscope.cli.console import Console
from stepscope.cli.progress import working
from stepscope.errors import NothingFound, UsageError
from stepscope.escapes import escaped_lines
from stepscope.formats.xla import compiles
from stepscope.report import xla_diff
from stepscope.sources.user_paths import look_up

if TYPE_CHECKING:
    from stepscope.formats.xla.compiles import Compile, DumpComparison, Stage

ABOUT = "what changed between stages, passes, compiles or folders, even where names changed"
EPILOG = """A stage is before, after, the name of a pass or its number. Stages that lie far apart are
compared by way of the passes between them.

  stepscope xla diff DIR                        pass by pass
  stepscope xla diff DIR --stage before..after  what the compiler made of it
  stepscope xla diff DIR --compile 1..2         the recompilation
  stepscope xla diff OLD NEW                    two folders, by function and compile
  stepscope xla diff A.hlo.pb B.hlo.pb          two files"""
_MOST_GROUPS = 12
_MOST_OPS = 10


def parser() -> Parser:
    """The options of the verb."""
    parser = Parser("xla diff", ABOUT, "stepscope xla diff A [B] [options]", EPILOG)
    parser.add_argument("paths", nargs="*", metavar="PATH", help="a dump folder, or two folders or files")
    parser.add_argument("--module", metavar="NAME", help="only modules whose name contains NAME")
    parser.add_argument(
        "--stage",
        metavar="A[..B]",
        help="two stages of a folder, or the stage to compare in two (default: after)",
    )
    parser.add_argument("--compile", metavar="A..B", help="two compiles of the function, such as 1..2")
    parser.add_argument(
        "--no-metadata", action="store_true", help="ignore the framework's names of ops as well"
    )
    parser.add_argument("--all", action="store_true", help="all groups and ops, and every instruction")
    add_showing(parser)
    return parser


def run(options: argparse.Namespace, console: Console) -> int:
    """Prints what changed, and says on stderr how it was found out."""
    _check(options)
    look_up(options.paths)
    with working("reading the dumps", console):
        comparison = _compared(options)
    if options.format == "json":
        _write_json(comparison, console)
    elif options.format == "table":
        _write_text(comparison, options, console)
    else:
        _write_rows(comparison, options, console)
    _say(comparison, console)
    return 0


class _Told:
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
            self.bases.update(xla_diff.pairs_found(comparison))
            if self.by_pass and comparison.is_empty:
                self.unchanged += 1
            else:
                yield comparison


def _check(options: argparse.Namespace) -> None:
    if not 1 <= len(options.paths) <= 2:
        raise UsageError(
            "A comparison takes one folder, or two folders or files",
            seen=f"{len(options.paths)} paths",
            todo="stepscope xla diff DIR, or stepscope xla diff A B",
        )
    if options.compile is not None:
        ends = options.compile.split("..")
        if len(ends) != 2 or not all(end.isdigit() and int(end) for end in ends):
            raise UsageError(
                "Two compiles are given by their numbers from 1",
                seen=f"--compile {options.compile}",
                todo="--compile 1..2",
            )
        if len(options.paths) == 2:
            raise UsageError(
                "Two compiles are compared within one folder",
                seen=f"--compile and {len(options.paths)} paths",
                todo="drop the option or one of the paths",
            )
    both = options.stage is not None and ".." in options.stage
    if both and (len(options.paths) == 2 or options.compile is not None):
        raise UsageError(
            "Two sides are given twice",
            seen=f"--stage {options.stage} and two compiles or paths",
            todo="give one stage, such as --stage after",
        )


def _compared(options: argparse.Namespace) -> _Told:
    """What was asked for."""
    named = not options.no_metadata
    if len(options.paths) == 2:
        return _compare_two(options, named)
    every = compiles.read(options.paths, options.module)
    if options.compile is not None:
        earlier, other = _numbered(every, options.compile)
        return _Told([compiles.compare(_ends(earlier, other, options.stage), named=named)])
    stages = compiles.largest(every)
    if options.stage is not None:
        first, last = (compiles.place(stages, end) for end in _both_ends(options.stage))
        step = 1 if first <= last else -1
        chosen = stages[first : last + step if last + step >= 0 else None : step]
        if len(chosen) < 2:
            raise NothingFound(
                "Both sides are the same stage", seen=f"--stage {options.stage}", todo="give two of them"
            )
        return _Told([compiles.compare(chosen, named=named)])
    if len(stages) < 2:
        raise NothingFound(
            "There is only one stage, and nothing to compare it with",
            seen=stages[0].name,
            todo="dump with --xla_dump_hlo_pass_re=.*, or give two folders or files",
            path=options.paths[0],
        )
    return _Told(compiles.passes(stages, named=named), by_pass=True)


def _compare_two(options: argparse.Namespace, named: bool) -> _Told:
    """Two files, or what two folders compiled."""
    a, b = (Path(path) for path in options.paths)
    if a.is_file() and b.is_file():
        return _Told([compiles.compare(_stages_between(a, b), named=named)])
    left, right = (compiles.read([path], options.module) for path in options.paths)
    pairs, alone = compiles.paired(left, right)
    if not pairs:
        pairs = _only(left, right)
        alone = []
    ends = [_ends(first, other, options.stage) for first, other in pairs]
    return _Told((compiles.compare(both, named=named) for both in ends), alone=alone)


def _stages_between(a: Path, b: Path) -> list[Stage]:
    """Two files, with the passes between them where they are of one compile in one folder."""
    if a.parent.resolve() == b.parent.resolve():
        try:
            together = compiles.read([str(a.parent)])
        except NothingFound:  # files of other names, such as of compiled.as_text()
            together = []
        for stages in together:
            names = [Path(stage.path).name for stage in stages]
            if a.name in names and b.name in names:
                first, last = names.index(a.name), names.index(b.name)
                step = 1 if first <= last else -1
                if first != last:
                    return stages[first : last + step if last + step >= 0 else None : step]
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


def _write_json(found: _Told, console: Console) -> None:
    console.data.write('{"comparisons": [')
    for number, comparison in enumerate(found):
        made = json.dumps(xla_diff.document(comparison), ensure_ascii=False, allow_nan=False)
        console.data.write((",\n" if number else "\n") + made)
    rest = json.dumps(
        {"unchanged_passes": found.unchanged if found.by_pass else None, "only_in_one": list(found.alone)}
    )
    console.data.write(f"\n], {rest[1:]}\n")


def _write_text(found: _Told, options: argparse.Namespace, console: Console) -> None:
    from stepscope.cli.query import write_rows

    for number, comparison in enumerate(found):
        lines = xla_diff.lines(comparison, None if options.all else _MOST_GROUPS)
        for line in [*([""] if number else []), *lines]:
            console.out.write(escaped_lines(line, styles=False) + "\n")
        ops = xla_diff.ops(comparison)
        if ops and (options.all or not found.by_pass):
            console.out.write("\n")
            shown = ops if options.all else ops[:_MOST_OPS]
            write_rows(xla_diff.OP_COLUMNS, shown, console, "table", everything=True)
        if options.all and not comparison.is_empty:
            console.out.write("\n")
            write_rows(
                xla_diff.CHANGE_COLUMNS, xla_diff.changes(comparison), console, "table", everything=True
            )


def _write_rows(found: _Told, options: argparse.Namespace, console: Console) -> None:
    from stepscope.cli.query import write_rows

    rows = (
        [comparison.a.name, comparison.b.name, *cells]
        for comparison in found
        for cells in xla_diff.changes(comparison)
    )
    columns = ("from", "to", *xla_diff.CHANGE_COLUMNS)
    write_rows(columns, rows, console, options.format, everything=True, spreadsheet=options.spreadsheet)


def _say(found: _Told, console: Console) -> None:
    if found.by_pass:
        console.say(xla_diff.left_out(found.unchanged))
    if found.alone:
        console.say(f"only on one side: {', '.join(found.alone)}")
    if found.bases:
        console.say(xla_diff.bases(found.bases))
