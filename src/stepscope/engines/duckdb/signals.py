"""Ctrl-C while DuckDB itself holds the main thread."""

import functools
import re
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from stepscope.engines.duckdb.native import duckdb
from stepscope.engines.duckdb.refusal import refusal

P = ParamSpec("P")
T = TypeVar("T")

_INTERRUPTED = "Query interrupted"
"""The RuntimeError that DuckDB's Python package makes of a pending KeyboardInterrupt."""


_REGISTERED = re.compile(
    r"Invalid Input Error: [\w ]+ of the object registered as '[^']*' failed: KeyboardInterrupt:\s*"
).fullmatch
"""What it makes of one that comes while it asks a registered table for its columns or rows."""


def raised_again(error: Exception) -> None:
    """Raises KeyboardInterrupt where that is what DuckDB's error stands for."""
    if _REGISTERED(str(error)):
        raise KeyboardInterrupt from error


def interruptible(method: Callable[P, T]) -> Callable[P, T]:
    """Raises KeyboardInterrupt where DuckDB reports Ctrl-C as a RuntimeError, and QueryError where it was
    interrupted in what a query needs: tables, views and settings.

    Statements that may take long run in a thread of their own, which Ctrl-C leaves alone. Short ones, such as
    those that create views, run in the main thread, where DuckDB looks for signals now and then.
    """

    @functools.wraps(method)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return method(*args, **kwargs)
        except duckdb.InterruptException as error:
            raise refusal(error, {}) from error
        except RuntimeError as error:
            if str(error) == _INTERRUPTED:
                raise KeyboardInterrupt from error
            raise

    return call
