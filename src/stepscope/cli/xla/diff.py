"""stepscope xla diff A B: what changed between stages, compiles or folders; xla diff DIR: pass by pass."""

import argparse
import json

from stepscope.cli.arguments import Parser, add_showing
from stepscope.cli.console import Console
from stepscope.cli.progress import working
from stepscope.errors import UsageError
from stepscope.escapes import escaped_lines
from stepscope.report import xla_comparisons, xla_diff
from stepscope.report.xla_comparisons import Comparisons
from stepscope.sources.user_paths import look_up

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
        comparison = xla_comparisons.compared(
            options.paths, options.module, options.stage, options.compile, named=not options.no_metadata
        )
    if options.format == "json":
        _write_json(comparison, console)
    elif options.format == "table":
        _write_text(comparison, options, console)
    else:
        _write_rows(comparison, options, console)
    for line in comparison.sentences():
        console.say(line)
    return 0


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


def _write_json(found: Comparisons, console: Console) -> None:
    console.data.write('{"comparisons": [')
    for number, comparison in enumerate(found):
        made = json.dumps(xla_diff.document(comparison), ensure_ascii=False, allow_nan=False)
        console.data.write((",\n" if number else "\n") + made)
    rest = json.dumps(
        {"unchanged_passes": found.unchanged if found.by_pass else None, "only_in_one": list(found.alone)}
    )
    console.data.write(f"\n], {rest[1:]}\n")


def _write_text(found: Comparisons, options: argparse.Namespace, console: Console) -> None:
    from stepscope.cli.rows_output import write_rows

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


def _write_rows(found: Comparisons, options: argparse.Namespace, console: Console) -> None:
    from stepscope.cli.rows_output import write_rows

    rows = (
        [comparison.a.name, comparison.b.name, *cells]
        for comparison in found
        for cells in xla_diff.changes(comparison)
    )
    columns = ("from", "to", *xla_diff.CHANGE_COLUMNS)
    write_rows(columns, rows, console, options.format, everything=True, spreadsheet=options.spreadsheet)
