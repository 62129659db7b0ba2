"""stepscope xla ops PATH…: measured time of compiled instructions beside what they compute and move."""

import argparse

from stepscope.cli.arguments import Parser, a_path, add_reading, add_showing, need_paths
from stepscope.cli.console import Console
from stepscope.cli.peak import PEAK_HELP, measured, peaks
from stepscope.errors import NothingFound, UsageError
from stepscope.report import xla_ops

ABOUT = "the slowest instructions of compiled programs: time, line, flops/s, bytes/s, bound"
EPILOG = """Programs come from the recording (XPlanes keep them) or from a dump folder of the same run, given
as another PATH. A loop contains its body, so rows are ranked by self time. trips is how often the body of a
loop was seen to run; known_trips is what the compiler knew. Nothing is timed inside a fusion: --open lists
what is in it with its cost.

  stepscope xla ops PATH --by line --peak 200G,40G      200 Gflop/s, 40 GB/s
  stepscope xla ops TRACE DUMP --fusion fusion.3"""

_MOST = 25
"""Rows of a table for people; --all shows the rest."""


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
    from stepscope.cli.rows_output import most_rows, write_listing

    most = most_rows(options, _MOST)
    folders = [*options.paths, *options.dump]
    try:
        with opened(options, console) as (trace, bar):
            if options.compile:
                compiles = xla_ops.compiled(trace, options.module, most)
                bar.stop()
                write_listing(compiles, options, console)
                return 0
            found = xla_ops.timed_ops(trace, folders)
    except NothingFound as error:
        raise (None if options.compile else xla_ops.no_times(options.paths)) or error from None
    found = found.only_module(options.module, options.paths or [options.lake])
    if options.untimed or options.unmatched:
        listing = found.untimed(most) if options.untimed else found.unmatched(most)
    else:
        peak = None if options.peak is None else measured(options.peak, console)
        listing = found.listed(options.by, most, peak, fusion=options.fusion, open_fusions=options.open)
    write_listing(listing, options, console)
    return 0 if found.timed.rows else 2
