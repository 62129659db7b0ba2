"""stepscope report PATH: one self-contained file to look at, keep and send."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope import config
from stepscope.cli.arguments import (
    Parser,
    add_output,
    add_price,
    add_reading,
    add_showing,
    add_spreadsheet,
    need_csv,
    need_paths,
)
from stepscope.cli.console import Console
from stepscope.cli.engine_options import add_engine
from stepscope.errors import UsageError

if TYPE_CHECKING:
    from stepscope.report import Report

FORMATS = ("html", "md", "json", "csv")
ABOUT = "the summary as one file: .html with charts, .md, .json or .csv"
EPILOG = "The HTML file needs no network and no server: open it in a browser, send it, keep it with the run."


def parser() -> Parser:
    """The options of the verb."""
    parser = Parser("report", ABOUT, "stepscope report PATH… [-o FILE] [options]", EPILOG)
    add_output(parser, "file to write: .html, .md, .json or .csv; - for Markdown on stdout (PATH.html, here)")
    add_reading(parser)
    add_engine(parser)
    add_price(parser)
    parser.add_argument(
        "--format",
        choices=FORMATS,
        help="what to write, if the extension of FILE does not say; stdout without -o",
    )
    add_spreadsheet(parser)
    add_showing(parser, ())
    return parser


def run(options: argparse.Namespace, console: Console) -> int:
    """Writes the report."""
    need_paths(options, "report")
    name = options.output or ("-" if options.format else _default_path(options))
    form = options.format or _form_of(name)
    need_csv(options, form == "csv")
    from stepscope.cli.reading import opened
    from stepscope.exporters.staging import staged
    from stepscope.report import build, pricing

    def text() -> str:
        # Sections of all slices took 12.7 GB for 100 million of them, because the engine was free to take it.
        with opened(options, console, memory_bytes=config.report_bytes()) as (trace, _):
            built = build(trace, all=True)
            priced = built if options.price is None else pricing.priced(built, options.price)
            return _rendered(priced, form, options)

    if name == "-":
        console.data.write(text())
        return 0
    with staged(Path(name), force=options.force) as part:  # first, so that a bad name costs no decoding
        part.write_text(text(), encoding="utf-8", errors="backslashreplace", newline="\n")
    console.say(f"wrote {name}")
    return 0


def _default_path(options: argparse.Namespace) -> str:
    """Where the report goes when nothing says so: here, called like what was read."""
    if not options.paths or options.paths[0] == "-" or "://" in options.paths[0]:
        raise UsageError(
            "Nothing says where the report is to go",
            seen="no -o, and nothing that it could be called like",
            todo="add -o FILE.html",
        )
    return Path(options.paths[0]).absolute().name.split(".")[0] + ".html"


def _form_of(name: str | None) -> str:
    """What a file is to be, by its name."""
    ending = "md" if name == "-" else Path(name or "").suffix.lower().removeprefix(".")
    from stepscope import presenters

    known = {*FORMATS, *(extension.removeprefix(".") for extension in presenters.file_presenters())}
    if ending not in known:
        endings = [f".{form}" for form in (*FORMATS, *sorted(known.difference(FORMATS)))]
        raise presenters.unknown_kind(name, endings, "give -o a name that ends in {}, or add --format")
    return ending


def _rendered(report: Report, form: str, options: argparse.Namespace) -> str:
    """The report as a text."""
    if form not in ("csv", "json", "md"):
        from stepscope import presenters

        rendered: str = presenters.file_presenters()[f".{form}"].render(report)
        return rendered
    from stepscope.cli.report_output import formatted

    return formatted(report, argparse.Namespace(format=form, spreadsheet=options.spreadsheet))
