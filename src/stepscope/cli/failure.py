"""Errors as people read them: what happened, what was seen, what to do. The only place that prints them."""

import os

from stepscope.cli.console import Console
from stepscope.errors import StepscopeError
from stepscope.presenters.cells import SENTENCE_WIDTH, wrap
from stepscope.presenters.plain import block

_BESIDE = " " * 9
"""What stands before the text of a part."""


def tell(error: StepscopeError, console: Console) -> None:
    """Prints an error of stepscope in three parts, with its file and offset and the page that explains it."""
    first, *rest = _lines(block(error.happened), "error: ", console)
    console.say(f"{console.paint('1;31', 'error:')} {first}")
    for line in rest:
        console.say(f"       {line}")
    if error.path is not None:
        at = f", byte {error.offset:,}" if error.offset is not None else ""
        _part(console, "file:", f"{error.path}{at}", whole=True)
    _part(console, "seen:", error.seen)
    _part(console, "to do:", error.todo)
    if error.slug not in ("error", "usage"):
        _part(console, "more:", f"stepscope docs {error.slug}")


def tell_unexpected(error: Exception, console: Console) -> None:
    """Prints an unexpected exception as a request for a report, with its traceback when asked for."""
    if os.environ.get("STEPSCOPE_TRACEBACK"):
        import traceback

        console.err.write("".join(traceback.format_exception(error)))
        return
    tell(
        StepscopeError(
            "stepscope itself failed; this is not your mistake",
            seen=f"{type(error).__name__}: {error}",
            todo="run it again with STEPSCOPE_TRACEBACK=1 and report what it prints",
            slug="unexpected",
        ),
        console,
    )


def tell_nothing(what: str, todo: str, console: Console) -> None:
    """Says that a recording has nothing of what was asked for, and what to do."""
    for line in _lines(what, "", console):
        console.say(line)
    _part(console, "to do:", todo)


def _part(console: Console, name: str, text: str, *, whole: bool = False) -> None:
    """whole: what may be copied, and is left to the terminal to break."""
    first, *rest = block(text).split("\n") if whole else _lines(block(text), _BESIDE, console)
    console.say(f"  {console.paint('2', f'{name:<6}')} {first}")
    for line in rest:
        console.say(f"         {line}")


def _lines(text: str, before: str, console: Console) -> list[str]:
    """A text as lines, broken between words where a terminal would break within them."""
    width = console.err_width
    lines = text.split("\n")
    if width is None:
        return lines
    room = max(min(width, SENTENCE_WIDTH) - len(before), 20)
    return [part for line in lines for part in (wrap(line, room, cut=False) or [""])]
