"""The peaks of a side of a comparison are asked of its own recordings."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import stepscope
from stepscope.instruments.compare import sides
from stepscope.instruments.compare.measured import peaks
from stepscope.instruments.memory import moves
from tests import corpus

TWO_SERVERS = corpus.SAMPLES / "run_metadata" / "two_servers.pb"


def test_each_recording_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many sides as recordings: none reads those of the others."""
    for number in range(6):
        (tmp_path / f"run-{number}").mkdir()
        shutil.copy(TWO_SERVERS, tmp_path / f"run-{number}" / "run_meta.pb")
    read: list[int] = []
    one_by_one = moves.read

    def counted(query: Any, source_id: int, *more: Any) -> Any:
        read.append(source_id)
        return one_by_one(query, source_id, *more)

    monkeypatch.setattr(moves, "read", counted)
    with stepscope.open(tmp_path, cache=False) as opened:
        found = [peaks(side) for side in sides.runs(opened.query)]
    assert len(found) == 6
    assert all(one == found[0] for one in found)
    assert found[0]
    assert sorted(read) == list(range(6))
