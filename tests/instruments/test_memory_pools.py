"""Room that allocators have but cannot give, against the events that told it."""

import json
from pathlib import Path

import pytest

import stepscope
from stepscope.instruments.memory.allocators import find
from stepscope.instruments.memory.blocks import MemoryBlock
from stepscope.instruments.memory.moves import Pool
from stepscope.instruments.memory.pools import Fragmentation, fragmentation, rounded_up
from stepscope.report.memory_sentences import sentences
from tests import corpus
from tests.asked import ask


def recorded_fragmentation(path: Path) -> list[tuple[int, float]]:
    """Time and fragmentation of each event."""
    rows = ask(
        path,
        "SELECT ts_ps, args_json FROM slice WHERE name IN ('MemoryAllocation', 'MemoryDeallocation')"
        " ORDER BY ts_ps, id",
    )
    return [(ts, json.loads(text)["fragmentation"]) for ts, text in rows]


@pytest.mark.parametrize("name", ["tf1/session_xplane", "tfdata/eager_loop_slow_map"])
def test_free_memory_in_pieces(name: str) -> None:
    path = corpus.path(name)
    with stepscope.open(path, cache=False) as opened:
        (one,) = find(opened.query)
    events = recorded_fragmentation(path)
    found = fragmentation(one.held.pools, one.peak.ts_ps)
    most = max(share for _, share in events)
    assert found.most == most
    assert found.most_ps == next(ts for ts, share in events if share == most)
    assert one.peak.ts_ps is not None
    assert found.at_peak == [share for ts, share in events if ts <= one.peak.ts_ps][-1]
    said = " ".join(sentences(one))
    assert ("Free memory is fragmented" in said) == (most > 0)


def test_rounding_up_is_what_was_not_asked_for() -> None:
    blocks = [
        MemoryBlock(1024, 0, None, requested_bytes=1000),
        MemoryBlock(512, 0, None, requested_bytes=512),
        MemoryBlock(256, None, 5),
    ]
    assert rounded_up(blocks) == 24
    assert fragmentation([], 5) is None
    pools = [Pool(3, 0.5), Pool(7, 0.25), Pool(9, 0.5)]
    assert fragmentation(pools, 8) == Fragmentation(0.25, 0.5, 3)
    assert fragmentation(pools, 2) == Fragmentation(None, 0.5, 3)
    assert fragmentation(pools, None) == Fragmentation(None, 0.5, 3)
