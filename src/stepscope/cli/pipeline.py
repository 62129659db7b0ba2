"""stepscope pipeline PATH…: is the input the bottleneck, which stage, and what would help."""

from __future__ import annotations

import argparse

from stepscope.cli.arguments import Parser, add_paths, add_reading, add_showing, need_paths
from stepscope.cli.console import Console

ABOUT = "the tf.data pipeline: is it the bottleneck, which stage, what would help"


def parser() -> Parser:
    """The options of the verb."""
    parser = Parser("pipeline", ABOUT, "stepscope pipeline PATH… [options]")
    add_paths(parser)
    add_reading(parser)
    add_showing(parser, ("table", "json"))
    return parser


def run(options: argparse.Namespace, console: Console) -> int:
    """Prints the diagnosis. Exit code 2 when nothing can be said."""
    need_paths(options, "pipeline")
    from stepscope.cli.reading import opened
    from stepscope.instruments.pipeline.gather import gather
    from stepscope.presenters import pipeline

    with opened(options, console) as (trace, _):
        found = gather(trace.query)
    if options.format == "json":
        console.out.write(pipeline.to_json(found))
    elif found:
        console.out.write(pipeline.render(found, width=console.width, color=console.color))
    if not found:
        for line in pipeline.NOTHING:
            console.say(line)
        return 2
    return 0
