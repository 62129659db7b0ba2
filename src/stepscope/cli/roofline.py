"""stepscope roofline PATH…: ops against the peaks of their devices, and the part of these that steps use."""

import argparse
from dataclasses import replace

from stepscope.cli.arguments import Parser, add_price, add_reading, add_showing, full_command, need_paths
from stepscope.cli.console import Console
from stepscope.cli.failure import tell_nothing
from stepscope.cli.peak import PEAK_HELP, measured, peaks, text

ABOUT = "how far ops are from the peaks of their device: least time, share of peak, MFU"
EPILOG = """Operations and bytes come from the profiler (TPU), from compiled programs (XLA) or from the
shapes of PyTorch's ops (record_shapes=True), on devices or processors. Peaks come from the recording, else
from `stepscope docs devices`; --peak sets others. Time, operations and bytes are those of ops that compute
while steps run. Ops of unknown cost are reported, and are part of no share.

  stepscope roofline PATH --by line
  stepscope roofline PATH --peak 312T,1555G     312 Tflop/s, 1,555 GB/s
  stepscope query PATH @roofline                the same as rows"""


def parser() -> Parser:
    """The options of the verb."""
    parser = Parser("roofline", ABOUT, "stepscope roofline PATH… [options]", EPILOG)
    parser.add_argument(
        "--by", choices=("op", "line", "shape"), default="op", help="what a row is (%(default)s)"
    )
    parser.add_argument("--peak", metavar="F,B", type=peaks, help=PEAK_HELP)
    parser.add_argument("--all", action="store_true", help="every op and column, not one page")
    add_price(parser)
    add_reading(parser)
    add_showing(parser)
    return parser


def run(options: argparse.Namespace, console: Console) -> int:
    """Prints the table. Exit code 2 when nothing computes on a device that is known."""
    need_paths(options, "roofline")
    from stepscope.cli.reading import opened
    from stepscope.cli.report_output import show
    from stepscope.report import roofline

    peak = None if options.peak is None else measured(options.peak, console)
    everything = options.all or options.format != "table"
    with opened(options, console) as (trace, bar):
        title = " ".join(options.paths)
        report = roofline.build(trace, title, options.by, peak, everything, options.price)
        bar.stop()
    if not report.sections:
        tell_nothing(roofline.NOTHING, roofline.TODO, console)
        return 2
    if not everything:
        report = replace(report, next_commands=(full_command("roofline", options, _table_options(options)),))
    show(report, options, console)
    return 0


def _table_options(options: argparse.Namespace) -> list[str]:
    """The options that decide what the table says."""
    asked = [] if options.by == "op" else ["--by", options.by]
    if options.peak is not None:
        asked += ["--peak", text(options.peak)]
    return asked
