"""stepscope PATH…: where the time went, why, what to do."""

from __future__ import annotations

import argparse

from stepscope.cli.arguments import Parser, add_paths, add_reading, add_showing, need_csv, need_paths
from stepscope.cli.console import Console

ABOUT = "where the time went, why, and what to do (the default)"


def parser() -> Parser:
    """The options of the verb."""
    parser = Parser("summary", ABOUT, "stepscope [summary] PATH… [options]")
    add_paths(parser)
    add_reading(parser)
    add_showing(parser)
    parser.add_argument("--all", action="store_true", help="everything, not just a screenful")
    return parser


def run(options: argparse.Namespace, console: Console) -> int:
    """Prints the summary."""
    need_paths(options, "summary")
    need_csv(options, options.format == "csv")
    from stepscope.engines import ahead

    ahead.begin()  # making the engine takes longer than reading most recordings
    from stepscope.cli.reading import opened
    from stepscope.report import build

    with opened(options, console) as (trace, _):
        report = build(trace, all=options.all)
    if options.format != "table":
        from stepscope.cli.showing import as_text

        console.data.write(as_text(report, options))
        return 0
    from stepscope.presenters import terminal

    text = terminal.render(
        report, width=console.width, height=console.height, color=console.color, everything=options.all
    )
    console.out.write(text)
    return 0
