"""The same recording written in other ways gives the same rows: packed, padded, with other white space, with
escapes, a byte order mark, keys that come twice, fields that this version does not know, in another order.

Where the rows may differ, a note has to say why; nothing here may.
"""

from __future__ import annotations

import codecs
import gzip
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from stepscope import formats, units
from stepscope.protobuf import fields, varint
from stepscope.session.decoding import decode_source
from stepscope.sources.find import find
from stepscope.sources.spool import Spool
from tests.formats.pprof_reference import wire

SAMPLES = Path(__file__).parents[1] / "samples"
MANY = 60
"""Drawn variants of a sample, where all tests are asked for."""

JSON = (
    "chrome/horovod.json", "chrome/phases.json", "chrome/kineto_cuda.json", "kineto/shared_row.json",
    "profile/kernels.rocprofv3.json", "profile/memory.json", "profile/memory.raw.json",
    "profile/node.cpuprofile", "profile/py_spy.speedscope.json",
)  # fmt: skip
VALUES = JSON[1:]
"""Those that are whole JSON: Horovod never closes its array."""
TEXT = ("run_metadata/xla_cluster.pbtxt", "graph/small.pbtxt", "profile/stacks.collapsed")
MESSAGES: dict[str, tuple[tuple[int, ...], ...]] = {
    "xplane/tf2_trace_on.xplane.pb": ((), (1,), (1, 3), (1, 3, 4)),
    "xplane/tf_xla.xplane.pb.gz": ((), (1,)),
    "run_metadata/input_only.pb": ((), (1,), (1, 1), (1, 1, 2), (2,), (2, 1)),
    "run_metadata/input_only_step_stats.pb": ((), (1,), (1, 2)),
    "run_metadata/two_servers.pb": ((), (1,), (1, 1), (1, 1, 2)),
    "graph/small.pb": ((), (1,)),
}
"""Protocol buffers, and where in them messages lie that get fields of a newer version."""
WHOLE = ("event_file/events.out.tfevents.1795163227.vm", "checkpoint/v1.ckpt")
"""Files with checksums, of which only the packing can differ."""

Rows = dict[str, list[dict[str, Any]]]


def bytes_of(sample: str) -> bytes:
    data = (SAMPLES / sample).read_bytes()
    return gzip.decompress(data) if sample.endswith(".gz") else data


def name_of(sample: str) -> str:
    return Path(sample).name.removesuffix(".gz")


def read(data: bytes, name: str, folder: Path) -> tuple[Rows, dict[str, Any]]:
    """The tables of a recording, and its facts without what depends on the bytes themselves."""
    path = folder / name
    path.write_bytes(data)
    spool = Spool()
    try:
        (source,) = find([str(path)], formats, spool).sources
        decoded = decode_source(source, spool, threads=1)
    finally:
        spool.close()
    assert decoded.error is None
    facts = {key: value for key, value in decoded.facts.items() if key not in ("content_hash", "bytes_in")}
    # Where in the file something is, is no row.
    facts["notes"] = [
        {key: value for key, value in note.items() if key != "first_offset"} for note in facts["notes"]
    ]
    tables = sorted(decoded.store.tables())
    return {table: [*map(meant, decoded.store.rows(table))] for table in tables}, facts


def meant(row: dict[str, Any]) -> dict[str, Any]:
    """A row with its JSON as values: args keep the file's own escapes."""
    return {
        key: json.loads(value) if key.endswith("_json") and value is not None else value
        for key, value in row.items()
    }


def same(sample: str, data: bytes, folder: Path, but: frozenset[str] = frozenset()) -> None:
    """Holds rows and facts against those of the sample. but: slugs of notes that the variant adds."""
    plain = bytes_of(sample)
    name = name_of(sample)
    rows, facts = read(plain, name, folder)
    found, told = read(data, name, folder)
    told["notes"] = [note for note in told["notes"] if note["slug"] not in but]
    if but:
        told["events_repaired"] = facts["events_repaired"]
    assert found.keys() == rows.keys()
    for table, expected in rows.items():
        assert found[table] == expected, table
    assert {**told, "meta": known(told)} == {**facts, "meta": known(facts)}


def known(facts: dict[str, Any]) -> dict[str, Any]:
    """What a format tells beside its events, without what the tests add and how it is written."""
    return {
        key: json.loads(value) if value[:1] in ("{", "[") else value
        for key, value in facts["meta"].items()
        if not key.startswith("from a newer version")
    }


def samples() -> Iterator[str]:
    yield from (*JSON, *TEXT, *MESSAGES, *WHOLE)


@pytest.mark.parametrize("sample", [*samples()])
def test_packing_and_padding(sample: str, tmp_path: Path) -> None:
    data = bytes_of(sample)
    half = len(data) // 2
    packed = gzip.compress(data)
    two = gzip.compress(data[:half]) + b"\0" * 300 + gzip.compress(data[half:])
    for one in (packed, packed + b"\0" * 10_240, packed + b"\0" * 200_000, two):
        same(sample, one, tmp_path)


@pytest.mark.parametrize("sample", [*JSON, *TEXT])
def test_marks_and_white_space(sample: str, tmp_path: Path) -> None:
    data = bytes_of(sample)
    variants = [codecs.BOM_UTF8 + data, data + b"\n\n"]
    if not sample.endswith("collapsed"):
        variants += [b" \n\t" + data, data + b" \r\n\t ", codecs.BOM_UTF8 + b"\n" + data]
    for one in variants:
        same(sample, one, tmp_path)


def escaped(text: str) -> str:
    """A JSON text with every character of its strings as an escape."""
    return '"' + "".join(f"\\u{unit:04X}" for unit in units_of(text)) + '"'


def units_of(text: str) -> Iterator[int]:
    data = text.encode("utf-16-be", "surrogatepass")
    return (data[at] << 8 | data[at + 1] for at in range(0, len(data), 2))


Write = Callable[[str], str]


def written(value: Any, text: Write, *, twice: bool = False, gap: str = "") -> str:
    """A value as JSON: its strings through `text`, each key twice where asked, white space everywhere."""
    if isinstance(value, dict):
        pairs = [(key, written(inner, text, twice=twice, gap=gap)) for key, inner in value.items()]
        members = [f"{text(key)}{gap}:{gap}{inner}" for key, inner in pairs]
        if twice:
            members = [f"{text(key)}:null" for key, _ in pairs] + members
        return "{" + gap + f"{gap},{gap}".join(members) + gap + "}"
    if isinstance(value, list):
        inner = [written(one, text, twice=twice, gap=gap) for one in value]
        return "[" + gap + f"{gap},{gap}".join(inner) + gap + "]"
    return text(value) if isinstance(value, str) else json.dumps(value)


def plainly(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


class Number(float):
    """A number that is written as it was."""

    def __new__(cls, text: str) -> Number:
        made = super().__new__(cls, text)
        made.text = text
        return made

    text: str

    def __repr__(self) -> str:
        return self.text


def value_of(sample: str) -> Any:
    return json.loads(bytes_of(sample), parse_float=Number)


@pytest.mark.parametrize("sample", VALUES)
def test_ways_to_write_json(sample: str, tmp_path: Path) -> None:
    value = value_of(sample)
    same(sample, written(value, plainly, gap="\r\n \t").encode(), tmp_path)
    same(sample, written(value, plainly).encode(), tmp_path)
    same(sample, written(value, json.dumps).encode(), tmp_path)


@pytest.mark.parametrize("sample", [one for one in VALUES if one.startswith(("chrome/", "kineto/"))])
def test_escapes_and_equal_keys_of_events(sample: str, tmp_path: Path) -> None:
    value = value_of(sample)
    body = value["traceEvents"] if isinstance(value, dict) else value
    inner = "[" + ",".join(written(one, escaped) for one in body) + "]"
    same(sample, whole(value, inner), tmp_path)
    inner = "[" + ",".join(written(one, plainly, twice=True) for one in body) + "]"
    same(sample, whole(value, inner), tmp_path, but=frozenset({"duplicate-key"}))


def whole(value: Any, events: str) -> bytes:
    """The file with its events written so."""
    if not isinstance(value, dict):
        return events.encode()
    rest = {key: one for key, one in value.items() if key != "traceEvents"}
    members = [f"{json.dumps(key)}: {json.dumps(one)}" for key, one in rest.items()]
    return ("{" + ", ".join([*members, f'"traceEvents": {events}']) + "}").encode()


@pytest.mark.parametrize("sample", VALUES)
def test_members_of_a_newer_version(sample: str, tmp_path: Path) -> None:
    value = value_of(sample)
    if not isinstance(value, dict):
        pytest.skip("a bare array has no members")
    name = "from a newer version"
    deep: Any = None
    for _ in range(40):
        deep = [deep]
    for told in ("text", 1e400, -(10**30), None, deep, {"a": [1, 2]}, []):
        more = json.dumps({f"{name}": told})[1:-1]
        text = written(value, plainly)
        same(sample, f"{text[:-1]}, {more}}}".encode(), tmp_path)
        if not sample.endswith("rocprofv3.json"):  # which is known by its first member
            same(sample, f"{{{more}, {text[1:]}".encode(), tmp_path)


NEWER = (
    wire(500, 2**64 - 1)
    + bytes((0xA9, 0x1F)) + b"12345678"
    + bytes((0xB5, 0x1F)) + b"1234"
    + wire(503, b"of a newer version")
)  # fmt: skip
"""Fields of all four kinds."""


def rewritten(data: bytes, path: tuple[int, ...], change: Callable[[list[bytes]], list[bytes]]) -> bytes:
    """A message in which the fields of each message that lies at `path` are changed."""
    parts = []
    at = 0
    for number, kind, body, _ in fields(memoryview(data)):
        end = end_of(data, at)
        part = data[at:end]
        if path and (number, kind) == (path[0], 2):
            part = wire(number, rewritten(bytes(body), path[1:], change))
        parts.append(part)
        at = end
    return b"".join(parts if path else change(parts))


def end_of(data: bytes, at: int) -> int:
    view = memoryview(data)
    tag, at = varint(view, at)
    assert tag is not None
    if tag & 7 in (1, 5):
        return at + (8 if tag & 7 == 1 else 4)
    value, at = varint(view, at)
    assert value is not None
    return at + value if tag & 7 == 2 else at


@pytest.mark.parametrize("sample", [*MESSAGES])
def test_fields_of_a_newer_version(sample: str, tmp_path: Path) -> None:
    data = bytes_of(sample)
    but = frozenset({"unknown-fields"})
    everywhere = [data, data]
    for path in MESSAGES[sample]:
        before = rewritten(data, path, lambda parts: [NEWER, *parts])
        behind = rewritten(data, path, lambda parts: [*parts, NEWER])
        same(sample, before, tmp_path, but=but)
        same(sample, behind, tmp_path, but=but)
        everywhere = [
            rewritten(everywhere[0], path, lambda parts: [NEWER, *parts]),
            rewritten(everywhere[1], path, lambda parts: [*parts, NEWER]),
        ]
    for one in everywhere:
        same(sample, one, tmp_path, but=but)


def bag(rows: Rows) -> dict[str, Counter[str]]:
    """The rows without numbers that hang on their order: tracks and devices by what they are called."""
    devices = {number: one["name"] for number, one in enumerate(rows.get("device", []))}
    tracks = [
        {
            **{key: value for key, value in one.items() if key not in ("id", "sort_index")},
            "device_id": devices.get(one["device_id"]),
        }
        for one in rows.get("track", [])
    ]
    names = [(one["process"], one["name"], one["origin"]) for one in tracks]
    left_out = {"id", "track_id", "parent_id", "slice_id", "flow_id", "rollup_id", "op_run_id"}
    found = {"track": Counter(map(repr, tracks)), "device": Counter(devices.values())}
    for table in ("slice", "instant", "counter", "flow", "hlo_module", "hlo_instruction"):
        found[table] = Counter(
            repr(
                {
                    **{key: value for key, value in one.items() if key not in left_out},
                    "track": names[one["track_id"]] if one.get("track_id") is not None else None,
                }
            )
            for one in rows.get(table, [])
        )
    return found


def same_bag(sample: str, data: bytes, folder: Path) -> None:
    rows, facts = read(bytes_of(sample), name_of(sample), folder)
    found, told = read(data, name_of(sample), folder)
    expected = bag(rows)
    for table, bagged in bag(found).items():
        assert bagged == expected[table], table
    sums = ("events_seen", "events_stored", "events_lost", "start_ps", "end_ps", "producer")
    assert [told[key] for key in sums] == [facts[key] for key in sums]


def shuffled(value: Any, rng: random.Random) -> bytes:
    """The file with its complete events in another order. Begins and ends stay where they are: of two at the
    same time, the order says which comes first."""
    body = value["traceEvents"] if isinstance(value, dict) else value
    places = [at for at, one in enumerate(body) if one.get("ph") == "X"]
    order = places[:]
    rng.shuffle(order)
    moved = dict(zip(places, order, strict=True))
    events = ",".join(written(body[moved.get(at, at)], plainly) for at in range(len(body)))
    return whole(value, f"[{events}]")


ORDERED = ("chrome/kineto_cuda.json", "kineto/shared_row.json")


@pytest.mark.parametrize("sample", ORDERED)
def test_the_order_of_events(sample: str, tmp_path: Path) -> None:
    value = value_of(sample)
    for seed in range(3):
        same_bag(sample, shuffled(value, random.Random(seed)), tmp_path)


PARTS = {
    "xplane/tf2_trace_on.xplane.pb": ((), (1,), (1, 3)),
    "xplane/tf_xla.xplane.pb.gz": ((), (1,)),
    "run_metadata/two_servers.pb": ((1,),),
}
"""Messages whose fields may come in any order."""


def test_the_order_of_fields(tmp_path: Path) -> None:
    for sample, paths in PARTS.items():
        data = bytes_of(sample)
        for path in paths:
            same_bag(sample, rewritten(data, path, lambda parts: parts[::-1]), tmp_path)


@pytest.mark.repeats("many drawn variants of what the tests above try one by one")
@pytest.mark.parametrize("sample", [*VALUES, *MESSAGES])
def test_drawn_variants(sample: str, tmp_path: Path) -> None:
    data = bytes_of(sample)
    for seed in range(MANY):
        rng = random.Random(f"{sample} {seed}")
        one, but = data, frozenset[str]()
        if sample in MESSAGES:
            for path in rng.sample(MESSAGES[sample], rng.randint(1, len(MESSAGES[sample]))):
                one = rewritten(one, path, lambda parts, rng=rng: _sprinkled(parts, rng))  # type: ignore[misc]
            but = frozenset({"unknown-fields"})
        else:
            text = rng.choice((plainly, json.dumps))
            one = written(
                value_of(sample), text, gap=" " * rng.randrange(3) + "\n" * rng.randrange(2)
            ).encode()
            one = rng.choice((b"", codecs.BOM_UTF8)) + one + b"\n" * rng.randrange(3)
        if rng.random() < 0.5:
            one = gzip.compress(one) + b"\0" * rng.randrange(100_000)
        same(sample, one, tmp_path, but=but)


def _sprinkled(parts: list[bytes], rng: random.Random) -> list[bytes]:
    """Fields with unknown ones among them."""
    made = []
    for part in parts:
        if rng.random() < 0.2:
            made.append(wire(rng.randrange(400, 5000), rng.choice((rng.randrange(2**40), b"newer"))))
        made.append(part)
    return made


def test_the_samples_are_not_empty(tmp_path: Path) -> None:
    """Rows that are equal because there are none would prove nothing."""
    for sample in samples():
        rows, facts = read(bytes_of(sample), name_of(sample), tmp_path)
        assert sum(map(len, rows.values())) > 0, sample
        assert facts["events_stored"] > 0, f"{sample}: {units.count(facts['events_stored'], 'event')}"
