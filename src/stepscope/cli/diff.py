"""stepscope diff A B: two recordings side by side."""

from __future__ import annotations

import argparse
from dataclasses import replace

from stepscope.cli.arguments import Parser, add_paths, add_reading, add_showing, need_csv
from stepscope.cli.console import Console
from stepscope.errors import UsageError

ABOUT = "two recordings side by side: steps, parts, ops, stages, memory"


def parser() -> Parser:
    """The options of the verb."""
    parser = Parser("diff", ABOUT, "stepscope diff A B [options]")
    add_paths(parser)
    add_reading(parser)
    add_showing(parser)
    return parser


def run(options: argparse.Namespace, console: Console) -> int:
    """Prints what differs. UsageError unless there are two sides: two paths, or two hosts of one."""
    need_csv(options, options.format == "csv")
    from stepscope.cli.reading import opened
    from stepscope.cli.showing import show
    from stepscope.instruments import comparing
    from stepscope.report import comparing as report

    paths = options.paths
    measured, hosts = [], []
    for given in [[path] for path in paths] if len(paths) == 2 else [paths]:
        options.paths = given
        with opened(options, console) as (trace, bar):
            found = comparing.sides(trace.query)
            bar.stop()
            wanted = found[:1] if len(paths) == 2 else found
            measured += [comparing.measure(side) for side in wanted]
            hosts += [side.host_id for side in wanted]
            if len(found) > len(wanted):
                console.say(f"{given[0]} has {len(found)} hosts; {found[0].name} is compared")
    if len(measured) != 2:
        raise UsageError(
            "A comparison has two sides",
            seen=f"{len(measured)} of them",
            todo="stepscope diff A B, with a recording each",
        )
    if measured[0].name == measured[1].name:
        names = hosts if hosts[0] != hosts[1] else paths
        measured = [replace(one, name=name) for one, name in zip(measured, names, strict=True)]
    show(report.build(*measured), options, console)
    return 0
