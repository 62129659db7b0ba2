"""stepscope xla ops PATH…: measured time of compiled instructions beside what they compute and move."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from stepscope import units
from stepscope.cli.arguments import Parser, a_path, add_reading, add_showing, need_paths
from stepscope.cli.console import Console
from stepscope.cli.peak import PEAK_HELP, measured, peaks
from stepscope.errors import NothingFound, UsageError
from stepscope.formats.xla import dump_files
from stepscope.presenters.answers import scaled
from stepscope.report import xla_ops

if TYPE_CHECKING:
    from stepscope.cli.progress import Bar
    from stepscope.session.trace import OpenTrace

ABOUT = "the slowest instructions of compiled programs: time, line, flops/s, bytes/s, bound"
EPILOG = """Programs come from the recording (XPlanes keep them) or from a dump folder of the same run, given
as another PATH. A loop contains its body, so rows are ranked by self time. trips is how often the body of a
loop was seen to run; known_trips is what the compiler knew. Nothing is timed inside a fusion: --open lists
what is in it with its cost.

  stepscope xla ops PATH --by line --peak 200G,40G      200 Gflop/s, 40 GB/s
  stepscope xla ops TRACE DUMP --fusion fusion.3"""

_MOST = 25
"""Rows of a table for people; --all shows the rest."""

_UNITS = {
    **dict.fromkeys(("total_ps", "self_ps", "bound_ps"), "ps"),
    **dict.fromkeys(("share", "bound_share"), "ratio"),
    **dict.fromkeys(
        ("slices", "executions", "runs", "known_trips", "instructions", "times", "number"), "int"
    ),
    **dict.fromkeys(
        ("flops", "bytes", "gflop_per_s", "gb_per_s", "flops_per_byte", "trips", "per_run"), "float"
    ),
}
"""Units of columns with numbers, in tables for people."""
_SHOWN = (
    "module", "instruction", "opcode", "runs", "executions", "per_run", "trips", "self_ps", "share",
    "place_of", "bound", "bound_share", "gflop_per_s", "gb_per_s", "flops", "bytes", "instructions", "device",
    "host",
)  # fmt: skip


class _Field(NamedTuple):
    name: str
    unit: str


def parser() -> Parser:
    """The options of the verb."""
    parser = Parser("xla ops", ABOUT, "stepscope xla ops PATH… [options]", EPILOG)
    parser.add_argument(
        "--dump", metavar="DIR", action="append", type=a_path, default=[], help="a dump folder, beside a lake"
    )
    parser.add_argument("--by", choices=xla_ops.BY, default="instruction", help="what a row is (%(default)s)")
    parser.add_argument("--module", metavar="NAME", help="only modules whose name contains NAME")
    parser.add_argument("--peak", metavar="F,B", type=peaks, help=PEAK_HELP)
    inside = parser.add_mutually_exclusive_group()
    inside.add_argument("--open", action="store_true", help="below each fusion, the instructions in it")
    inside.add_argument("--fusion", metavar="NAME", help="this fusion and the instructions in it")
    inside.add_argument(
        "--compile", action="store_true", help="how long each pass and stage of the compile took"
    )
    inside.add_argument("--untimed", action="store_true", help="instructions without time, and why")
    inside.add_argument("--unmatched", action="store_true", help="slices without an instruction, and why")
    parser.add_argument("--all", action="store_true", help=f"all rows, not the first {_MOST}")
    add_reading(parser, "recordings, and dump folders of the same run", part=False)
    add_showing(parser)
    return parser


def run(options: argparse.Namespace, console: Console) -> int:
    """Prints the rows, and says on stderr what found no instruction. Exit code 2 when nothing did."""
    need_paths(options, "xla ops")
    if options.by != "instruction" and (options.open or options.fusion):
        raise UsageError(
            "Only single instructions can be opened",
            seen=f"--by {options.by} with {'--open' if options.open else '--fusion'}",
            todo="leave out --by",
        )
    from stepscope.cli.reading import opened

    try:
        with opened(options, console) as (trace, bar):
            if options.compile:
                return _compile(trace, bar, options, console)
            found = xla_ops.timed_ops(trace, [*options.paths, *options.dump])
            bar.stop()
    except NothingFound as error:
        raise (None if options.compile else _no_times(options.paths)) or error from None
    if options.module is not None:
        found = found.only_module(options.module)
    if not found.timed.seen:
        raise NothingFound(
            xla_ops.NOTHING,
            seen=f"no hlo_op in {' '.join(options.paths or [options.lake])}",
            todo=xla_ops.TODO,
        )
    _show(found, options, console)
    for line in found.sentences():
        console.say(line)
    return 0 if found.timed.rows else 2


def _show(found: xla_ops.TimedOps, options: argparse.Namespace, console: Console) -> None:
    """Writes what was asked for."""
    if options.untimed:
        _write(options, console, xla_ops.UNTIMED_COLUMNS, found.untimed())
    elif options.unmatched:
        _write(options, console, xla_ops.UNMATCHED_COLUMNS, found.unmatched())
    else:
        rows = found.rows(options.by, fusion=options.fusion, open_fusions=options.open)
        if options.peak is not None:
            xla_ops.bounded(rows, measured(options.peak, console))
        _write(options, console, xla_ops.COLUMNS, rows)


def _no_times(paths: Sequence[str]) -> NothingFound | None:
    """The error for dump folders without a recording; None for anything else."""
    try:
        number = len(dump_files.finished(paths))
    except OSError:
        return None
    if not number:
        return None
    return NothingFound(
        xla_ops.NO_TIMES, seen=f"programs: {number:,}; recordings: 0", todo=xla_ops.TODO_TIMES, path=paths[0]
    )


def _compile(trace: OpenTrace, bar: Bar, options: argparse.Namespace, console: Console) -> int:
    """Prints how long compiles took."""
    rows, lines = xla_ops.compiled(trace, options.module)
    bar.stop()
    _write(options, console, xla_ops.COMPILE_COLUMNS, rows)
    for line in lines:
        console.say(line)
    return 0


def _write(
    options: argparse.Namespace, console: Console, columns: Sequence[str], rows: Sequence[Mapping[str, Any]]
) -> None:
    """Exact for machines; with units, and only columns that say something, for people."""
    from stepscope.cli.query import is_for_people, write_rows

    if not rows and options.format == "table":
        return
    if not is_for_people(options):
        write_rows(
            columns,
            ([units.whole(row[name]) for name in columns] for row in rows),
            console,
            options.format,
            spreadsheet=options.spreadsheet,
        )
        return
    kept = [_readable(row) for row in (rows if options.all else rows[:_MOST])]
    shown = _columns(kept, columns, options.by)
    scaled_rows = scaled(
        [_Field(name, _UNITS.get(name, "text")) for name in shown],
        [[row[name] for name in shown] for row in kept],
    )
    heads = {"place_of": "line", **({"instruction": options.by} if "timed" in columns else {})}
    titles = [heads.get(title, title) for title in scaled_rows.titles]
    write_rows(
        titles, scaled_rows.rows, console, options.format, everything=options.all, right=scaled_rows.right
    )
    if len(kept) < len(rows):
        console.say(f"{units.count(len(rows) - len(kept), 'more row')} (--all shows them)")


def _columns(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], by: str) -> list[str]:
    """The columns that say something about these rows."""
    is_timed = "timed" in columns
    empty = {name for name in ("device", "host") if len(_values(rows, name)) < 2}
    empty |= {name for name in ("per_run", "instructions") if _values(rows, name) <= {1, None}}
    if by != "module":
        empty.add("runs")
    if is_timed and (by == "module" or (len(rows) > 1 and len(_values(rows, "module")) < 2)):
        empty.add("module")
    names = [name for name in (_SHOWN if is_timed else columns) if name not in empty]
    return [name for name in names if _values(rows, name) - {None}]


def _values(rows: Sequence[Mapping[str, Any]], name: str) -> set[Any]:
    return {row.get(name) for row in rows}


_LONGEST = 36


def _readable(row: Mapping[str, Any]) -> dict[str, Any]:
    shown = dict(row)
    for name in ("module", "instruction"):
        text = row.get(name)
        if text is not None and len(text) > _LONGEST and row.get("opcode", "") is not None:
            shown[name] = f"{text[: _LONGEST - 9]}…{text[-8:]}"
    if row.get("within"):
        shown["within"] = row["within"].rpartition(" > ")[2]
    if "timed" not in row:
        return shown
    if row["timed"] is False:
        shown["instruction"] = f"  {shown['instruction']} (not timed inside)"
    for rate, name in (("flops_per_s", "gflop_per_s"), ("bytes_per_s", "gb_per_s")):
        shown[name] = None if row[rate] is None else row[rate] / 1e9
    shown["place_of"] = None
    if row["file"] and row["instruction"] != f"{row['file']}:{row['line']}":
        shown["place_of"] = f"{row['file'].rpartition('/')[2]}:{row['line']}"
    return shown
