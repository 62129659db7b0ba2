"""stepscope report PATH -o FILE: one self-contained file to look at, keep and send."""

from __future__ import annotations

import argparse
from pathlib import Path

from stepscope.cli.answering import add_engine
from stepscope.cli.arguments import (
    Parser,
    add_output,
    add_part,
    add_paths,
    add_reading,
    add_showing,
    need_paths,
)
from stepscope.cli.console import Console
from stepscope.errors import UsageError

ABOUT = "the summary as one file: .html with charts, .md or .json"
EPILOG = "The HTML file needs no network and no server: open it in a browser, send it, keep it with the run."


def parser() -> Parser:
    """The options of the verb."""
    parser = Parser("report", ABOUT, "stepscope report PATH… -o FILE [options]", EPILOG)
    add_paths(parser)
    add_output(parser, "file to write: .html, .md or .json; - for Markdown on stdout")
    add_reading(parser)
    add_part(parser)
    add_engine(parser)
    add_showing(parser, ())
    return parser


def run(options: argparse.Namespace, console: Console) -> int:
    """Writes the report."""
    need_paths(options, "report")
    from stepscope import presenters

    known = presenters.by_extension()
    name = options.output
    ending = ".md" if name == "-" else Path(name or "").suffix.lower()
    if ending not in known:
        raise UsageError(
            "Nothing says what kind of report to write",
            seen="no -o" if name is None else f"a file name that ends in {ending or 'nothing'}",
            todo=f"give -o a name that ends in {', '.join(sorted(known))}",
        )
    from stepscope.cli.reading import opened
    from stepscope.exporters.staging import staged
    from stepscope.report import build

    def text() -> str:
        with opened(options, console) as (trace, _):
            rendered: str = known[ending].render(build(trace, all=True))
        return rendered

    if name == "-":
        console.data.write(text())
        return 0
    with staged(Path(name), force=options.force) as part:  # first, so that a bad name costs no decoding
        part.write_text(text(), encoding="utf-8", errors="backslashreplace", newline="\n")
    console.say(f"wrote {name}")
    return 0
