"""Numbers of sources: the same for the same source, ids that never meet, and a clash that is an error."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stepscope
from stepscope.errors import LakeError
from stepscope.lake import claims, reader, source_ids
from tests.lake.recordings import chrome

KEYS = st.tuples(st.text(max_size=8), st.text(max_size=8))


@given(KEYS, st.integers(source_ids.LEAST_BITS, source_ids.MOST_BITS))
def test_ids_of_a_lake_fit_a_bigint_and_are_no_small_numbers(key: tuple[str, str], bits: int) -> None:
    source_id = source_ids.wanted(key, bits)
    assert source_id == source_ids.wanted(key, bits)
    assert source_ids.first_id(source_id) == source_id
    assert 1 << 62 <= source_id <= source_id + (1 << bits) - 1 < 1 << 63
    assert source_ids.wanted(key, source_ids.LEAST_BITS) >> bits == source_id >> bits


@given(st.integers(0, 1 << 50))
def test_a_source_has_an_id_for_each_of_its_bytes(size: int) -> None:
    assert (1 << source_ids.bits_for(size)) > size or source_ids.bits_for(size) == source_ids.MOST_BITS


def test_sources_without_a_lake_are_numbered_from_zero() -> None:
    assert [source_ids.first_id(number) for number in (0, 1, 2)] == [0, 1 << 36, 2 << 36]
    assert source_ids.first_id((1 << 26) - 1) + (1 << 36) <= 1 << 62


@given(st.lists(st.tuples(st.integers(16, 24), st.integers(0, 1 << 10)), min_size=2, max_size=2), st.data())
def test_ranges_that_meet_are_found_from_either_side(
    drawn: list[tuple[int, int]], data: st.DataObject
) -> None:
    """Two sources somewhere in a small part of all ids: `around` and `within` find exactly what meets."""
    sources = []
    for bits, place in drawn:
        base = (1 << 62) + ((place << source_ids.LEAST_BITS) >> bits << bits)
        sources.append((base, data.draw(st.integers(0, 1 << bits))))
    (one, rows), (other, others) = sources
    found = one == other
    found |= other in set(source_ids.contained(one, rows))
    found |= other in set(source_ids.overlapping(one)) and other + others > one
    meets = one == other or (one < other + others and other < one + rows)
    assert found == meets


@pytest.mark.parametrize("names", ["ab", "ba"])
def test_a_clash_is_an_error_and_changes_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: str
) -> None:
    """The first has the ids that it would have anywhere; the second is refused, not renumbered."""
    clash = (1 << 62) + (5 << 24)
    monkeypatch.setattr(source_ids, "wanted", lambda key, bits: clash)
    paths = [chrome(tmp_path / name / f"{name}.json", name) for name in names]
    (first,) = stepscope.ingest([paths[0]], tmp_path / "lake")
    assert first.source_id == clash
    with pytest.raises(LakeError, match="clash") as error:
        stepscope.ingest([paths[1]], tmp_path / "lake")
    assert error.value.path.endswith(paths[1].name)
    assert "--run" in error.value.todo
    assert stepscope.ingest([paths[0]], tmp_path / "lake") == [first]
    with stepscope.open(tmp_path / "lake") as trace:
        assert trace.query("SELECT count(*), min(id) FROM slice").rows() == [(20, clash)]


@pytest.mark.parametrize("large_first", [True, False])
def test_a_clash_with_the_middle_of_a_large_source_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, large_first: bool
) -> None:
    base = 1 << 62
    small = chrome(tmp_path / "small" / "s.json")
    large = chrome(tmp_path / "large" / "l.json", count=70_000)
    # Two texts of 70,000 slices take 2^17 ids and more; the small one lies among them.
    monkeypatch.setattr(source_ids, "wanted", lambda key, bits: base if bits > 16 else base + (1 << 16))
    first, second = (large, small) if large_first else (small, large)
    stepscope.ingest([first], tmp_path / "lake")
    with pytest.raises(LakeError, match="clash"):
        stepscope.ingest([second], tmp_path / "lake")
    (kept,) = reader.read_manifests(tmp_path / "lake")
    assert kept.source.path.endswith(first.name)
    assert claims.most_rows(kept) == (70_000 if large_first else 20)
    reader.open_lake(tmp_path / "lake").verify(contents=True)
