"""Derived tables are made once for a trace, by whichever engine needs them first."""

from pathlib import Path
from typing import Any

import pytest

import stepscope
from stepscope.instruments.memory import allocators
from tests import corpus

TWO_SERVERS = corpus.SAMPLES / "run_metadata" / "two_servers.pb"


def test_the_engine_that_writes_finds_what_the_other_one_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []
    find = allocators.find

    def counted(*given: Any, **more: Any) -> Any:
        made.append(1)
        return find(*given, **more)

    monkeypatch.setattr(allocators, "find", counted)
    with stepscope.open(TWO_SERVERS, cache=False) as opened:
        count = opened.query("SELECT COUNT(*) FROM buffer").rows()
        written = opened.copy("SELECT * FROM buffer", str(tmp_path / "buffer.parquet"), "parquet")
    assert count == [(written,)]
    assert written > 0
    assert len(made) == 1
