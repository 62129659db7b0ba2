"""A Chrome trace that we wrote says, read back, what was read in the first place."""

import json
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepscope import exporters
from stepscope.exporters.clocks import lay_out
from stepscope.exporters.source_events import events_by_source
from stepscope.session import trace
from tests import corpus
from tests.exporters.read import load, names, phase
from tests.tiers import cases, some

# Which arrow a station belongs to is told by the stations that share its number, not by the number.
ROWS = {
    "slice": "name, category, ts_ps, dur_ps, depth, self_ps, op_name, op_type, correlation_id, args_json",
    "instant": "name, category, ts_ps, kind, object_id, args_json",
    "counter": "name, series, ts_ps, value",
    "flow": "name, category, ts_ps, phase, args_json",
}
TRACK = "process, track.name, track.kind, records"


def facts(path: Path) -> dict[str, Any]:
    """Everything that a Chrome trace can hold of a recording; times absolute where they are known."""
    found: dict[str, Any] = {}
    with trace.open(path, cache=False) as opened:
        assert len(opened.query("SELECT * FROM source").rows()) == 1
        (origin,) = opened.query("SELECT origin_unix_ns FROM capture").rows()[0]
        for table, columns in ROWS.items():
            picked = ", ".join(f"{table}.{column.strip()}" for column in columns.split(","))
            rows = opened.query(
                f"SELECT {TRACK}, {picked} FROM {table} JOIN track ON track.id = {table}.track_id"
                # What an export says of memory is derived from these rows: see test_memory_rows.py.
                " WHERE process NOT LIKE '%memory: %'"
                f" ORDER BY process, track.name, track.origin, {table}.ts_ps, {table}.id"
            ).rows()
            moment = 4 + [column.strip() for column in columns.split(",")].index("ts_ps")
            found[table] = Counter(
                (
                    *row[:moment],
                    row[moment] + (origin or 0) * 1000,
                    *(canonical(value) for value in row[moment + 1 :]),
                )
                for row in rows
            )
        arrows: dict[int, list[tuple[Any, ...]]] = {}
        stations = opened.query("SELECT flow_id, ts_ps, phase, name FROM flow ORDER BY ts_ps, phase, name")
        for flow_id, ts_ps, *station in stations.rows():
            arrows.setdefault(flow_id, []).append((ts_ps + (origin or 0) * 1000, *station))
        found["arrows"] = Counter(tuple(arrow) for arrow in arrows.values())
    return found


def canonical(value: Any) -> Any:
    """JSON texts are equal when they say the same."""
    if isinstance(value, str) and value.startswith("{"):
        return json.dumps(json.loads(value, parse_float=Decimal), sort_keys=True, default=str)
    return value


def as_timelines(slices: Counter[tuple[Any, ...]]) -> Counter[tuple[Any, ...]]:
    """Ops of a session, which are written with category, node and type as TensorFlow's Timeline has them."""
    names = [column.strip() for column in ROWS["slice"].split(",")]
    at = {name: 4 + number for number, name in enumerate(names)}
    found: Counter[tuple[Any, ...]] = Counter()
    for row, number in slices.items():
        told = {"name": row[at["op_name"]], "op": row[at["op_type"]] or "unknown"}
        new = list(row)
        new[at["category"]] = "Op"
        new[at["args_json"]] = canonical(json.dumps({**told, **json.loads(row[at["args_json"]] or "{}")}))
        found[tuple(new)] += number
    return found


def check(path: Path, folder: Path) -> dict[str, Any]:
    """Exports and reads back; returns what was in it."""
    with trace.open(path, cache=False) as opened:
        exporters.write(opened, folder / "back.json")
    before, after = facts(path), facts(folder / "back.json")
    if path.suffix == ".pb" and ".xplane" not in path.name:
        before["slice"] = as_timelines(before["slice"])
    for table in before:
        assert after[table] == before[table], table
    return before


@pytest.mark.parametrize(
    "name",
    some(
        [
            "profiler_hook/timeline-5.json",
            "tf_data/map_py_function.xplane.pb",
            "run_metadata/two_servers.pb",
            "run_metadata/xla_cluster.pb",
        ],
        ("tf_data/map_py_function.xplane.pb", "run_metadata/two_servers.pb"),
        "a profile and the graphs of two hosts differ most",
    ),
)
def test_samples(tmp_path: Path, name: str) -> None:
    assert check(corpus.SAMPLES / name, tmp_path)["slice"]


CORPUS = [
    "tf1/resnet14_ref/run_meta_0005.pb",
    "tf1/dist_ps/run_meta.pb",
    "torch/trace_full.json",
    "jax/trace/plugins/profile/2026_11_20_08_48_26/vm.trace.json.gz",
    "accelerators/kineto-gpu/benchmark_result_493459_1694039959_trace.json.gz",
    "tfdata/interleave_sequential_gzip/plugins/profile/2026_11_20_08_38_58/vm.xplane.pb",
]


@pytest.mark.repeats("not among the samples")
@pytest.mark.parametrize("name", CORPUS)
def test_corpus(tmp_path: Path, name: str) -> None:
    assert check(corpus.path(name), tmp_path)["slice"]


DAY_PS = 86_400 * 10**12
UNIX_PS = 1_795_163_227_337_279 * 10**6
events = st.tuples(
    st.sampled_from("XXXiC"),
    st.integers(0, 1),
    st.integers(-50_000_000, 50_000_000),
    st.integers(0, 9_000_000),
)
recordings = st.tuples(
    st.sampled_from([0, 0, -3 * 10**12, 90_000 * 10**12, 3 * DAY_PS, UNIX_PS]),
    st.lists(events, min_size=1, max_size=6),
)


def drawn(path: Path, recording: tuple[int, list[tuple[str, int, int, int]]]) -> None:
    """A Chrome trace whose events lie around a moment, to the picosecond, in the order of time."""
    zero, told = recording
    texts = []
    for number, (phase_, tid, ts_ps, dur_ps) in enumerate(sorted(told, key=lambda event: event[2])):
        event = {"ph": phase_, "name": f"e{number}", "pid": 1, "tid": tid, "args": {"n": number}}
        moment = f'"ts":{Decimal(zero + ts_ps).scaleb(-6):f}'
        length = f',"dur":{Decimal(dur_ps).scaleb(-6):f}' if phase_ == "X" else ""
        texts.append(f"{json.dumps(event)[:-1]},{moment}{length}}}")
    path.write_text('{"traceEvents":[' + ",\n".join(texts) + "]}")


@pytest.mark.repeats("drawn, beside the samples")
@given(recordings)
@settings(deadline=None, max_examples=cases(5, 20))
def test_drawn_recordings_keep_their_times(tmp_path_factory: pytest.TempPathFactory, recording: Any) -> None:
    """Those that begin before their own zero as well, and those whose zero lies days back."""
    folder = tmp_path_factory.mktemp("drawn")
    drawn(folder / "one.json", recording)
    with trace.open(folder / "one.json", cache=False) as opened:
        exporters.write(opened, folder / "back.json")
    document, written = load(folder / "back.json")
    assert all(event["ts"] >= 0 for event in written if "ts" in event)
    assert document["stepscopeOriginMicroseconds"] >= 0
    before, after = facts(folder / "one.json"), facts(folder / "back.json")
    for table in before:
        assert after[table] == before[table], table


MERGED = "name, ts_ps, 'X' AS kind, dur_ps FROM slice", "name, ts_ps, kind, 0 AS dur_ps FROM instant"


@pytest.mark.repeats("merges of recordings that are drawn")
@given(st.lists(recordings, min_size=2, max_size=3))
@settings(deadline=None, max_examples=cases(3, 12))
def test_drawn_recordings_merged_lie_where_the_layout_says(
    tmp_path_factory: pytest.TempPathFactory, told: list[Any]
) -> None:
    """Counted from the zero of the first of those on a common clock; a merged file has one origin."""
    folder = tmp_path_factory.mktemp("merged")
    (folder / "in").mkdir()
    for number, recording in enumerate(told):
        drawn(folder / "in" / f"r{number}.json", recording)
    rows = " UNION ALL ".join(f"SELECT source_id, {columns}" for columns in MERGED)
    with trace.open(folder / "in", cache=False) as opened:
        layout = lay_out(opened, events_by_source(opened))
        shifts = {place.source_id: place.shift_ps - layout.origin_us * 10**6 for place in layout.places}
        expected = sorted((row[1], row[2] + shifts[row[0]], *row[3:]) for row in opened.query(rows).rows())
        exporters.write(opened, folder / "back.json")
    with trace.open(folder / "back.json", cache=False) as opened:
        assert sorted(tuple(row[1:]) for row in opened.query(rows).rows()) == expected
        (origin,) = opened.query("SELECT origin_unix_ns FROM capture").rows()[0]
        if layout.base_unix_ns is not None:
            assert origin == layout.base_unix_ns + layout.origin_us * 1000


def test_packed_is_the_same(tmp_path: Path) -> None:
    sample = corpus.SAMPLES / "profiler_hook" / "timeline-5.json"
    with trace.open(sample, cache=False) as opened:
        exporters.write(opened, tmp_path / "back.json.gz")
    assert facts(tmp_path / "back.json.gz") == facts(sample)


def test_merged_steps_have_the_arrows_of_the_parts_each_within_its_step(tmp_path: Path) -> None:
    folder = corpus.SAMPLES / "profiler_hook"
    with trace.open(folder, cache=False) as opened:
        written = exporters.write(opened, tmp_path / "all.json")
    assert written.notes == ()
    _, merged = load(tmp_path / "all.json")
    process = names(merged, "process_name")
    step_of = {pid: name.split(":")[0] for pid, name in process.items()}
    assert set(step_of.values()) == {"timeline-5", "timeline-10", "timeline-15", "timeline-20"}
    parts = {path.stem: load(path)[1] for path in folder.glob("*.json")}
    for phases in ("s", "t", "N", "O", "D", "X", "C"):
        counts = Counter(step_of[event["pid"]] for event in phase(merged, phases))
        assert counts == {step: len(phase(events, phases)) for step, events in parts.items()}, phases
    for phases in ("st", "NOD"):
        steps: dict[Any, set[str]] = {}
        for event in phase(merged, *phases):
            steps.setdefault(event["id"], set()).add(step_of[event["pid"]])
        assert all(len(found) == 1 for found in steps.values())
        alone = sum(len({event["id"] for event in phase(events, *phases)}) for events in parts.values())
        assert len(steps) == alone
    # Steps keep their places in time: what TensorFlow wrote in Unix microseconds, to the microsecond.
    head, _ = load(tmp_path / "all.json")
    base_us = Decimal(head["baseTimeNanoseconds"]) / 1000
    for step, events in parts.items():
        ours = Counter(base_us + e["ts"] for e in phase(merged, "X") if step_of[e["pid"]] == step)
        assert ours == Counter(Decimal(e["ts"]) for e in phase(events, "X"))
