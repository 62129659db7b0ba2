"""stepscope diff A B: two recordings side by side."""

from __future__ import annotations

import argparse
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from stepscope.cli.arguments import Parser, add_reading, add_showing
from stepscope.cli.console import Console
from stepscope.errors import UsageError

if TYPE_CHECKING:
    from stepscope.report.compared_sides import ComparedSide

ABOUT = "two recordings side by side: steps, parts, ops, stages, memory"
EPILOG = """A side is a run. If a path has several, the one whose steps take most time is compared, unless --a
or --b names another. A single path has two sides if it holds two runs or two hosts, or if --a and --b name
them."""


def parser() -> Parser:
    """The options of the verb."""
    parser = Parser("diff", ABOUT, "stepscope diff A B [options]", EPILOG)
    parser.add_argument("--a", metavar="RUN[/HOST]", help="run, or host of a run, that is side A")
    parser.add_argument("--b", metavar="RUN[/HOST]", help="run, or host of a run, that is side B")
    add_reading(parser, part=False)
    add_showing(parser)
    return parser


def run(options: argparse.Namespace, console: Console) -> int:
    """Prints what differs. UsageError unless there are two sides."""
    from stepscope.cli.report_output import show
    from stepscope.report import comparing as report
    from stepscope.report.compared_sides import comparable
    from stepscope.report.names import endings

    given = [[path] for path in options.paths] if len(options.paths) == 2 else [options.paths]
    found = comparable(partial(_sides, given, options, console))
    if len(found) != 2:
        raise UsageError(
            "A comparison has two sides",
            seen=f"{len(found)} of them",
            todo="stepscope diff A B, with a recording each",
        )
    measured = [side.measured for side in found]
    if measured[0].name == measured[1].name:
        hosts = [side.host_id for side in found]
        joined = [" ".join(paths) for paths in given]
        ends = endings(joined)
        names = hosts if hosts[0] != hosts[1] else [ends[path] for path in joined]
        measured = [replace(side, name=name) for side, name in zip(measured, names, strict=False)]
    show(report.build(*measured), options, console)
    return 0


def _sides(
    given: list[list[str]], options: argparse.Namespace, console: Console, with_steps: bool
) -> list[ComparedSide]:
    """The sides that the paths give: one each of two paths, else all of one."""
    from stepscope.cli.reading import opened
    from stepscope.report.compared_sides import measured_sides, need_time

    wanted = [[options.a], [options.b]] if len(given) == 2 else [[options.a, options.b]]
    found: list[ComparedSide] = []
    for paths, names in zip(given, wanted, strict=True):
        options.paths = paths
        with opened(options, console, last=paths is given[-1]) as (trace, bar):
            need_time(trace)
            path = " ".join(paths) or str(options.lake)
            found += measured_sides(trace.query, names, path, console.say, with_steps)
            bar.stop()
    return found
