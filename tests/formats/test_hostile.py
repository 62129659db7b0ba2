"""Recordings that end badly: what is left of them is stored and counted, and what is not is said."""

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest

from stepscope import formats
from stepscope.errors import StepscopeError
from stepscope.formats.xla import hlo_protos
from stepscope.lake.decoded_source import Decoded
from stepscope.session.decoding import decode_source
from stepscope.sources.find import find
from stepscope.sources.source import ByteLocation
from stepscope.sources.spool import Spool
from tests.corpus import SAMPLES, read
from tests.tiers import cases

SLICE = {
    "ph": "X",
    "name": "a",
    "cat": "kernel",
    "pid": 0,
    "tid": 7,
    "ts": 1,
    "dur": 2,
    "args": {"device": 0},
}
NAME = {"ph": "M", "name": "process_name", "pid": 9, "args": {"name": "python"}}


def decoded(data: bytes, path: Path) -> Decoded:
    path.write_bytes(data)
    spool = Spool()
    try:
        (source,) = find([str(path)], formats, spool).sources
        return decode_source(source, spool, threads=1)
    finally:
        spool.close()


def told(one: Decoded) -> dict[str, str]:
    assert one.error is None
    return {note["slug"]: note["detail"] for note in one.facts["notes"]}


def rows(one: Decoded, *tables: str) -> int:
    there = one.store.tables()
    return sum(there.get(table, 0) for table in tables)


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


@pytest.mark.parametrize(
    "properties",
    ['["GPU"]', "[1.5]", '[{"id": 0}, null]', '{"id": 0}', "7", f"[{nested(200)}]", nested(20_000)],
    ids=["texts", "numbers", "one of two", "object", "number", "nested", "nested deeper than Python reads"],
)
def test_device_properties_that_are_no_objects(properties: str, tmp_path: Path) -> None:
    text = f'{{"schemaVersion": 1, "deviceProperties": {properties}, "traceEvents": [{json.dumps(SLICE)}]}}'
    found = decoded(text.encode(), tmp_path / "trace.json")
    assert "damaged-metadata" in told(found)
    assert rows(found, "slice") == 1
    assert found.store is not None
    assert [one["name"] for one in found.store.rows("device")] == ["GPU 0"]


@pytest.mark.parametrize("properties", ['[{"id": 0, "name": "A GPU"}]', "[]", "null"])
def test_device_properties_that_are_whole(properties: str, tmp_path: Path) -> None:
    text = f'{{"schemaVersion": 1, "deviceProperties": {properties}, "traceEvents": [{json.dumps(SLICE)}]}}'
    assert "damaged-metadata" not in told(decoded(text.encode(), tmp_path / "trace.json"))


@pytest.mark.parametrize("ranks", ["7", '"none"', nested(20_000), '{"rank": 1e400}', '{"rank": -1}'])
def test_odd_facts_beside_the_events(ranks: str, tmp_path: Path) -> None:
    text = f'{{"schemaVersion": 1, "distributedInfo": {ranks}, "traceEvents": [{json.dumps(SLICE)}]}}'
    assert rows(decoded(text.encode(), tmp_path / "trace.json"), "slice") == 1


@pytest.mark.parametrize("events", [[NAME], [NAME, {}], [{**NAME, "name": "of something"}], [{}]])
def test_names_alone_are_no_events(events: list[Any], tmp_path: Path) -> None:
    found = decoded(json.dumps({"traceEvents": events}).encode(), tmp_path / "trace.json")
    counts = [found.facts[f"events_{what}"] for what in ("seen", "stored", "lost")]
    assert counts == [len(events), 0, len(events)]
    assert "no event lies on any row" in told(found)["names-alone"]


def test_names_of_what_is_there_are_stored(tmp_path: Path) -> None:
    found = decoded(json.dumps({"traceEvents": [NAME, {}, SLICE]}).encode(), tmp_path / "trace.json")
    assert found.facts["events_stored"] == 3
    assert "names-alone" not in told(found)


MUTATED = (
    "chrome/horovod.json", "chrome/phases.json", "chrome/kineto_cuda.json", "chrome/viztracer.json",
    "kineto/shared_row.json", "kineto/capitals_of_2021.json",
)  # fmt: skip


def mutant(data: bytes, rng: random.Random) -> bytes:
    """Bytes changed, taken out and put in, and mostly the end cut off: often before the first event."""
    made = bytearray(data)
    for _ in range(rng.randrange(1, 12)):
        at = rng.randrange(len(made))
        piece = rng.choice((b"", b"null", b'"', b"{", b"}", b",", rng.randbytes(3), b'"ph": "E",', bytes(9)))
        made[at : at + rng.choice((0, 1, 4, 40))] = piece
    return bytes(made[: rng.randrange(len(made) // 8, len(made))] if rng.random() < 0.7 else made)


def test_what_mutants_say_of_their_events_is_in_the_tables(tmp_path: Path) -> None:
    rng = random.Random(30)
    tried = alone = 0
    for _ in range(cases(250, 2_000)):
        data = mutant(read(rng.choice(MUTATED)), rng)
        try:
            one = decoded(data, tmp_path / "trace.json")
        except StepscopeError:
            continue
        if one.error is not None:
            continue
        facts = one.facts
        assert facts["events_seen"] == facts["events_stored"] + facts["events_lost"]
        stored = rows(one, "slice", "instant", "counter", "flow")
        assert bool(facts["events_stored"]) == bool(stored), data
        assert "events-unaccounted" not in told(one), data
        if facts["events_lost"]:
            # A note for each that is lost, and no more.
            lost = sum(note["events"] for note in facts["notes"] if note["effect"] == "lost")
            assert lost == facts["events_lost"], data
        tried += 1
        alone += "names-alone" in told(one)
    assert tried > 100
    assert alone > 3


PROGRAMS = "xplane/tf_xla.xplane.pb.gz"


def test_programs_behind_damage_are_said_to_be_missing(tmp_path: Path) -> None:
    data = (SAMPLES / PROGRAMS).read_bytes()
    whole = decoded(data, tmp_path / "vm.xplane.pb.gz")
    assert rows(whole, "hlo_module") > 0
    assert "programs-unread" not in told(whole)
    behind = decoded(data + b"and more", tmp_path / "vm.xplane.pb.gz")
    assert rows(behind, "hlo_instruction") == rows(whole, "hlo_instruction")
    assert "bytes after the end" in told(behind)["programs-unread"]
    cut = decoded(data[: len(data) // 2], tmp_path / "vm.xplane.pb.gz")
    assert "end early" in told(cut)["programs-unread"]


def test_programs_of_a_file_that_is_gone_or_unpacks_too_far(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "vm.xplane.pb.gz"
    path.write_bytes((SAMPLES / PROGRAMS).read_bytes())
    spool = Spool()
    (source,) = find([str(path)], formats, spool).sources
    data, why = hlo_protos.bytes_of(source, spool)
    assert (bytes(data), why) == (read(PROGRAMS), None)
    monkeypatch.setattr(hlo_protos, "_MOST_PACKED_BYTES", 1000)
    assert "1,000 bytes" in str(hlo_protos.bytes_of(source, spool)[1])
    for codec in ("plain", "gzip"):
        gone = source._replace(bytes=ByteLocation(str(tmp_path / "gone"), codec=codec))  # type: ignore[arg-type]
        data, why = hlo_protos.bytes_of(gone, spool)
        assert not data
        assert "No such file" in str(why)
    spool.close()


def test_what_follows_a_gzip_member(tmp_path: Path) -> None:
    packed = gzip.compress(b"one ")
    spool, path = Spool(), tmp_path / "a.gz"
    place = ByteLocation(str(path), codec="gzip")
    for data in (packed, packed + bytes(100), packed + bytes(300_000), packed + bytes(65_536 - len(packed))):
        path.write_bytes(data)
        assert spool.read_good(place, "a.gz", 100) == (b"one ", None)
        path.write_bytes(data + packed + bytes(7))
        assert spool.read_good(place, "a.gz", 100) == (b"one one ", None)
        path.write_bytes(data + b"more")
        good, why = spool.read_good(place, "a.gz", 100)
        assert good == b"one "
        assert "after the end" in str(why)
    path.write_bytes(packed[:-3])
    assert spool.read_good(place, "a.gz", 100) == (b"one ", "the packed bytes end early")
    spool.close()
