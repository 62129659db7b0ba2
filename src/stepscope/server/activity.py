"""The progress of an answer, for a page that waits."""

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any, NamedTuple


class Now(NamedTuple):
    """A moment of some work."""

    doing: str
    """reading: `done` of `total` bytes of the recordings, in the file `what`. asking: the statement `what`,
    after `done` of `total`. waiting: for other answers."""
    what: str = ""
    done: int = 0
    total: int = 0
    """0 when unknown."""


class Doing:
    """The work on one answer, including work that it waits for. A thread writes it, the loop reads it."""

    def __init__(self, now: Now | None = None) -> None:
        self.now = now
        self._behind: Doing | None = None

    def reading(self, path: str, done: int, total: int) -> None:
        """Notes how many bytes have been read; see stepscope.session.schedule.Progress."""
        self.now = Now("reading", path, done, total)

    def asking(self, name: str, done: int, total: int) -> None:
        """Notes the statement that runs; see stepscope.session.schedule.Asking."""
        self.now = Now("asking", name, done, total)

    def members(self) -> dict[str, Any] | None:
        """The moment as JSON; None when there is nothing to report."""
        last = self
        while last._behind is not None:
            last = last._behind
        return None if last.now is None else last.now._asdict()

    @contextlib.contextmanager
    def is_current(self) -> Iterator[None]:
        """The activity of the answer that the current task works on."""
        before = _current.set(self)
        try:
            yield
        finally:
            _current.reset(before)


WAITING = Doing(Now("waiting"))
"""Notes that other answers come first."""
_current: ContextVar[Doing | None] = ContextVar("doing", default=None)


@contextlib.contextmanager
def waits_for(other: Doing) -> Iterator[None]:
    """Notes that the current answer waits for the work of another."""
    current = _current.get()
    if current is None or current is other:
        yield
        return
    before, current._behind = current._behind, other
    try:
        yield
    finally:
        current._behind = before
