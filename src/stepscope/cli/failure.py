"""Errors as people read them: what happened, what was seen, what to do. The only place that prints them."""

from __future__ import annotations

import os

from stepscope.cli.console import Console
from stepscope.errors import StepscopeError
from stepscope.presenters.plain import block


def tell(error: StepscopeError, console: Console) -> None:
    """Prints an error of stepscope in three parts, with its file and offset and the page that explains it."""
    console.say(f"{console.paint('1;31', 'error:')} {block(error.happened)}")
    if error.path is not None:
        at = f", byte {error.offset:,}" if error.offset is not None else ""
        _part(console, "file:", f"{error.path}{at}")
    _part(console, "seen:", error.seen)
    _part(console, "to do:", error.todo)
    if error.slug not in ("error", "usage"):
        _part(console, "more:", f"stepscope docs {error.slug}")


def tell_unexpected(error: Exception, console: Console) -> None:
    """Prints an exception that nobody foresaw as a request for a report; its traceback when asked for."""
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


def _part(console: Console, name: str, text: str) -> None:
    first, *rest = block(text).split("\n")
    console.say(f"  {console.paint('2', f'{name:<6}')} {first}")
    for line in rest:
        console.say(f"         {line}")
