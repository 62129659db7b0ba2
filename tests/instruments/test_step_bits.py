"""A long recording is taken apart in bits of time, which changes nothing but the memory that it takes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from stepscope.instruments.step_breakdown import evidence, part_tables, stack_samples
from stepscope.instruments.step_breakdown.evidence_kinds import EvidenceKinds
from stepscope.instruments.step_breakdown.sweep import Segment
from stepscope.library.statements import statement
from stepscope.session.trace import open as open_trace
from tests.tiers import some

SAMPLES = Path(__file__).parent.parent / "samples"
RECORDINGS = [
    SAMPLES / "gpu" / "torch_svd.json.gz",
    SAMPLES / "tf_guide" / "no_prefetch.xplane.pb.gz",
    SAMPLES / "capture" / "slow_map",
]


@pytest.mark.parametrize(
    "path", some(RECORDINGS, RECORDINGS[::2], "another recording of a CPU"), ids=lambda path: path.name
)
def test_bits_give_the_same_rows(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_trace(path) as opened:
        whole = part_tables.rows(opened.query, opened.stream)
        monkeypatch.setattr(evidence, "slices_at_once", lambda: 150)
        asked: list[str] = []
        opened.watch(None, lambda name, *_: asked.append(name))
        assert part_tables.rows(opened.query, opened.stream) == whole
    assert asked.count("driving_slices") > 2
    assert whole.step_part


def test_a_bit_is_gone_when_the_next_one_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever holds it: there are as many segments as slices."""
    monkeypatch.setattr(evidence, "slices_at_once", lambda: 150)
    with open_trace(RECORDINGS[0]) as opened:
        (source,) = part_tables.sources_with_steps(opened.query)
        rows: Sequence[Any] = opened.query(statement("evidence_kinds")).rows()
        kinds = {row[0]: EvidenceKinds.of(row) for row in rows}
        shifts = stack_samples.shifts(opened.query, [source.source_id])
        held: list[Sequence[Segment]] = []
        seen = 0
        for bit in evidence.evidence_of(opened.query, opened.stream, [source], kinds, shifts):
            assert not any(held)
            held.append(bit.evidence.slices)
            seen += len(bit.evidence.slices)
    assert seen > len(held) > 2
