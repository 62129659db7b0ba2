"""Args of XPlane are kept as the file has them and become text when they are read."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepscope import _core
from tests import corpus
from tests.formats import xplane_reference as reference
from tests.formats.test_xplane import SAMPLE, check, decode
from tests.formats.test_xplane_drawn import VALUES, kind, space
from tests.tiers import cases


def column(store: Any, name: str = "args_json", *, mapped: bool = True) -> list[Any]:
    stream = store.stream("slice", mapped, [name])
    values: list[Any] = pa.RecordBatchReader.from_stream(stream).read_all().column(name).to_pylist()
    return values


@pytest.mark.parametrize(
    "path", corpus.files("jax/**/*.xplane.pb")[:1] or [SAMPLE], ids=lambda path: path.name
)
def test_a_store_in_a_folder_needs_nothing_else(path: Path, tmp_path: Path) -> None:
    in_memory = decode(path)
    decode(path, folder=str(tmp_path / "store"))
    (tmp_path / "store").rename(tmp_path / "moved")
    opened = _core.open(str(tmp_path / "moved"))
    opened.assign_steps([0], [10**12], [1])
    again = _core.open(str(tmp_path / "moved"))
    expected = column(in_memory)
    assert any(expected)
    assert column(again) == column(again, mapped=False) == column(opened) == expected
    assert opened.rows("slice")[0].keys() == in_memory.rows("slice")[0].keys()


def test_damage_to_kept_names_or_stats_is_found(tmp_path: Path) -> None:
    for name in ("slice.args_json.columns", "slice.columns"):
        folder = tmp_path / name
        store = decode(SAMPLE, folder=str(folder))
        del store
        file = folder / name
        data = bytearray(file.read_bytes())
        places = range(0, len(data), 16)
        assert places
        for at in places:
            data[at] ^= 1
        file.write_bytes(data)
        with pytest.raises(_core.CoreError) as caught:
            _core.open(str(folder)).rows("slice")
        assert caught.value.kind == "damaged"


NUMBERS = st.integers(0, 2**64 - 1)


@settings(max_examples=cases(20, 60), deadline=None)
@given(
    planes=st.lists(
        st.tuples(
            st.dictionaries(
                st.one_of(st.integers(0, 9), st.integers(2**40, 2**40 + 3), st.just(-1)),
                st.text(st.characters(exclude_categories=["Cs"]), max_size=60),
                max_size=8,
            ),
            st.lists(st.lists(st.tuples(st.integers(0, 9), VALUES), max_size=6), max_size=6),
        ),
        max_size=4,
    )
)
def test_each_plane_has_its_own_names(planes: Any) -> None:
    """The same id means another name in each plane; some planes have no names, some no lines."""
    made = reference.messages().XSpace()
    for number, (names, events) in enumerate(planes):
        plane = made.planes.add(id=number, name=f"/device:GPU:{number}")
        kind(plane, 1, "work")
        for key, name in names.items():
            plane.stat_metadata[key].name = name
        for index, stats in enumerate(events):
            event = plane.lines.add(id=index, name=f"line {index}").events.add(metadata_id=1, offset_ps=index)
            ids = [*names, 3]
            for pick, value in stats:
                event.stats.add(metadata_id=ids[pick % len(ids)], **value)
    data = made.SerializeToString()
    if data:
        check(data, decode(data))


def test_args_are_read_in_batches_that_fit_into_memory() -> None:
    """Short stats may refer to long names: a batch of slices becomes several of text."""
    made, plane = space()
    kind(plane, 1, "work")
    plane.stat_metadata[1].name = "key"
    for key in range(8):
        plane.stat_metadata[10 + key].name = str(key) * 3000
    line = plane.lines.add(id=1, name="a")
    for index in range(40_000):
        line.events.add(metadata_id=1, offset_ps=index).stats.add(metadata_id=1, ref_value=10 + index % 8)
    store = decode(made.SerializeToString())
    stream = store.stream("slice", columns=["id", "ts_ps", "name", "args_json"])
    sizes: list[int] = []
    row = 0
    for batch in pa.RecordBatchReader.from_stream(stream):
        sizes.append(batch.num_rows)
        texts = batch.column("args_json")
        assert texts.nbytes < 80 << 20
        assert batch.column("id").to_pylist() == list(range(row, row + batch.num_rows))
        assert batch.column("ts_ps").to_pylist() == batch.column("id").to_pylist()
        for place in (0, batch.num_rows - 1):
            assert json.loads(texts[place].as_py()) == {"key": str((row + place) % 8) * 3000}
        row += batch.num_rows
    assert row == 40_000
    assert len(sizes) > 1


def test_an_event_told_in_another_order_has_the_same_args() -> None:
    """Its stats lie between its other fields, in tags longer than needed, inside groups' company."""
    made, plane = space()
    kind(plane, 1, "work")
    plane.stat_metadata[1].name = "a"
    plane.stat_metadata[2].name = "b"
    plane.lines.add(id=1, name="line")
    usual = made.SerializeToString()
    first, second = b"\x22\x04\x08\x01\x18\x05", b"\x22\x04\x08\x02\x20\x07"
    long_tag = b"\xa2\x00\x04\x08\x02\x20\x07"
    group = b"\x7b\x08\x01\x7c"
    head, offset, duration = b"\x08\x01", b"\x10\x09", b"\x18\x03"
    bodies = [
        head + offset + duration + first + second,
        first + head + second + offset + duration,
        head + first + offset + duration + second,
        head + offset + duration + first + long_tag,
        head + offset + duration + first + group + second,
    ]
    events = b"".join(b"\x22" + bytes([len(body)]) + body for body in bodies)
    old = b"\x1a\x08\x08\x01\x12\x04line"
    assert old in usual
    new = b"\x1a" + bytes([8 + len(events)]) + old[2:] + events
    body = usual[3:] if usual[1] & 0x80 else usual[2:]
    body = body.replace(old, new)
    size = len(body)
    data = b"\x0a" + bytes([size & 0x7F | 0x80, size >> 7]) + body
    assert column(decode(data)) == ['{"a":5,"b":7}'] * len(bodies)
