"""Shows a report in the form that was asked for: as text on a screen, or as JSON, CSV or Markdown."""

import argparse

from stepscope.cli.console import Console
from stepscope.report import Report


def show(report: Report, options: argparse.Namespace, console: Console) -> None:
    """Writes all of the report to stdout."""
    if options.format == "table":
        from stepscope.cli import pager
        from stepscope.presenters import scroll

        pager.show(scroll.render(report, width=console.width, color=console.color), console)
    else:
        console.data.write(formatted(report, options))


def formatted(report: Report, options: argparse.Namespace) -> str:
    """The report as json, csv or md."""
    form = options.format
    # Each imported alone: the others are not needed, and their imports take time.
    if form == "json":
        from stepscope.presenters import json

        return json.render(report)
    if form == "csv":
        from stepscope.presenters import tidy

        return tidy.render(report, spreadsheet=options.spreadsheet)
    from stepscope.presenters import markdown

    return markdown.render(report)
