"""Ctrl-C while DuckDB itself holds the main thread."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_INTERRUPTED = "Query interrupted"
"""The RuntimeError that DuckDB's Python package makes of a pending KeyboardInterrupt."""


def interruptible(method: Callable[P, T]) -> Callable[P, T]:
    """Raises KeyboardInterrupt where DuckDB reports Ctrl-C as a RuntimeError.

    Statements that may take long run in a thread of their own, which Ctrl-C leaves alone. Short ones, such as
    those that create views, run in the main thread, where DuckDB looks for signals now and then.
    """

    @functools.wraps(method)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return method(*args, **kwargs)
        except RuntimeError as error:
            if str(error) == _INTERRUPTED:
                raise KeyboardInterrupt from error
            raise

    return call
