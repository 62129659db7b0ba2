"""Peaks and operations of a side of a comparison: of its own recordings, and no more than is shown."""

import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from stepscope.instruments.compare import ops, sides
from stepscope.instruments.compare.figures import peaks
from stepscope.instruments.memory import allocators, moves
from stepscope.instruments.memory.blocks import most_held, pair
from stepscope.instruments.memory.moves import Move
from stepscope.instruments.memory.peak import peak
from stepscope.library.statements import statement
from stepscope.session.trace import open as open_trace
from tests import corpus

SAMPLES = corpus.SAMPLES
TWO_SERVERS = SAMPLES / "run_metadata" / "two_servers.pb"


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
    with open_trace(tmp_path, cache=False) as opened:
        found = [peaks(side) for side in sides.runs(opened.query)]
    assert len(found) == 6
    assert all(one == found[0] for one in found)
    assert found[0]
    assert sorted(read) == list(range(6))


def drawn(chance: random.Random) -> list[Move]:
    """Movements of few addresses and sizes, so that all that is odd happens: twice given, freed unseen, other
    bytes freed than given, several at one moment, totals now and then."""
    found, now, total = [], 0, 5000
    for _ in range(chance.randrange(1, 60)):
        now += chance.randrange(3)
        delta = chance.choice((64, 128, 4096)) * chance.choice((1, 1, -1))
        total += delta
        address = chance.choice((None, 1, 2, 3))
        told = total + chance.choice((0, 0, 64)) if chance.random() < 0.3 else None
        run = chance.choice((None, 7))
        device = chance.choice(("cuda:0", "cpu"))
        found.append(Move(now, delta, device, device, address, run, None, None, total_bytes=told))
    return found


def test_peaks_are_those_of_the_blocks() -> None:
    chance = random.Random(30)
    for _ in range(300):
        found = drawn(chance)
        blocks = {(one.device, one.allocator): peak(one.blocks, one.base_bytes).bytes for one in pair(found)}
        assert most_held(found) == blocks


@pytest.mark.parametrize(
    "name",
    ["run_metadata/two_servers.pb", "run_metadata/gpu_sparse.pb", "profile/memory.json", "capture/slow_map"],
)
def test_peaks_are_those_of_the_verb(name: str) -> None:
    with open_trace(SAMPLES / name) as opened:
        whole = [(one.device, one.allocator, one.peak.bytes) for one in allocators.find(opened.query)]
        assert sorted(allocators.peaks(opened.query)) == sorted(whole)


@pytest.mark.parametrize(
    ("name", "told"), [("tf1/resnet32", True), ("kineto/shared_row.json", False), ("capture/slow_map", False)]
)
def test_operations_are_those_of_the_views_of_tfprof(name: str, told: bool) -> None:
    with open_trace(SAMPLES / name) as opened:
        (side,) = sides.runs(opened.query)
        asked: list[str] = []
        opened.watch(None, lambda statement, *_: asked.append(statement))
        found = ops.float_operations(side)
        assert ("float_ops_of_run" in asked) is told
        rows = opened.query(statement("float_ops_of_run", run_id=side.run_id)).rows()
    assert found == {op_type: number for op_type, number, _ in rows if number}
    assert bool(found) is told
