"""XPlane: equal to TensorFlow's own reading on real recordings."""

import functools
import gzip
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from stepscope import _core
from stepscope.formats import xplane
from stepscope.sources.head import Peek, peek
from stepscope.sources.names import packless
from tests import corpus
from tests.each import each
from tests.formats import xplane_reference as reference
from tests.formats.xplane_reference import Slice
from tests.tiers import some

SAMPLE = corpus.SAMPLES / "xplane" / "tf2_trace_on.xplane.pb"


def peeked(path: Path) -> Peek:
    """The beginning of a file as a format is shown it: unpacked, whatever the name says."""
    with path.open("rb") as file:
        return peek(file)


PIPELINES = ("tfdata/keras_fit_slow_map", "tfdata/mirrored_slow_map")
"""Two of tf.data: of Keras, and of a strategy with two replicas."""
RECORDINGS = [
    path
    for path in corpus.files("**/*.xplane.pb")
    if path.is_file() and "damaged" not in path.parts and peeked(path).packing is None
]


def decode(data: bytes | Path, threads: int = 2, **how: Any) -> Any:
    """A store in memory."""
    source = _core.Input.file(str(data)) if isinstance(data, Path) else _core.Input.bytes(data)
    return _core.decode("xplane", source, threads=threads, **how)


@functools.lru_cache(maxsize=1 << 16)
def same_text(args: str) -> str:
    """JSON as Python writes it: numbers have several spellings."""
    return json.dumps(json.loads(args))


def slices(store: Any) -> Counter[Slice]:
    """The slices in the shape of the reference."""
    tracks = {track["id"]: track for track in store.rows("track")}
    found: Counter[Slice] = Counter()
    for row in store.rows("slice"):
        track = tracks[row["track_id"]]
        args = same_text(row["args_json"]) if row["args_json"] else None
        place = (track["process"], track["name"], track["origin"])
        found[Slice(*place, row["name"], row["ts_ps"], row["dur_ps"], args)] += 1
    return found


def check(data: bytes | Path, store: Any) -> None:
    """The store says what protobuf says."""
    space = reference.parse(data if isinstance(data, bytes) else data.read_bytes())
    expected = reference.slices(space)
    found = slices(store)
    assert found == expected
    facts = store.facts
    assert facts["events_seen"] == facts["events_stored"] == sum(expected.values())
    assert facts["events_lost"] == 0
    assert facts["origin_unix_ns"] == reference.start_unix_ns(space)


def test_there_are_recordings_to_compare_with() -> None:
    assert len(RECORDINGS) >= len(corpus.shipped()) == 20


@pytest.mark.repeats("reads recordings that do not ship")
@pytest.mark.skipif(corpus.ROOT != corpus.FULL, reason="no corpus beside the clone: ../shared/corpus")
def test_samples_are_what_the_corpus_holds() -> None:
    for sample, name in corpus.shipped().items():
        assert corpus.read(sample) == corpus.path(name).read_bytes(), sample


def _folder(path: Path) -> str:
    return "/".join(path.relative_to(corpus.ROOT).parts[:2])


@pytest.mark.parametrize(
    "path",
    some(
        RECORDINGS,
        [one for one in RECORDINGS if not _folder(one).startswith("tfdata/") or _folder(one) in PIPELINES],
        "another pipeline of tf.data, by the same program",
    ),
    ids=_folder,
)
def test_equals_protobuf(path: Path) -> None:
    check(path, decode(path))


def test_sample_equals_protobuf() -> None:
    check(SAMPLE, decode(SAMPLE))


def test_gzip_gives_the_same_rows() -> None:
    plain = decode(SAMPLE)
    packed = _core.decode("xplane", _core.Input.bytes(gzip.compress(SAMPLE.read_bytes()), codec="gzip"))
    for table in plain.tables():
        assert packed.rows(table) == plain.rows(table)


def test_stream_gives_the_same_rows() -> None:
    plain = decode(SAMPLE)
    with SAMPLE.open("rb") as file:
        streamed = _core.decode("xplane", _core.Input.reader(file))
    assert streamed.rows("slice") == plain.rows("slice")


@pytest.mark.repeats("the core reads planes with the threads that there are")
@pytest.mark.parametrize("threads", [1, 3, 8])
def test_threads_change_nothing(threads: int) -> None:
    path = corpus.path("tfdata/mirrored_slow_map/plugins/profile/2026_11_20_08_40_34/vm.xplane.pb")
    two, other = decode(path, threads=2), decode(path, threads=threads)
    assert other.tables() == two.tables()
    for table in two.tables():
        assert other.rows(table) == two.rows(table)
    assert other.facts == two.facts


def test_slices_lie_in_nesting_order() -> None:
    rows = decode(corpus.path("xla/profile_jit/plugins/profile/2026_11_20_08_46_19/vm.xplane.pb")).rows(
        "slice"
    )
    keys = [(row["track_id"], row["ts_ps"], -row["dur_ps"]) for row in rows]
    assert keys == sorted(keys)
    assert any(row["parent_id"] is not None for row in rows)


def test_arrows_join_what_carries_the_same_type_and_id() -> None:
    store = decode(corpus.path("tfdata/keras_fit_slow_map/plugins/profile/2026_11_20_08_40_40/vm.xplane.pb"))
    args = {row["id"]: json.loads(row["args_json"] or "{}") for row in store.rows("slice")}
    arrows: dict[tuple[int, int], set[int]] = defaultdict(set)
    ends: Counter[str] = Counter()
    for row in store.rows("flow"):
        told = args[row["slice_id"]]
        key = ("_pt", "_p") if row["phase"] == "start" else ("_ct", "_c")
        arrows[told[key[0]], told[key[1]] & (2**64 - 1)].add(row["flow_id"])
        ends[row["phase"]] += 1
    assert all(len(numbers) == 1 for numbers in arrows.values())
    numbers = sorted(number for one in arrows.values() for number in one)
    assert numbers == list(range(len(arrows)))
    assert ends["start"] == sum("_p" in told and "_pt" in told for told in args.values())
    assert ends["end"] == sum("_c" in told and "_ct" in told for told in args.values())


def test_candidates_for_steps() -> None:
    store = decode(corpus.path("tfdata/keras_fit_slow_map/plugins/profile/2026_11_20_08_40_40/vm.xplane.pb"))
    tracks = {row["id"]: row["name"] for row in store.rows("track")}
    names = Counter((tracks[row["track_id"]], row["name"]) for row in store.rows("marker"))
    assert names == {("python", "multi_step_on_iterator"): 20, ("python", "FunctionRun"): 20}
    jax = decode(corpus.path("jax/trace/plugins/profile/2026_11_20_08_48_26/vm.xplane.pb"))
    assert [row["step"] for row in jax.rows("marker") if row["name"] == "train"] == [0, 1, 2, 3, 4]
    assert jax.facts["producer"] == "jax"


def test_marks_are_told_without_args() -> None:
    path = corpus.path("jax/trace/plugins/profile/2026_11_20_08_48_26/vm.xplane.pb")
    lean, full = decode(path, needs=["nesting", "tables"]), decode(path)
    assert lean.rows("marker") == full.rows("marker")
    assert all(row["args_json"] is None for row in lean.rows("slice"))
    for column in ("name", "ts_ps", "dur_ps", "op_name", "op_type", "depth"):
        assert [row[column] for row in lean.rows("slice")] == [row[column] for row in full.rows("slice")]


def test_ops_of_tensorflow_and_xla() -> None:
    store = decode(corpus.path("xla/profile_jit/plugins/profile/2026_11_20_08_46_19/vm.xplane.pb"))
    rows = store.rows("slice")
    assert any(row["op_name"] and row["name"] == f"{row['op_name']}:{row['op_type']}" for row in rows)
    for row in rows:
        told = json.loads(row["args_json"] or "{}").get("hlo_op")
        if told is not None:
            assert row["op_name"] == told


def test_metadata_planes_become_facts_and_instants() -> None:
    store = decode(corpus.path("jax/trace/plugins/profile/2026_11_20_08_48_26/vm.xplane.pb"))
    meta = store.facts["meta"]
    assert meta["host"] == meta["hostname"] == "vm"
    assert meta["jax_version"] == "0.10.2"
    assert int(meta["profile_start_time"]) == store.facts["origin_unix_ns"]
    programs = {row["name"]: json.loads(row["args_json"]) for row in store.rows("instant")}
    assert programs["jit__lambda(14)"]["program_id"] == 14
    assert programs["jit__lambda(14)"]["Hlo Proto"] == {"bytes": 237513}


def test_sniffs_xplane_and_nothing_else() -> None:
    head = SAMPLE.read_bytes()[:65536]
    assert xplane.sniff(head, "anything")
    for path in [*corpus.files("**/*"), *sorted(corpus.SAMPLES.rglob("*"))]:
        if path.is_file():
            assert xplane.sniff(peeked(path).head, "x") == packless(path.name).endswith(".xplane.pb"), path


@each("data", [b"", b"\n", b"{}", b"\n\x00", b"\x0a\x02\x08\x01", b"\x1f\x8b\x08", bytes(100)])
def test_sniffs_no_rubbish(data: bytes) -> None:
    assert not xplane.sniff(data, "x")
