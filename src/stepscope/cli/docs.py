"""stepscope docs [NAME]: every table, analysis, finding and message, explained."""

from __future__ import annotations

import argparse
from pathlib import Path

from stepscope.cli.arguments import Parser, a_path, add_showing
from stepscope.cli.console import Console
from stepscope.errors import OutputError

ABOUT = "every table, analysis, finding and message"
EPILOG = "NAME is a table, a column (slice.self_ps), an analysis, a finding, a message, or a chapter."


def parser() -> Parser:
    """The options of the verb."""
    parser = Parser("docs", ABOUT, "stepscope docs [NAME] [options]", EPILOG)
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="what to explain; without it, lists everything"
    )
    parser.add_argument(
        "--write", metavar="DIR", type=a_path, help="write the pages of docs/reference into DIR"
    )
    add_showing(parser, ("table", "md"))
    return parser


def run(options: argparse.Namespace, console: Console) -> int:
    """Prints or writes the pages."""
    from stepscope import reference

    if options.write is not None:
        return _write(Path(options.write), console)
    text = reference.contents() if options.name is None else reference.look_up(options.name)
    if options.format == "md":
        console.out.write(text)
    else:
        from stepscope.presenters.pages import render

        console.out.write(render(text, width=console.width, color=console.color))
    return 0


def _write(folder: Path, console: Console) -> int:
    from stepscope import reference

    pages = reference.pages()
    try:
        for name, text in pages.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise OutputError(
            "The reference could not be written",
            seen=str(error),
            todo="choose another folder",
            path=str(folder),
        ) from error
    console.say(f"wrote {len(pages)} pages to {folder}")
    return 0
