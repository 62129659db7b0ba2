"""stepscope docs [NAME]: every table, analysis, finding and message, explained."""

import argparse
from pathlib import Path

from stepscope import __version__
from stepscope.cli.arguments import Parser, a_path, add_showing
from stepscope.cli.console import Console
from stepscope.errors import OutputError

ABOUT = "explain any table, analysis, finding or message"
EPILOG = "NAME is a table, a column (slice.self_ps), an analysis, a finding, a message, or a chapter."


def parser() -> Parser:
    """The options of the verb."""
    parser = Parser("docs", ABOUT, "stepscope docs [NAME] [options]", EPILOG)
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="what to explain; without it, lists everything"
    )
    parser.add_argument("--man", action="store_true", help="print the manual page, for man(1)")
    parser.add_argument(
        "--write", metavar="DIR", type=a_path, help="write the reference into DIR, as pages of Markdown"
    )
    add_showing(parser, aside=True)
    return parser


def run(options: argparse.Namespace, console: Console) -> int:
    """Prints or writes the pages."""
    from stepscope import reference

    if options.write is not None:
        return _write(Path(options.write), console)
    if options.man:
        from stepscope.cli import manual
        from stepscope.cli.shape import shapes

        console.data.write(manual.page(shapes(), __version__))
        return 0
    if options.format in ("json", "csv"):
        _list(options, console)
        return 0
    text = reference.contents() if options.name is None else reference.look_up(options.name)
    if options.format == "md":
        console.out.write(text)
    else:
        from stepscope.cli import pager
        from stepscope.presenters.pages import render

        pager.show(render(text, width=console.width, color=console.color), console)
    return 0


def _list(options: argparse.Namespace, console: Console) -> None:
    """What can be looked up as rows: all of it, a chapter, or what is called NAME."""
    from stepscope import reference
    from stepscope.cli.rows_output import write_rows

    name = options.name
    if name is not None:
        reference.look_up(name)  # says so when there is no such thing
    wanted = None if name is None else name.removeprefix("@").removeprefix(".").replace("-", "_")
    rows = [
        (entry.chapter, entry.name, entry.line, entry.text)
        for entry in reference.entries()
        if wanted is None
        or wanted in (entry.chapter, entry.name.replace("-", "_"))
        or wanted.partition(".")[0] == entry.name
    ]
    columns = ("chapter", "name", "line", "text")
    write_rows(columns, rows, console, options.format, spreadsheet=options.spreadsheet)


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
