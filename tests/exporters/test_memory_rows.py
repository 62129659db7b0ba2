"""Memory in an exported trace: counters and blocks against the records of allocators, added up by hand."""

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stepscope import exporters, library
from stepscope.cli import main
from stepscope.instruments.memory.blocks import MemoryBlock
from stepscope.instruments.memory.lanes import pack
from stepscope.session.trace import open as open_trace
from tests import corpus
from tests.exporters.read import Event, load, names, phase, ps
from tests.exporters.test_perfetto import perfetto

TWO_SERVERS = corpus.SAMPLES / "run_metadata" / "two_servers.pb"
SERVER = "/job:worker/replica:0/task:0/device:CPU:0"


def memory_of(events: list[Event]) -> dict[str, tuple[list[Event], list[Event]]]:
    """Counters and blocks by the process they stand under."""
    found: dict[str, tuple[list[Event], list[Event]]] = {}
    for pid, name in names(events, "process_name").items():
        if " memory: " in name:
            mine = [event for event in events if event.get("pid") == pid]
            found[name] = (phase(mine, "C"), phase(mine, "X"))
    return found


def moves_of(path: Path) -> dict[str, list[tuple[int, int]]]:
    """Unix picoseconds and bytes by process, read with TensorFlow's own classes; what frees comes last."""
    reference = pytest.importorskip(
        "tests.formats.reference_step_stats", reason="TensorFlow is the reference"
    )
    moves: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for device in reference.run_metadata(path.read_bytes()).step_stats.dev_stats:
        for node in device.node_stats:
            for memory in node.memory:
                name = f"{device.device} memory: {memory.allocator_name}"
                for one in memory.allocation_records:
                    moves[name].append((one.alloc_micros * 10**6, one.alloc_bytes))
    return {name: sorted(all_, key=lambda move: (move[0], -move[1])) for name, all_ in moves.items()}


@pytest.mark.parametrize(
    "path", [TWO_SERVERS, "tf1/resnet14_ref/run_meta_0005.pb", "tf1/dist_ps/run_meta.pb"], ids=str
)
def test_counters_and_blocks_are_what_the_allocators_recorded(path: Any, tmp_path: Path) -> None:
    path = corpus.path(path) if isinstance(path, str) else path
    with open_trace(path, cache=False) as opened:
        written = exporters.write(opened, tmp_path / "out.json", leave_out=frozenset())
        last = opened.query("SELECT max(ts_ps + dur_ps) FROM slice").rows()[0][0]
    document, events = load(tmp_path / "out.json")
    origin = document["baseTimeNanoseconds"] * 1000
    found, wanted = memory_of(events), moves_of(path)
    assert found.keys() == wanted.keys()
    for name, (counters, blocks) in found.items():
        now, curve = 0, []
        for ts, delta in wanted[name]:
            now += delta
            curve.append((ts, now))
        told = [(origin + ps(event["ts"]), event["args"]["bytes"]) for event in counters]
        # Within a moment any order will do that allocates before it frees.
        assert [ts for ts, _ in told] == [ts for ts, _ in curve]
        assert dict(told) == dict(curve)
        assert max(size for _, size in told) == max(size for _, size in curve)
        born = Counter(ts for ts, delta in wanted[name] if delta > 0)
        assert Counter(origin + ps(event["ts"]) for event in blocks) == born
        assert sum(event["args"]["bytes"] for event in blocks) == sum(d for _, d in wanted[name] if d > 0)
        freed = [event for event in blocks if "freed" not in event["args"]]
        ends = Counter(origin + ps(event["ts"]) + ps(event["dur"]) for event in freed)
        assert ends == Counter(ts for ts, delta in wanted[name] if delta < 0)
        for event in blocks:
            if "freed" in event["args"]:
                assert ps(event["ts"]) + ps(event["dur"]) >= last
    assert written.rows["buffer"] == sum(len(blocks) for _, blocks in found.values())


def test_lanes_never_hold_two_blocks_and_say_what_they_are(tmp_path: Path) -> None:
    with open_trace(TWO_SERVERS, cache=False) as opened:
        exporters.write(opened, tmp_path / "out.json", leave_out=frozenset())
    _, events = load(tmp_path / "out.json")
    for _, blocks in memory_of(events).values():
        last: dict[int, int] = {}
        for event in sorted(blocks, key=lambda event: ps(event["ts"])):
            assert ps(event["ts"]) >= last.get(event["tid"], 0)
            last[event["tid"]] = ps(event["ts"]) + ps(event["dur"])
    lanes = [e for e in phase(events, "M") if e["args"].get("records") == "annotation"]
    assert {event["args"]["kind"] for event in lanes} == {"derived"}
    numbers = [(e["pid"], e["tid"]) for e in phase(events, "M") if e["name"] == "thread_name"]
    assert len({tid for _, tid in numbers} | {pid for pid, _ in numbers}) == len(numbers) + len(
        {pid for pid, _ in numbers}
    )


def test_reading_it_back_adds_nothing_to_the_work(tmp_path: Path) -> None:
    busy = library.entry("busy_by_device")
    with open_trace(TWO_SERVERS, cache=False) as opened:
        exporters.write(opened, tmp_path / "out.json", leave_out=frozenset())
        answer = opened.ask(busy)
        before, columns = answer.rows(), answer.columns
    with open_trace(tmp_path / "out.json", cache=False) as opened:
        after = opened.ask(busy).rows()
        exporters.write(opened, tmp_path / "again.json", leave_out=frozenset())
    shown = [place for place, name in enumerate(columns) if name.endswith(("_ps", "slices"))]
    picked = [[row[place] for place in shown] for row in before]
    assert shown
    assert picked
    assert picked == [[row[place] for place in shown] for row in after]
    _, first = load(tmp_path / "out.json")
    _, again = load(tmp_path / "again.json")
    assert {name: len(phase(first, name)) for name in "XCsf"} == {
        name: len(phase(again, name)) for name in "XCsf"
    }


@pytest.mark.repeats("another form")
def test_parts_can_be_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.json"
    seen = {}
    for flags in (
        (),
        ("--no-show-memory",),
        ("--no-show-dataflow", "--show-memory"),
        ("--show-memory", "--show-dataflow"),
    ):
        assert main(["export", str(TWO_SERVERS), "-o", str(out), "--force", *flags]) == 0
        seen[flags] = Counter(event["ph"] for event in load(out)[1])
    assert seen[()] == seen["--no-show-memory",]
    assert seen[()]["C"] == 0 < seen[()]["s"]
    assert seen["--show-memory", "--show-dataflow"]["C"] > 0
    assert seen["--show-memory", "--show-dataflow"]["s"] == seen[()]["s"]
    assert (
        seen["--no-show-dataflow", "--show-memory"]["s"]
        == 0
        < seen["--no-show-dataflow", "--show-memory"]["C"]
    )
    assert main(["export", str(TWO_SERVERS), "-o", str(tmp_path / "x.csv"), "--no-show-memory"]) == 2
    assert "Only a Chrome trace" in capsys.readouterr().err


@pytest.mark.repeats("exporters/test_perfetto.py reads an export with Perfetto")
def test_perfetto_shows_counters_and_blocks(tmp_path: Path) -> None:
    with open_trace(TWO_SERVERS, cache=False) as opened:
        exporters.write(opened, tmp_path / "out.json", leave_out=frozenset())
        size, blocks = opened.query(
            "SELECT CAST(sum(bytes) AS BIGINT), count(*) FROM buffer WHERE at_peak"
            f" AND device = '{SERVER}' AND allocator = (SELECT min(allocator) FROM buffer"
            f" WHERE device = '{SERVER}')"
        ).rows()[0]
    rows = perfetto(
        tmp_path / "out.json",
        "SELECT max(c.value) AS most FROM counter c JOIN process_counter_track t ON t.id = c.track_id"
        f" JOIN process p USING (upid) WHERE p.name LIKE '{SERVER} memory%'",
        "SELECT count(*) AS n FROM slice WHERE category = 'Memory'",
    )
    assert blocks
    assert rows[0]["most"] == size
    assert rows[1]["n"] == sum(len(b) for _, b in memory_of(load(tmp_path / "out.json")[1]).values())


TIMES = st.one_of(st.none(), st.integers(0, 9))


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.integers(1, 4), TIMES, TIMES), max_size=14), st.integers(1, 5))
def test_drawn_blocks(drawn: list[tuple[int, int | None, int | None]], most: int) -> None:
    blocks = [
        MemoryBlock(size, born, freed if None in (born, freed) or freed >= born else born)  # type: ignore[operator]
        for size, born, freed in drawn
    ]
    lanes = pack(blocks, most)
    assert all(lane is None or 0 <= lane < most for lane in lanes)

    def meet(one: MemoryBlock, other: MemoryBlock) -> bool:
        begin = max(-1 if b.born_ps is None else b.born_ps for b in (one, other))
        ends = [99 if b.freed_ps is None else b.freed_ps for b in (one, other)]
        return begin < min(ends)

    for at, (one, lane) in enumerate(zip(blocks, lanes, strict=True)):
        for other, same in zip(blocks[:at], lanes[:at], strict=True):
            assert lane is None or lane != same or not meet(one, other)
    # Nothing is left out for something smaller, and nothing that fits.
    order = sorted(range(len(blocks)), key=lambda index: (-blocks[index].bytes, index))
    drawn_first = [lanes[index] is not None for index in order]
    assert drawn_first == sorted(drawn_first, reverse=True)
    if None in lanes:
        kept = [blocks[index] for index in order if lanes[index] is not None]
        first_out = blocks[order[len(kept)]]
        assert None in pack([*kept, first_out], most)
    elif not blocks:
        assert lanes == []
