"""What the command line opens in its own tests: a trace of nine rows."""

import contextlib
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest

from stepscope import report
from stepscope.session import trace
from tests.fakes import FakeTrace
from tests.presenters.example import REPORT


class OpenedTrace(FakeTrace):
    """Remembers how it was opened; answers SQL over slice(name, dur_ps)."""

    def __init__(self, *paths: Any, **options: Any) -> None:
        sources = [SimpleNamespace(path=str(path), format="chrome_trace") for path in paths]
        super().__init__(duckdb.connect(), *map(str, paths), sources=sources)
        self.paths, self.options = paths, options
        self.connection.execute(
            "CREATE TABLE slice AS SELECT 'op' || (i % 3) AS name, i AS dur_ps FROM range(9) t(i)"
        )


@contextlib.contextmanager
def fake_trace(monkeypatch: pytest.MonkeyPatch, skipped: tuple[Any, ...] = ()) -> Iterator[list[OpenedTrace]]:
    """Lets trace.open and report.build give made-up answers; yields the traces that were opened."""
    opened: list[OpenedTrace] = []

    def open_fake(*paths: Any, **options: Any) -> OpenedTrace:
        opened.append(OpenedTrace(*paths, **options))
        opened[-1].skipped = skipped
        return opened[-1]

    with monkeypatch.context() as patch:
        patch.setattr(trace, "open", open_fake)
        patch.setattr(report, "build", lambda trace, all=False: REPORT, raising=False)
        yield opened
