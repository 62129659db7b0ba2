"""stepscope query PATH [SQL]: any question, from the command line, a file, a pipe or a prompt."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope import units
from stepscope.cli.arguments import Parser, a_path, add_output, add_reading, add_showing, need_paths
from stepscope.cli.console import Console
from stepscope.cli.engine_options import add_engine
from stepscope.cli.rows_output import ROWS_ON_SCREEN, write_rows
from stepscope.cli.statements import statements, strip_comments
from stepscope.errors import UsageError

if TYPE_CHECKING:
    from stepscope import library
    from stepscope.cli.progress import Bar
    from stepscope.session.trace import OpenTrace

ABOUT = "query with SQL; without SQL, a prompt opens"
EPILOG = """Give SQL as an argument, in a file (-f), on standard input or at the prompt. @NAME runs an
analysis of the library: stepscope query PATH @op_types. Tables and columns: stepscope docs tables."""

ENDINGS = (".csv", ".json", ".md", ".ndjson", ".parquet")
"""What -o writes."""

_BEGIN = re.compile(r"\s*(?:@\w|\(|([A-Za-z]+)\b)")
_ASKS = {"select", "with", "from", "describe", "show", "summarize", "values", "table", "explain"}
_ASKS |= {"pivot", "unpivot"}
_REFUSED = {"alter", "attach", "begin", "call", "copy", "create", "delete", "detach", "drop", "export"}
_REFUSED |= {"import", "insert", "install", "load", "pragma", "reset", "set", "truncate", "update", "use"}
_REFUSED |= {"vacuum"}
"""What a statement begins with. Some are refused, but by an answer that speaks of SQL and not of files."""


def parser() -> Parser:
    """The options of the verb."""
    parser = Parser("query", ABOUT, "stepscope query PATH… [SQL] [options]", EPILOG)
    parser.add_argument("-f", "--file", metavar="FILE", type=a_path, help="read the SQL from FILE")
    add_reading(parser, "recordings; the last argument, or the first, may be the SQL")
    add_engine(parser)
    add_showing(parser)
    add_output(parser, f"write the rows to FILE: {', '.join(ENDINGS)}")
    parser.add_argument(
        "--all", action="store_true", help=f"all rows, not the first {ROWS_ON_SCREEN}, on a terminal"
    )
    return parser


def run(options: argparse.Namespace, console: Console) -> int:
    """Runs the SQL or opens the prompt."""
    sql = _take_sql(options)
    need_paths(options, "query")
    ending = _ending(options)
    if sql is None and ending is None and (sys.stdin.isatty() and "-" not in options.paths):
        from stepscope.cli.prompt import converse

        return converse(options, console)
    if sql is None:
        if "-" in options.paths:
            raise UsageError(
                "Standard input cannot be both the recording and the SQL",
                seen="PATH is - and there is no SQL",
                todo="give the SQL as an argument or with -f FILE",
            )
        sql = sys.stdin.read()
    asked = statements(sql)
    if not asked:
        raise UsageError(
            "There is no SQL to run", seen="nothing but blanks and comments", todo="stepscope docs tables"
        )
    if ending is not None:
        return _write_file(options, asked, ending, console)
    from stepscope.cli.reading import opened

    with opened(options, console) as (trace, bar):
        trace.begin()
        from stepscope.presenters import rows  # noqa: F401 - needed at the end, imported while files are read

        show = partial(
            write_rows,
            console=console,
            form=options.format,
            everything=options.all,
            spreadsheet=options.spreadsheet,
        )
        for statement in asked:
            answer(trace, statement, options.format, bar, show, console.say)
    return 0


def _ending(options: argparse.Namespace) -> str | None:
    """The ending of the file that -o names, which says how the rows are written."""
    if options.output is None:
        return None
    ending = Path(options.output).suffix.lower()
    if ending not in ENDINGS:
        raise UsageError(
            "Nothing says how to write the rows",
            seen=f"a file name that ends in {ending or 'nothing'}",
            todo=f"give -o a name that ends in {', '.join(ENDINGS)}; --format writes to stdout",
        )
    if options.format not in ("table", ending[1:]):
        raise UsageError(
            "The file's name and --format disagree",
            seen=f"-o {options.output} and --format {options.format}",
            todo="leave --format out",
        )
    return ending


def _write_file(options: argparse.Namespace, asked: Sequence[str], ending: str, console: Console) -> int:
    """Writes the rows of one statement."""
    from stepscope.cli.reading import opened
    from stepscope.exporters.staging import staged
    from stepscope.presenters import rows as presenter

    if len(asked) != 1:
        raise UsageError(
            "A file takes the rows of one statement",
            seen=f"{len(asked)} statements",
            todo="run them one after the other, each with its own -o",
        )
    entry = named(asked[0])
    # The file first, so that a bad name costs no decoding.
    with staged(Path(options.output), force=options.force) as part, opened(options, console) as (trace, _):
        statement = entry.statement if entry else asked[0]
        if ending == ".parquet":
            number = trace.copy(statement, str(part), "parquet")
        else:
            found = trace.query(statement)
            rows = (row for batch in found.batches() for row in batch)
            with part.open("w", encoding="utf-8", errors="backslashreplace", newline="") as out:
                number = presenter.write(
                    ending[1:], found.columns, rows, out, spreadsheet=options.spreadsheet
                )
    console.say(f"wrote {units.count(number, 'row')} to {options.output}")
    return 0


def _take_sql(options: argparse.Namespace) -> str | None:
    """The SQL of the command line; a positional argument that is SQL is taken out of the paths."""
    argument: str | None = None
    for at in (-1, 0):
        if options.paths and (len(options.paths) > 1 or options.lake) and looks_like_sql(options.paths[at]):
            argument = options.paths.pop(at)
            break
    if options.file is None:
        return argument
    if argument is not None:
        raise UsageError(
            "There is SQL twice", seen=f"an argument and -f {options.file}", todo="give one of them"
        )
    if options.file == "-":
        return sys.stdin.read()
    try:
        return Path(options.file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            "The file with the SQL cannot be read",
            seen=str(error),
            todo="give -f a text file",
            path=options.file,
        ) from error


def looks_like_sql(word: str) -> bool:
    """Whether an argument is a statement, perhaps a misspelt one, and no path."""
    if word.startswith("@"):
        return True
    bare = strip_comments(word)
    begin = _BEGIN.match(bare)
    known = _ASKS | _REFUSED
    # A keyword with a slip is told by the engine, which points at it; no path is called SELEC 1.
    says_so = begin is not None and (
        begin[1] is None or bool(get_close_matches(begin[1].lower(), known, 1, 0.75))
    )
    says_so |= not bare.strip() and word.strip() != ""
    try:
        return says_so and any(c.isspace() for c in word) and not Path(word).exists()
    except (OSError, ValueError):  # too long or too odd for a path: so it is SQL
        return True


def answer(
    trace: OpenTrace,
    statement: str,
    form: str,
    bar: Bar,
    show: Callable[..., None],
    say: Callable[[str], None],
) -> None:
    """Runs a statement and writes its rows while they arrive; `show` is write_rows with how to write them,
    and `say` what writes a sentence beside them.

    @NAME is an analysis of the library: with units as a table, raw in every other form. Its columns have the
    names that SQL has for them.
    """
    entry = named(statement)
    result = trace.ask(entry) if entry else trace.query(statement)
    bar.stop()
    if entry is None or form != "table":
        rows = (row for batch in result.batches() for row in batch)
        show(result.columns, rows)
        return
    values = result.rows()
    from stepscope.presenters.answers import scaled

    shown = scaled(entry.columns, values)
    show(shown.titles, shown.rows, right=shown.right)
    if not values and entry.kind == "analysis":
        say(f"(no rows: `stepscope docs {entry.name}` says what it looks at)")


def named(statement: str) -> library.Entry | None:
    """The analysis or finding that @NAME means; None when the statement is SQL."""
    if not statement.startswith("@"):
        return None
    from stepscope import library

    return library.named(statement[1:].strip())
