"""stepscope xla cost DIR…: flops and bytes of a program by instruction, op, scope or line, and what binds."""

import argparse

from stepscope.cli.arguments import Parser, add_showing, need_dumps
from stepscope.cli.console import Console
from stepscope.cli.peak import PEAK_HELP, measured, peaks
from stepscope.cli.progress import working
from stepscope.report import xla_costs
from stepscope.sources.user_paths import look_up

ABOUT = "flops and bytes of a program by instruction, op, scope or line, and what binds"
EPILOG = """Loops count as often as they repeat. A fusion is one instruction. With --peak, bound says
whether compute or memory takes longer, and bound_ps is the least time in picoseconds:

  stepscope xla cost DIR --by line --peak 200G,40G      200 Gflop/s, 40 GB/s
  stepscope xla cost DIR --by line --peak measured      of this machine, in a few seconds"""

_MOST = 25
"""Rows of a table for people; --all shows the rest."""


def parser() -> Parser:
    """The options of the verb."""
    parser = Parser("xla cost", ABOUT, "stepscope xla cost DIR… [options]", EPILOG)
    parser.add_argument("paths", nargs="*", metavar="DIR", help="dump folders, or files of one")
    parser.add_argument("--module", metavar="NAME", help="a module whose name contains NAME, not the largest")
    parser.add_argument(
        "--by", choices=xla_costs.BY, default="instruction", help="what a row is (%(default)s)"
    )
    parser.add_argument("--peak", metavar="F,B", type=peaks, help=PEAK_HELP)
    parser.add_argument("--all", action="store_true", help=f"all rows, not the first {_MOST}")
    add_showing(parser)
    return parser


def run(options: argparse.Namespace, console: Console) -> int:
    """Prints the rows, and says on stderr of which program they are."""
    need_dumps(options, "xla cost")
    from stepscope.cli.rows_output import most_rows, write_listing

    look_up(options.paths)
    with working("reading the dump", console):
        program = xla_costs.program(options.paths, options.module)
    peak = None if options.peak is None else measured(options.peak, console)
    write_listing(xla_costs.build(program, options.by, peak, most_rows(options, _MOST)), options, console)
    return 0
