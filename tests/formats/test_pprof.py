"""pprof's profiles: processor time as slices, memory as what stacks hold, against an independent reading."""

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stepscope
from stepscope import formats
from stepscope.cli import main
from tests import corpus
from tests.asked import ask
from tests.formats import pprof_reference as reference
from tests.formats.pprof_reference import wire, write
from tests.tiers import cases

MS = 10**9
CPU = [("samples", "count"), ("cpu", "nanoseconds")]
HEAP = [("allocations", "count"), ("space", "bytes")]
NOTES = "SELECT slug, events FROM source_note WHERE slug <> 'no-steps' ORDER BY slug"


def saved(folder: Path, data: bytes, name: str = "cpu.pb.gz") -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def test_processor_time_is_laid_out_stack_after_stack(tmp_path: Path) -> None:
    samples = [
        ("main;step", [2, 20 * 10**6], {}),
        ("main;load", [1, 10**7], {}),
        ("main", [1, 5 * 10**6], {}),
    ]
    path = saved(tmp_path, write(CPU, samples))
    assert ask(path, "SELECT name, ts_ps, dur_ps, self_ps, depth FROM slice ORDER BY id") == [
        ("main (train.py:1)", 0, 35 * MS, 5 * MS, 0),
        ("load (train.py:3)", 5 * MS, 10 * MS, 10 * MS, 1),
        ("step (train.py:2)", 15 * MS, 20 * MS, 20 * MS, 1),
    ]
    assert ask(path, NOTES) == [("samples-without-times", 3)]


def test_a_device_without_a_name_is_not_called_by_a_number(tmp_path: Path) -> None:
    """Old JAX left it empty, which is written as the number 0 is."""
    path = saved(tmp_path, write(HEAP, [("main;step", [1, 4096], {"kind": "buffer", "device": ""})]))
    with stepscope.open(path) as trace:
        assert (
            trace.summary().headline[0] == "4.00 KiB was held when the profile was taken: 4.00 KiB buffers."
        )


GO = [
    ("alloc_objects", "count"),
    ("alloc_space", "bytes"),
    ("inuse_objects", "count"),
    ("inuse_space", "bytes"),
]


def test_what_was_allocated_and_freed_is_not_held(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Go's profiles of allocations have both, and are about what was allocated: their third text."""
    samples = [("main", [900, 900 * 2**20, 3, 3 * 2**20], {})]
    both = saved(tmp_path, write(GO, samples, wire(14, 3)), "allocs.pb.gz")
    assert main([str(both)]) == 0
    assert "3.00 MiB was held when the profile was taken." in capsys.readouterr().out
    given = saved(tmp_path, write(GO[:2], [("main", [900, 900 * 2**20], {})]), "given.pb.gz")
    assert main([str(given)]) == 2
    refusal = capsys.readouterr().err
    assert "it has only alloc_space" in refusal
    assert "inuse_space" in refusal


def test_threads_are_rows(tmp_path: Path) -> None:
    samples = [("main", [1, 10**6], {"thread": "MainThread"}), ("read", [1, 10**6], {"thread": "Loader"})]
    path = saved(tmp_path, write(CPU, samples), "cpu.prof")
    told = ask(path, "SELECT t.name, s.name, s.ts_ps FROM slice AS s, track AS t WHERE t.id = s.track_id")
    assert sorted(told) == [("Loader", "read (train.py:2)", 0), ("MainThread", "main (train.py:1)", 0)]


@pytest.mark.parametrize(
    ("types", "more", "ms"),
    [
        ([("samples", "count")], b"", 3),
        ([("wall", "microseconds"), ("cpu", "milliseconds")], b"", 3),
        ([("cpu", "seconds"), ("wall", "count")], b"", 7000),
    ],
)
def test_which_value_is_shown(tmp_path: Path, types: list, more: bytes, ms: int) -> None:
    """The last one of time; a count stands for a millisecond where no period is told."""
    values = [7, 3][-len(types) :]
    path = saved(tmp_path, write(types, [("main", values, {})], more))
    assert ask(path, "SELECT dur_ps FROM slice") == [(ms * MS,)]


def test_the_period_of_counts(tmp_path: Path) -> None:
    """texts of write(): 0 "", 1 samples, 2 count, 3 train.py or main."""
    data = write([("samples", "count"), ("time", "ns")], [("main", [4], {})])
    period = wire(11, wire(1, 3) + wire(2, 4)) + wire(12, 10 * 10**6)
    only_counts = data.replace(wire(1, wire(1, 3) + wire(2, 4)), b"", 1)
    path = saved(tmp_path, only_counts + period)
    assert ask(path, "SELECT dur_ps FROM slice") == [(40 * MS,)]


def held(path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["memory", str(path), "--format", "json", "--no-cache"]) == 0
    (allocator,) = json.loads(capsys.readouterr().out)["allocators"]
    return allocator


def test_memory_is_what_stacks_hold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    labels = {"device": "gpu:0", "kind": "buffer"}
    samples = [("main;init", [1, 4096], labels), ("main;step", [2, 512], labels)]
    path = saved(tmp_path, write(HEAP, samples), "memory.prof")
    told = held(path, capsys)
    assert (told["device"], told["peak_bytes"]) == ("gpu:0", 4608)
    by_line = {row["name"]: row["bytes"] for row in told["at_peak"]["by_code"]}
    assert by_line == {"train.py:2 init": 4096, "train.py:3 step": 512}
    main([str(path), "--no-cache"])
    assert "gpu:0 held 4.50 KiB when the profile was taken: 4.50 KiB buffers." in capsys.readouterr().out


def test_executables_of_unknown_size_are_not_lost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As the runtime of TPUs writes them: -1 byte each, those of a stack added up."""
    buffer, executable = {"device": "TPU_0", "kind": "buffer"}, {"kind": "executable"}
    samples = [
        ("main;step", [1, 4096], buffer),
        ("main", [1, -1], executable),
        ("main;init", [2, -2], executable),
    ]
    path = saved(tmp_path, write(HEAP, samples), "memory.prof")
    assert ask(path, NOTES) == [("size-unknown", 2)]
    assert ask(path, "SELECT events_seen, events_stored, events_lost FROM source") == [(3, 3, 0)]
    main([str(path), "--no-cache"])
    assert "TPU_0 held 4.00 KiB when the profile was taken" in capsys.readouterr().out


def test_values_below_zero_of_arrays_are_lost(tmp_path: Path) -> None:
    samples = [("main", [1, 512], {"kind": "buffer"}), ("main", [1, -1], {"kind": "buffer"})]
    path = saved(tmp_path, write(HEAP, [*samples, ("main", [1, -2], {"kind": "executable"})]), "memory.prof")
    assert ask(path, NOTES) == [("negative-duration", 2)]


def test_go_writes_the_period_of_a_heap_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = write([("inuse_objects", "count"), ("inuse_space", "bytes")], [("main;grow", [3, 3 << 20], {})])
    path = saved(tmp_path, wire(11, wire(1, 3) + wire(2, 4)) + wire(12, 524288) + whole, "heap.pb.gz")
    assert held(path, capsys)["peak_bytes"] == 3 << 20


@pytest.mark.repeats("reads recordings that do not ship")
def test_go_writes_when_a_profile_of_time_began_first(tmp_path: Path) -> None:
    data = wire(9, 1_537_130_863_468_834_518) + write(CPU, [("main", [1, 10**7], {})])
    assert ask(saved(tmp_path, data, "simple.prof"), "SELECT name, dur_ps FROM slice") == [
        ("main (train.py:1)", 10 * MS)
    ]


def test_jax_says_what_its_devices_hold(capsys: pytest.CaptureFixture[str]) -> None:
    path = corpus.path("jax/memory.prof")
    told = held(path, capsys)
    twin = reference.stacks(path.read_bytes(), 1)
    assert told["peak_bytes"] == sum(twin.values())
    own: Counter[str] = Counter()
    for stack, size in twin.items():
        own[stack[-1]] += size
    assert {row["name"]: row["bytes"] for row in told["at_peak"]["by_op"]} == +own


def test_own_exports_come_back(tmp_path: Path) -> None:
    """The self time of each name, which is what both forms hold."""
    path, out = corpus.SAMPLES / "profile" / "py_spy.speedscope.json", tmp_path / "own.pb.gz"
    assert main(["export", str(path), "-o", str(out), "--no-cache"]) == 0
    sums = "SELECT name, sum(self_ps) FROM slice GROUP BY name ORDER BY name"
    assert ask(out, sums) == ask(path, sums)


def test_what_is_odd_is_told(tmp_path: Path) -> None:
    data = write(CPU, [("main", [1, -5], {}), ("main", [1, 10**6], {})])
    stray = wire(2, wire(1, [99]) + wire(2, [1, 10**6]))
    path = saved(tmp_path, data + stray + b"\x32\x7fcut")
    assert ask(path, "SELECT name FROM slice ORDER BY name") == [("main (train.py:1)",), ("place 99",)]
    assert [slug for slug, _ in ask(path, NOTES)] == [
        "negative-duration", "samples-without-times", "truncated", "unnamed-metadata",
    ]  # fmt: skip
    told = ask(path, "SELECT events_seen - events_stored - events_lost, events_lost FROM source")
    assert told == [(0, 1)]


def test_other_messages_are_no_profiles() -> None:
    one = next(one for one in formats.formats() if one.NAME == "pprof")
    assert one.sniff(write(CPU, [("main", [1, 1], {})]), "x")
    assert one.sniff(write(CPU, [("main", [1, 1], {})] * 9999)[:65536], "x")
    for data in (b"", b"\n", b"\n\x04\x08\x01\x10\x02" + b"\xff" * 50):
        assert not one.sniff(data, "memory.prof")


WHOLE = write(CPU, [("main;step", [2, 10**6], {"thread": "a"}), ("main", [1, 10**6], {"thread": "b"})])
HEAPED = write(HEAP, [("main;step", [2, 2**20], {"device": "gpu"})])


@settings(max_examples=cases(10, 40), deadline=None)
@given(data=st.data(), whole=st.sampled_from([WHOLE, HEAPED]))
def test_damage_ends_in_a_result_or_in_an_error_of_ours(
    tmp_path_factory: pytest.TempPathFactory, data: Any, whole: bytes
) -> None:
    """Flipped, cut and inserted bytes: ids out of range, huge numbers, messages that end too late."""
    damaged = bytearray(whole)
    for _ in range(data.draw(st.integers(0, 5))):
        at = data.draw(st.integers(0, len(damaged) - 1))
        damaged[at : at + data.draw(st.integers(0, 1))] = data.draw(
            st.sampled_from([b"\x00", b"\xff", b"\xff" * 9 + b"\x01", b"\x0a\x05", b"\x12\x7f"])
        )
    path = saved(
        tmp_path_factory.mktemp("damaged"), bytes(damaged[: data.draw(st.integers(0, len(damaged)))])
    )
    try:
        (least,) = ask(path, "SELECT min(dur_ps) FROM slice")[0]
        assert all(size > 0 for (size,) in ask(path, "SELECT bytes FROM buffer"))
    except stepscope.errors.StepscopeError:
        return
    assert least is None or least >= 0
