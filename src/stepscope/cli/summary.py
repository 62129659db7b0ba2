"""stepscope PATH…: where the time went, why, what to do."""

from __future__ import annotations

import argparse
from difflib import get_close_matches
from typing import TYPE_CHECKING

from stepscope.cli.arguments import Parser, add_price, add_reading, add_showing, need_paths
from stepscope.cli.console import Console
from stepscope.cli.engine_options import add_engine
from stepscope.units import SEVERITIES

if TYPE_CHECKING:
    from stepscope.report import Report

SCREEN = 40
"""Lines of a summary that goes elsewhere than to a terminal."""
ABOUT = "where the time went, why, and what to do (the default)"


def parser() -> Parser:
    """The options of the verb."""
    parser = Parser("summary", ABOUT, "stepscope [summary] PATH… [options]")
    add_reading(parser)
    add_engine(parser)
    add_price(parser)
    add_showing(parser)
    parser.add_argument("--all", action="store_true", help="everything, not just a screenful")
    parser.add_argument(
        "--fail-on",
        metavar="WHAT",
        type=_limit,
        help=f"exit code 1 on findings at least this severe ({', '.join(SEVERITIES)}), or on one by its name",
    )
    return parser


def _limit(text: str) -> frozenset[str]:
    """Severities and slugs of findings that count, those worse than a severity with it."""
    from stepscope import library

    slugs = [name.replace("_", "-") for name in library.names("finding")]
    wanted: set[str] = set()
    for word in filter(None, map(str.strip, text.split(","))):
        slug = word.replace("_", "-")
        if word in SEVERITIES:
            wanted |= set(SEVERITIES[: SEVERITIES.index(word) + 1])
        elif slug in slugs:
            wanted.add(slug)
        else:
            near = get_close_matches(slug, (*SEVERITIES, *slugs), 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise argparse.ArgumentTypeError(f"{word!r} is neither a severity nor a finding{hint}")
    if not wanted:
        raise argparse.ArgumentTypeError("it names nothing")
    return frozenset(wanted)


def _limit_exceeded(report: Report, limit: frozenset[str] | None, console: Console) -> int:
    """1 when there are findings that count, which stderr names; else 0."""
    found = [finding for finding in report.findings if limit and limit & {finding.severity, finding.slug}]
    if not found:
        return 0
    console.out.flush()
    named = ", ".join(f"{finding.slug} ({finding.severity})" for finding in found)
    console.say(f"over the limit of --fail-on: {named}")
    return 1


def run(options: argparse.Namespace, console: Console) -> int:
    """Prints the summary. 1 when there are findings over the limit of --fail-on."""
    need_paths(options, "summary")
    from stepscope.engines import early_start

    if options.engine == "duckdb":
        early_start.begin()  # making the engine takes longer than reading most recordings
    from stepscope.cli.reading import opened
    from stepscope.report import build, pricing

    with opened(options, console) as (trace, _):
        report = build(trace, all=options.all)
    if options.price is not None:
        report = pricing.priced(report, options.price)
    if options.format != "table":
        from stepscope.cli.report_output import formatted

        console.data.write(formatted(report, options))
        return _limit_exceeded(report, options.fail_on, console)
    from stepscope.presenters import terminal

    height = console.height or SCREEN
    text = terminal.render(
        report, width=console.width, height=height, color=console.color, everything=options.all
    )
    if options.all:
        from stepscope.cli import pager

        pager.show(text, console)
    else:
        console.out.write(text)
    return _limit_exceeded(report, options.fail_on, console)
