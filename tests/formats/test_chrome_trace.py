"""Chrome traces: equal to an independent reading, whatever their form, and never lost without a word.

A little over 400 lines, for the helpers that turn a store into the words of the reference serve every test.
"""

import gzip
import json
import random
import re
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepscope import _core
from stepscope.formats import chrome_trace
from tests import corpus
from tests.each import each
from tests.formats import chrome_reference as reference
from tests.tiers import cases

SAMPLES = sorted((corpus.SAMPLES / "chrome").iterdir()) + sorted(
    (corpus.SAMPLES / "profiler_hook").glob("*.json")
)
PATTERNS = (
    "tf1/**/timeline*.json",
    "tfprof/multistep/*.timeline.json*",
    "torch/**/*.json*",
    "jax/trace/plugins/**/*.json.gz",
    "accelerators/kineto-gpu/*.json.gz",
)
CORPUS = sorted({path for pattern in PATTERNS for path in corpus.files(pattern)})


def decode(data: bytes | Path, **options: Any) -> _core.Store:
    if isinstance(data, Path):
        source = _core.Input.file(str(data), codec="gzip" if data.suffix == ".gz" else "plain")
    else:
        source = _core.Input.bytes(data)
    return _core.decode("chrome_trace", source, **options)


def attempt(data: bytes, **options: Any) -> dict[str, Any] | str:
    """The facts, checked for adding up, or the kind of the error."""
    try:
        facts = decode(data, **options).facts
    except _core.CoreError as error:
        return str(error.args[0])
    assert facts["events_seen"] == facts["events_stored"] + facts["events_lost"]
    return facts


def rows(store: _core.Store, table: str) -> list[dict[str, Any]]:
    return store.rows(table) if table in store.tables() else []


def everything(store: _core.Store) -> tuple[Any, ...]:
    return store.facts, {table: rows(store, table) for table in store.tables()}


def event_args(text: str | None) -> str | None:
    """Arguments as the event had them: without its own fields, which are marked with $."""
    args = json.loads(text, parse_float=reference.Exact) if text else {}
    return reference.arguments({key: value for key, value in args.items() if not key.startswith("$")})


def as_reading(store: _core.Store) -> reference.Reading:
    """What a store says, in the words of the reference."""
    facts = store.facts
    origin = int(facts["meta"]["origin_us"]) * 1_000_000
    found = reference.Reading(seen=facts["events_seen"], lost=facts["events_lost"])
    threads = {}
    for track in rows(store, "track"):
        ids = re.fullmatch(r"(?:pid (.*?))?(?: ?\btid (.*))?", track["origin"], re.DOTALL)
        threads[track["id"]] = (ids[1] or "", ids[2] or "") if ids and track["kind"] != "async" else None
    for row in rows(store, "slice"):
        thread = threads[row["track_id"]]
        ts, dur = row["ts_ps"] + origin, row["dur_ps"]
        if thread is None:
            found.sequences[(row["name"], row["category"], ts, dur)] += 1
        else:
            found.slices[(*thread, row["name"], row["category"], ts, dur, event_args(row["args_json"]))] += 1
    for row in rows(store, "instant"):
        found.instants[(row["name"], row["category"], row["ts_ps"] + origin)] += 1
    for row in rows(store, "counter"):
        found.counters[(row["name"], row["series"], row["ts_ps"] + origin, row["value"])] += 1
    arrows: dict[int, Counter[tuple[str, int]]] = {}
    for row in rows(store, "flow"):
        arrows.setdefault(row["flow_id"], Counter())[(row["phase"], row["ts_ps"] + origin)] += 1
    for stations in arrows.values():
        found.flows[frozenset(stations.items())] += 1
    return found


def check_equal(store: _core.Store, expected: reference.Reading) -> None:
    found = as_reading(store)
    assert (found.seen, found.lost) == (expected.seen, expected.lost)
    assert found.slices == expected.slices
    assert found.sequences == expected.sequences
    assert found.instants == expected.instants
    assert found.counters == expected.counters
    assert found.flows == expected.flows
    by_origin = {track["origin"]: track for track in rows(store, "track")}
    for (pid, tid), name in expected.thread_names.items():
        assert by_origin[f"pid {pid} tid {tid}"]["name"] == name
    for pid, name in expected.process_names.items():
        named = [
            track["process"] for origin, track in by_origin.items() if re.match(rf"pid {pid}( |$)", origin)
        ]
        assert named
        assert set(named) == {name}


@pytest.mark.parametrize("path", SAMPLES + CORPUS, ids=lambda path: path.name)
def test_equals_an_independent_reading(path: Path) -> None:
    expected = reference.read(path)
    store = decode(path)
    check_equal(store, expected)
    # The sums that a user sees, in exact picoseconds.
    durations: Counter[str] = Counter()
    for key, count in (expected.slices + expected.sequences).items():
        durations[key[2] if len(key) == 7 else key[0]] += count * (key[5] if len(key) == 7 else key[3])
    got: Counter[str] = Counter()
    for row in rows(store, "slice"):
        got[row["name"]] += row["dur_ps"]
    assert got == durations


@each("path", [*SAMPLES, *CORPUS[:3]])
def test_threads_and_pieces_change_nothing(path: Path) -> None:
    expected = everything(decode(path, threads=1))
    for threads, piece_bytes in ((1, 1000), (2, 4099), (3, 70_001)):
        assert (
            everything(decode(path, threads=threads, options={"piece_bytes": str(piece_bytes)})) == expected
        )


@each(("path", "needs"), product(SAMPLES, ([], ["ops"])))
def test_less_is_decoded_when_less_is_needed(path: Path, needs: list[str]) -> None:
    full, bare = decode(path), decode(path, needs=needs)
    for key in ("events_seen", "events_stored", "events_lost", "origin_unix_ns", "start_ps", "end_ps"):
        assert bare.facts[key] == full.facts[key]
    columns = [
        "name",
        "category",
        "ts_ps",
        "dur_ps",
        *(("op_name", "op_type", "correlation_id") if needs else ()),
    ]

    def counted(store: _core.Store) -> Counter[tuple[Any, ...]]:
        return Counter(tuple(row[column] for column in columns) for row in rows(store, "slice"))

    assert counted(bare) == counted(full)


def small() -> bytes:
    """A file short enough to be cut at every byte."""
    return (corpus.SAMPLES / "chrome" / "phases.json").read_bytes()


def test_truncated_anywhere_keeps_what_is_whole() -> None:
    data = small()
    events = data.index(b"[") + 1
    before = 0
    for cut in (*range(0, len(data), cases(3, 1)), len(data)):
        facts = attempt(data[:cut], options={"piece_bytes": "501"})
        if isinstance(facts, str):
            assert cut < events
            assert facts in ("not_this_format", "damaged")
            continue
        # An event more makes a slice of a beginning that was closed for want of an end, never fewer.
        assert facts["events_stored"] >= before
        before = facts["events_stored"]
        assert facts["notes"] or cut >= len(data.rstrip()), f"cut at {cut}: not a word"
    assert before == decode(data).facts["events_stored"]


@pytest.mark.repeats("it is cut at any place beside this")
def test_flipped_bits_cost_few_events_and_never_a_word() -> None:
    data = small()
    whole = decode(data).facts["events_stored"]
    chance = random.Random(7)
    for _ in range(cases(1_000, 10_000)):
        place, bit = chance.randrange(len(data)), chance.randrange(8)
        flipped = data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :]
        facts = attempt(flipped, threads=1)
        if isinstance(facts, str):
            assert place < 120, facts
            continue
        assert facts["events_stored"] >= whole - 4, (place, bit, facts["notes"])


# The cases of JSONTestSuite by construction: what Python's json accepts, and what it rejects.
VALUES_ACCEPTED = re.findall(
    r"\S+",
    r"""
    0 -0 1 -1 10 1.5 -0.0 1e5 1E5 1e+5 1e-5 0.1e1 123456789012345678901234567890 1e400 true false null
    "" "a" [] {} [[]] [{}] {"a":[]} [1,2] {"a":1,"b":{"c":[null,true]}} [[[[[[[[1]]]]]]]] {"":0} [""]
    "\u0041" "\ud83d\ude00" "\"\\\/\b\f\n\r\t" "é" "\u2028" ["\u0000"] NaN Infinity -Infinity [NaN]
    """,
)
VALUES_REJECTED = [
    *re.findall(
        r"\S+",
        r"""
        01 -01 +1 .5 1. 1.e1 - -- 1e 1e+ 0x1 1_0 tru nul truee True nan inf [1,] {"a":1,} [,] [1,,2] {,} [1
        {1:2} {"a"} {"a":} {"a":1,,} {a:1} 'a' "a "\x" "\u12" "\u123g" [1}] {]} ] } , : "a"b [1]2
        {"a":1"b":2} /**/1 //1 ;
        """,
    ),
    '"\t"',
    '"\n"',
    "[1 2]",
    '{"a":1 "b":2}',
    '["a" "b"]',
    '{"a" 1}',
]


@each(("value", "spaced"), product(VALUES_ACCEPTED, (False, True)))
def test_valid_values_are_kept(value: str, spaced: bool) -> None:
    event = '{"ph":"X","ts":1,"dur":2,"args":{"v":%s}}' % (f" \t{value}\r\n " if spaced else value)
    store = decode(f"[{event},{event}]".encode())
    assert (store.facts["events_stored"], store.facts["events_lost"]) == (2, 0)
    args = json.loads(rows(store, "slice")[0]["args_json"], parse_float=reference.Exact)
    wanted = json.loads(value, parse_float=reference.Exact, parse_constant=str)
    assert args == {"v": wanted}


@each("value", VALUES_REJECTED)
def test_invalid_values_are_repaired_or_lost_aloud(value: str) -> None:
    good = '{"ph":"X","name":"good","ts":1,"dur":2}'
    text = f'[{good},{{"ph":"X","ts":1,"dur":2,"args":{{"v":{value}}}}},{good},{good}]'
    with pytest.raises(ValueError, match=r"."):
        json.loads(text)
    store = decode(text.encode())
    facts = store.facts
    assert facts["events_lost"] + facts["events_repaired"] >= 1
    assert facts["notes"]
    names = Counter(row["name"] for row in rows(store, "slice"))
    assert names["good"] >= 2
    for row in rows(store, "slice"):
        json.loads(row["args_json"] or "{}")


def test_nothing_recurses_and_nothing_grows() -> None:
    for opening, closing in (("[", "]"), ('{"a":', "}")):
        deep = opening * 1_000_000 + ("0" if opening != "[" else "") + closing * 1_000_000
        within = f'{{"ph":"X","ts":1,"dur":2,"args":{{"v":{deep}}}}}'
        beside = f'{{"ph":"X","ts":3,"dur":1,"deep":{deep}}}'
        text = f"[{within},{beside},{deep}]"
        store = decode(text.encode())
        assert len(rows(store, "slice")) == 2
        assert store.facts["events_seen"] == 3
        assert {note["slug"] for note in store.facts["notes"]} >= {"args-too-deep"}
        for row in rows(store, "slice"):
            json.loads(row["args_json"] or "{}")


def test_a_long_string_is_kept_and_a_longer_one_lost() -> None:
    good = b'{"ph":"X","name":"good","ts":1,"dur":2}'
    for size, stored in ((8 << 20, 3), (80 << 20, 2)):
        text = b'[%s,{"ph":"X","ts":1,"dur":2,"args":{"v":"%s"}},%s]' % (good, b"y" * size, good)
        facts = decode(text).facts
        assert facts["events_stored"] == stored
        assert facts["events_seen"] == 3


def test_many_tracks() -> None:
    text = ",".join(f'{{"ph":"X","pid":{i % 7},"tid":{i},"ts":{i},"dur":1}}' for i in range(50_000))
    store = decode(f"[{text}]".encode(), threads=2, options={"piece_bytes": "100000"})
    assert store.tables()["track"] == 50_000


def test_extremes_of_numbers() -> None:
    times = [
        0,
        -1,
        2**53 + 1,
        2**63 - 1,
        -(2**63),
        2**64,
        "1e308",
        "1e-308",
        "0.0000004",
        "0.0000005",
        "-0.0000005",
    ]
    text = ",".join(f'{{"ph":"X","ts":{time},"dur":0}}' for time in times)
    store = decode(f"[{text}]".encode())
    facts = store.facts
    assert facts["events_seen"] == len(times)
    assert sorted(row["ts_ps"] for row in rows(store, "slice")) == [-1_000_000, -1, 0, 0, 0, 1]
    lost = next(note for note in facts["notes"] if note["slug"] == "time-out-of-range")
    assert lost["events"] == facts["events_lost"] == 5


TEXT = st.text(max_size=12)
ARGS = st.dictionaries(
    st.text(max_size=5).filter(lambda key: not key.startswith("$")),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=6,
    ),
    max_size=4,
)
IDS = st.integers(-(2**31), 2**40) | st.sampled_from(["", "Spans", "1", "é\n"])
TIMES = st.integers(0, 10**12) | st.decimals(0, 10**9, places=6).map(float)


@st.composite
def complete(draw: st.DrawFn) -> dict[str, Any]:
    event: dict[str, Any] = {
        "ph": "X",
        "ts": draw(TIMES),
        "dur": draw(TIMES),
        "name": draw(TEXT),
        "pid": draw(IDS),
        "tid": draw(IDS),
    }
    if draw(st.booleans()):
        event["args"] = draw(ARGS)
    if draw(st.booleans()):
        event["cat"] = draw(TEXT)
    return dict(draw(st.permutations(list(event.items()))))


@settings(max_examples=cases(40, 150), deadline=None)
@given(
    st.lists(complete(), max_size=12),
    st.sampled_from([None, 1, "\t"]),
    st.booleans(),
    st.booleans(),
    st.integers(1, 400),
    st.integers(1, 3),
)
def test_any_trace_equals_its_reading(
    events: list[dict[str, Any]], indent: Any, ascii_only: bool, bare: bool, piece: int, threads: int
) -> None:
    whole = events if bare else {"before": [{"ph": 1}], "traceEvents": events, "after": "}]"}
    text = json.dumps(whole, indent=indent, ensure_ascii=ascii_only)
    again = json.loads(text, parse_float=reference.Exact)
    store = decode(text.encode("utf-8", "replace"), threads=threads, options={"piece_bytes": str(piece)})
    found, expected = as_reading(store), reference.read_events(again if bare else again["traceEvents"])
    assert found.slices == expected.slices
    assert found.seen == expected.seen == store.facts["events_stored"]
    assert store.facts["notes"] == []


@settings(max_examples=cases(60, 200), deadline=None)
@given(st.binary(max_size=200), st.integers(0, 3))
def test_any_bytes_end_in_a_result_or_a_typed_error(data: bytes, place: int) -> None:
    sample = b'[{"ph":"B","ts":1,"pid":1},{"ph":"C","ts":2,"args":{"a":1}},{"ph":"X","ts":1,"dur":2}]'
    offset = (0, 27, 60, len(sample))[place]
    facts = attempt(sample[:offset] + data + sample[offset:], threads=1)
    assert not isinstance(facts, str) or facts in ("not_this_format", "damaged")


@each(
    ("name", "producer"),
    [
        ("chrome/kineto.json.gz", "kineto"),
        ("chrome/kineto_cuda.json", "kineto"),
        ("chrome/horovod.json", "horovod"),
        ("chrome/viztracer.json", "viztracer"),
        ("chrome/jax.trace.json.gz", "jax"),
        ("chrome/phases.json", "unknown"),
        ("profiler_hook/timeline-5.json", "tf_timeline"),
    ],
)
def test_producers_and_clocks(name: str, producer: str) -> None:
    facts = decode(corpus.SAMPLES / name).facts
    assert facts["producer"] == producer
    unix = {"kineto", "horovod", "tf_timeline"}
    assert (facts["origin_unix_ns"] is not None) == (producer in unix)


def test_ops_correlations_and_marks() -> None:
    slices = rows(decode(corpus.SAMPLES / "chrome" / "kineto_cuda.json"), "slice")
    correlated = {row["name"]: row["correlation_id"] for row in slices if row["correlation_id"] is not None}
    assert correlated == {
        "cudaLaunchKernel": 77,
        "void example::gemm<float, 4>(float const*, float*)": 77,
        "Memcpy DtoH (Device -> Pageable)": 81,
    }
    assert {row["op_type"] for row in slices if row["category"] == "cpu_op"} == {"aten::mm"}
    marks = rows(decode(corpus.SAMPLES / "chrome" / "jax.trace.json.gz"), "marker")
    assert [row["step"] for row in marks if row["name"] == "train"] == [0, 1, 2][
        : sum(r["name"] == "train" for r in marks)
    ]
    timeline = rows(decode(corpus.SAMPLES / "profiler_hook" / "timeline-5.json"), "slice")
    assert all(row["op_name"] and row["op_type"] for row in timeline)
    assert all(json.loads(row["args_json"])["op"] == row["op_type"] for row in timeline)


@each("path", SAMPLES)
def test_samples_are_recognised(path: Path) -> None:
    data = path.read_bytes()
    head = (gzip.decompress(data) if path.suffix == ".gz" else data)[:65536]
    assert chrome_trace.sniff(head, path.name.removesuffix(".gz"))


@each(
    ("head", "name", "claimed"),
    [
        (b'{"traceEvents":[]}', "x", True),
        (b'\xef\xbb\xbf {"a":{}, "traceEvents" : [', "x", True),
        (b'[{"ph":"X"', "x", True),
        (b"[\n", "trace.json", True),
        (b"[]", "list.json", False),
        (b"[1, 2]", "trace.json", False),
        (b'{"a": "b"}', "trace.json", False),
        (b'{"schemaVersion":1,"x":"' + b"y" * 65000, "x.json", True),
        (b'{"other":1,"x":"' + b"y" * 65000, "x.json", False),
        (b"", "trace.json", False),
        (b"\x0a\x05traceEvents", "x.pb", False),
    ],
)
def test_what_is_recognised(head: bytes, name: str, claimed: bool) -> None:
    assert chrome_trace.sniff(head, name) is claimed
