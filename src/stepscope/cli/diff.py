"""stepscope diff A B: two recordings side by side."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from stepscope.cli.arguments import Parser, add_paths, add_reading, add_showing, need_csv
from stepscope.cli.console import Console
from stepscope.errors import UsageError

if TYPE_CHECKING:
    from stepscope.instruments.compare.figures import Measured
    from stepscope.instruments.compare.sides import Side
    from stepscope.library.statements import Query

ABOUT = "two recordings side by side: steps, parts, ops, stages, memory"
EPILOG = (
    "A side is a run: of several under a path the one whose steps take most time, unless --a or --b names"
    " another. One path has two sides when it has two runs or two hosts, or when --a and --b name them."
)


def parser() -> Parser:
    """The options of the verb."""
    parser = Parser("diff", ABOUT, "stepscope diff A B [options]", EPILOG)
    add_paths(parser)
    parser.add_argument("--a", metavar="RUN[/HOST]", help="run, or host of a run, that is side A")
    parser.add_argument("--b", metavar="RUN[/HOST]", help="run, or host of a run, that is side B")
    add_reading(parser)
    add_showing(parser)
    return parser


def run(options: argparse.Namespace, console: Console) -> int:
    """Prints what differs. UsageError unless there are two sides."""
    need_csv(options, options.format == "csv")
    from stepscope.cli.reading import need_time, opened
    from stepscope.cli.report_output import show
    from stepscope.instruments.compare import figures
    from stepscope.report import comparing as report
    from stepscope.report.names import endings

    given = [[path] for path in options.paths] if len(options.paths) == 2 else [options.paths]
    found: list[Measured] = []
    hosts: list[str] = []
    for paths, wanted in zip(
        given, [[options.a], [options.b]] if len(given) == 2 else [[options.a, options.b]], strict=True
    ):
        options.paths = paths
        with opened(options, console) as (trace, bar):
            need_time(trace)
            sides = _sides(trace.query, wanted, " ".join(paths) or str(options.lake), console)
            bar.stop()
            found += [figures.measure(side) for side in sides]
            hosts += [side.host_ids[0] for side in sides]
    if len(found) != 2:
        raise UsageError(
            "A comparison has two sides",
            seen=f"{len(found)} of them",
            todo="stepscope diff A B, with a recording each",
        )
    if bool(found[0].steps) != bool(found[1].steps):
        found = _compare_whole(given, options, console)
    if found[0].name == found[1].name:
        joined = [" ".join(paths) for paths in given]
        ends = endings(joined)
        names = hosts if hosts[0] != hosts[1] else [ends[path] for path in joined]
        found = [replace(measured, name=name) for measured, name in zip(found, names, strict=False)]
    show(report.build(*found), options, console)
    return 0


def _sides(query: Query, wanted: list[str | None], path: str, console: Console) -> list[Side]:
    """The sides that a trace gives: as many as are `wanted`, by name where there is one."""
    from stepscope.instruments.compare import sides

    if all(wanted):
        return [sides.named(query, name) for name in wanted if name is not None]
    run_sides = sides.runs(query)
    if len(wanted) == 1:
        if len(run_sides) > 1:
            console.say(
                f"{path} has {len(run_sides)} runs; {run_sides[0].name} is compared (see --a and --b)"
            )
        if run_sides and run_sides[0].others:
            console.say(f"hosts without steps are left out: {', '.join(run_sides[0].others)}")
        return run_sides[:1]
    if any(wanted):
        raise UsageError("A comparison has two sides", seen="one of --a and --b", todo="name both")
    if len(run_sides) == 1:
        return sides.hosts(run_sides[0])
    return run_sides


def _compare_whole(given: list[list[str]], options: argparse.Namespace, console: Console) -> list[Measured]:
    """Both sides as whole recordings, because only one of them has steps."""
    from stepscope.cli.reading import opened
    from stepscope.instruments.compare import figures

    again: list[Measured] = []
    for number, paths in enumerate(given):
        options.paths = paths
        wanted = [[options.a], [options.b]][number] if len(given) == 2 else [options.a, options.b]
        with opened(options, console) as (trace, bar):
            sides = _sides(trace.query, wanted, " ".join(paths), console)
            bar.stop()
            again += [figures.measure(side, with_steps=False) for side in sides]
    return again
