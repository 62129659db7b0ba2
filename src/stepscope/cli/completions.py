"""stepscope completions [SHELL]: what Tab completes in bash, zsh and fish."""

import argparse
import os
from pathlib import Path

from stepscope import __version__
from stepscope.cli.arguments import Parser, add_showing
from stepscope.cli.console import Console
from stepscope.errors import OutputError, UsageError

ABOUT = "Tab completion for bash, zsh and fish: verbs, options and @NAMES"
EPILOG = """Without --install the script is printed:  source <(stepscope completions bash)
With --format json, csv or md, the completions are listed, for editors and other shells.
With --install the script goes where the shell looks for such files, and the manual page where man does; run
it again after an update."""


def parser() -> Parser:
    """The options of the verb."""
    from stepscope.cli.shells import SHELLS

    parser = Parser("completions", ABOUT, "stepscope completions [bash|zsh|fish] [--install]", EPILOG)
    parser.add_argument(
        "shell", nargs="?", choices=tuple(SHELLS), metavar="SHELL", help="bash, zsh or fish ($SHELL)"
    )
    add_showing(parser, aside=True)
    parser.add_argument(
        "--install", action="store_true", help="write the script, and the manual page, into your home folder"
    )
    return parser


def run(options: argparse.Namespace, console: Console) -> int:
    """Prints or installs the script."""
    from stepscope.cli.shape import shapes
    from stepscope.cli.shells import SHELLS

    if options.format != "table":
        return _list(options, console)
    shell = options.shell or Path(os.environ.get("SHELL", "")).name
    if shell not in SHELLS:
        raise UsageError(
            "The shell is not known",
            seen=f"$SHELL is {os.environ.get('SHELL') or 'not set'}",
            todo=f"stepscope completions {'|'.join(SHELLS)}",
        )
    script = SHELLS[shell](tuple(shapes()))
    if not options.install:
        console.data.write(script)
        return 0
    path = _place(shell)
    _write(path, script)
    console.say(f"wrote {path}; new shells use it")
    _write(page := _data() / "man" / "man1" / "stepscope.1", _manual())
    console.say(f"wrote {page}; man stepscope shows it")
    if shell == "zsh":
        console.say(f"  if it does not: put fpath+=({path.parent}) before compinit in ~/.zshrc")
    return 0


def _list(options: argparse.Namespace, console: Console) -> int:
    """Verbs and their options as rows."""
    from stepscope.cli.rows_output import write_rows
    from stepscope.cli.shape import shapes

    if options.install or options.shell:
        raise UsageError(
            "A list is for no shell",
            seen=f"--format {options.format} with {'--install' if options.install else options.shell}",
            todo="leave one of them out",
        )
    rows = [
        (shape.verb, " ".join(option.names), option.value, " ".join(option.choices), option.about)
        for shape in shapes()
        for option in shape.options
    ]
    columns = ("verb", "option", "value", "choices", "about")
    write_rows(columns, rows, console, options.format, spreadsheet=options.spreadsheet)
    return 0


def _manual() -> str:
    from stepscope.cli import manual
    from stepscope.cli.shape import shapes
    from stepscope.cli.shells import MARK

    return f'.\\" {MARK}\n{manual.page(shapes(), __version__)}'


def _data() -> Path:
    """Where the data of a user's programs is."""
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")


def _place(shell: str) -> Path:
    """Where a shell looks for the completions of a user."""
    data = _data()
    config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return {
        "bash": data / "bash-completion" / "completions" / "stepscope",
        "zsh": data / "zsh" / "site-functions" / "_stepscope",
        "fish": config / "fish" / "completions" / "stepscope.fish",
    }[shell]


def _write(path: Path, script: str) -> None:
    """Replaces only what stepscope wrote."""
    from stepscope.cli.shells import MARK
    from stepscope.exporters.staging import staged

    try:
        ours = not path.exists() or MARK in path.read_text(encoding="utf-8", errors="replace")
        if not ours:
            raise OutputError(
                "The file is not ours",
                seen=f"{path} was not written by stepscope",
                todo="move it away, or print the script and put it where you want it",
                slug="output-exists",
                path=str(path),
            )
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            "The script could not be written",
            seen=str(error),
            todo="print it (without --install) and put it where your shell looks",
            path=str(path),
        ) from error
    with staged(path, force=True) as part:
        part.write_text(script, encoding="utf-8", newline="\n")
