"""stepscope whatif PATH…: what a step would take if something in it took less time."""

import argparse

from stepscope.cli.arguments import Parser, add_reading, add_showing, count, need_paths
from stepscope.cli.console import Console

ABOUT = "how long a step would take without a cause, with a faster op, with more workers"
_EPILOG = """Steps are replayed along their dependencies: threads, streams, launches and hand-overs of work.
Work that the removed part had hidden becomes visible. If a replay without any change misses the recorded
step times by more than 10 %, no prediction is made.

  stepscope whatif PATH --without python          no Python of the program's own between ops
  stepscope whatif PATH --op MatMul=0.5           ops of that type or name twice as fast
  stepscope whatif PATH --workers 8               8 threads for the stage that limits the input pipeline

--op can be repeated, and combined with --without."""


def parser() -> Parser:
    """The options of the verb."""
    parser = Parser("whatif", ABOUT, "stepscope whatif PATH… [options]", _EPILOG)
    parser.add_argument(
        "--without",
        metavar="CAUSE",
        help="input, compile, compute, communication, copy, dispatch, setup, python, wait or idle; "
        "with no option: what limits the steps",
    )
    parser.add_argument(
        "--op", metavar="NAME=PART", action="append", default=[], help="fraction of an op's time that remains"
    )
    parser.add_argument(
        "--workers", metavar="N", type=count, help="threads of the stage that limits the input"
    )
    add_reading(parser)
    add_showing(parser)
    return parser


def run(options: argparse.Namespace, console: Console) -> int:
    """Prints what is predicted, a number or a bound. Exit code 2 when nothing can be."""
    need_paths(options, "whatif")
    from stepscope.cli.reading import opened
    from stepscope.cli.report_output import show
    from stepscope.report import whatif_request

    asked = whatif_request.WhatIfRequest.of(options.without, options.op, options.workers)
    with opened(options, console) as (trace, _):
        report = whatif_request.answer(trace, asked, " ".join(options.paths))
    show(report, options, console)
    return 0 if any(report.document[key] is not None for key in ("then_ps", "low", "high", "saved_ps")) else 2
