"""Memory: blocks, peaks and lifetimes against counting by hand, brute force and TensorFlow's own Timeline."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stepscope
from stepscope import _core
from stepscope.cli import main
from stepscope.formats._op_log import CodeLine
from stepscope.instruments.memory import whatif
from stepscope.instruments.memory.allocators import AllocatorMemory, find
from stepscope.instruments.memory.blocks import MemoryBlock, pair
from stepscope.instruments.memory.lifetimes import DataEdge, Life, Run, Tensor, live
from stepscope.instruments.memory.moves import Move
from stepscope.instruments.memory.peak import code_of, curve, holders, op_of, peak, scope_of, tensor_of
from stepscope.presenters import scroll
from stepscope.report import memory as report
from tests import corpus
from tests.later import proto

TWO_SERVERS = corpus.SAMPLES / "run_metadata" / "two_servers.pb"
PARTITIONED = [
    "tf1/resnet14_ref/run_meta_0000.pb",
    "tf1/resnet14_ref/run_meta_0005.pb",
    "tf1/resnet32_readme/run_meta",
]


def move(
    ts: int, delta: int, address: int | None = 1, run: int | None = None, total: int | None = None
) -> Move:
    return Move(ts, delta, "bfc", "gpu", address, run, "op", "Op", total_bytes=total)


def blocks_of(moves: Sequence[Move]) -> list[tuple[int, int | None, int | None]]:
    (held,) = pair(moves)
    return [(block.bytes, block.born_ps, block.freed_ps) for block in held.blocks]


def test_addresses_pair() -> None:
    moves = [move(1, 10, 7), move(2, 20, 8), move(3, -20, 8), move(4, 5, 8), move(5, -10, 7), move(6, -3, 9)]
    assert blocks_of(moves) == [(10, 1, 5), (20, 2, 3), (5, 4, None), (3, None, 6)]


def test_without_addresses_an_execution_and_a_size_pair() -> None:
    moves = [move(1, 10, None, 1), move(2, 10, None, 2), move(3, 10, None, 1), move(4, -10, None, 1)]
    assert blocks_of(moves) == [(10, 1, 4), (10, 2, None), (10, 3, None)]


def test_totals_tell_what_was_there_before_and_what_is_missing() -> None:
    (held,) = pair([move(1, 10, 7, total=110), move(2, -10, 7, total=100), move(3, 4, 8, total=999)])
    assert (held.base_bytes, held.totals, held.contradictions) == (100, 3, 1)
    # What is freed without having been allocated is part of what was there.
    (held,) = pair([move(1, -30, 7, total=70), move(2, 1, 8, total=71)])
    assert (held.base_bytes, held.contradictions) == (70, 0)
    assert peak(held.blocks, held.base_bytes).bytes == 100


TIMES = st.one_of(st.none(), st.integers(0, 12))


@st.composite
def drawn_blocks(draw: st.DrawFn) -> list[MemoryBlock]:
    found = []
    for _ in range(draw(st.integers(0, 8))):
        born, freed = draw(TIMES), draw(TIMES)
        if born is not None and freed is not None and freed < born:
            born, freed = freed, born
        found.append(
            MemoryBlock(
                draw(st.integers(1, 9)), born, freed, draw(st.sampled_from(["a/b/c", "a/b", "d", None]))
            )
        )
    return found


BEFORE, UNTOLD = "(held before the recording began)", "(unknown op)"


@pytest.mark.parametrize(
    ("block", "op", "scopes", "tensor", "code"),
    [
        (
            MemoryBlock(
                8, 1, 2, "a/b/c", slot=1, dtype="DT_FLOAT", shape=(8, 2), code=CodeLine("t.py", 3, "f")
            ),
            "a/b/c",
            ["a", "a/b", "a/b"],
            "a/b/c:1 float [8, 2]",
            "t.py:3 f",
        ),
        (
            MemoryBlock(8, 1, 2, "d", shape=(), code=CodeLine("t.py", 3, None)),
            "d",
            ["d", "d", "d"],
            "d  []",
            "t.py:3",
        ),
        (MemoryBlock(8, 1, 2), *("(unknown op)", ["(unknown op)"] * 3, "(unknown op)", "(line not known)")),
        (MemoryBlock(8, None, 2), BEFORE, [BEFORE] * 3, BEFORE, BEFORE),
    ],
)
def test_who_holds_a_block(block: MemoryBlock, op: str, scopes: list[str], tensor: str, code: str) -> None:
    assert op_of(block) == op
    assert [scope_of(depth)(block) for depth in (1, 2, 3)] == scopes
    assert tensor_of(block) == tensor
    assert code_of(block) == code


@given(drawn_blocks(), st.integers(0, 5))
def test_the_peak_is_what_looking_at_every_moment_finds(blocks: list[MemoryBlock], base: int) -> None:
    def at(ts: float) -> int:
        return base + sum(
            block.bytes
            for block in blocks
            if (block.born_ps is None or block.born_ps <= ts)
            and (block.freed_ps is None or block.freed_ps >= ts)
        )

    moments = [-1, *range(13), *(half + 0.5 for half in range(13))]
    found = peak(blocks, base)
    assert found.bytes == max(at(ts) for ts in moments)
    assert sum(block.bytes for block in found.blocks) + base == found.bytes
    assert sum(holder.bytes for holder in holders(found.blocks, op_of)) + base == found.bytes
    assert sum(holder.blocks for holder in holders(found.blocks, scope_of(2))) == len(found.blocks)
    points = curve(blocks, base)
    assert [ts for ts, _ in points] == sorted(ts for ts, _ in points)
    if points:
        assert points[-1][1] == base + sum(block.bytes for block in blocks if block.freed_ps is None)


@given(drawn_blocks(), st.integers(1, 30))
def test_the_plot_shows_the_peak(blocks: list[MemoryBlock], width: int) -> None:
    held = pair([])
    assert held == []
    one = a_memory(blocks)
    drawn = report.highest(one, width)
    if any(block.born_ps is not None or block.freed_ps is not None for block in blocks):
        assert len(drawn) == width
        assert max(drawn) == one.peak.bytes
        assert min(drawn) >= min(held for _, held in curve(blocks))
    else:
        assert drawn == []


def a_memory(blocks: list[MemoryBlock]) -> AllocatorMemory:
    from stepscope.instruments.memory.blocks import AllocatorBlocks

    held = AllocatorBlocks("bfc", "gpu", blocks)
    return AllocatorMemory(
        0, "r", "h", "p", "bfc", "gpu", held, peak(blocks), True, True, (), None, None, None
    )


# --- lifetimes -----------------------------------------------------------------------------------


def runs(*described: tuple[str, int, int], types: dict[str, str] | None = None) -> list[Run]:
    """Executions with one output of 100 bytes each, at an address of their own."""
    found = []
    for number, (name, begin, end) in enumerate(described):
        run = Run(number, name, (types or {}).get(name, "Op"), begin, end)
        run.outputs.append(Tensor(run, 0, 100, address=1000 + number))
        found.append(run)
    return found


def spans(lives: list[Life]) -> dict[str, tuple[int, int]]:
    return {f"{one.first.run.name}@{one.first.run.begin_ps}": (one.born_ps, one.last_use_ps) for one in lives}


def test_a_tensor_dies_with_its_last_reader() -> None:
    steps = runs(("a", 0, 5), ("b", 6, 9), ("c", 7, 20), ("d", 21, 22))
    edges = [DataEdge("a", 0, "b"), DataEdge("a", 0, "c"), DataEdge("b", 0, "d"), DataEdge("a", -1, "d")]
    assert spans(live(steps, edges)) == {"a@0": (0, 20), "b@6": (6, 22), "c@7": (7, 20), "d@21": (21, 22)}


def test_what_is_handed_on_is_one_buffer() -> None:
    steps = runs(("a", 0, 5), ("in_place", 6, 9), ("c", 10, 20))
    steps[1].outputs[0].address = steps[0].outputs[0].address
    edges = [DataEdge("a", 0, "in_place"), DataEdge("in_place", 0, "c")]
    lives = live(steps, edges)
    assert spans(lives) == {"a@0": (0, 20), "c@10": (10, 20)}
    # Timeline sees two tensors, and lets the first one die earlier.
    assert [tensor.timeline_ps() for tensor in lives[0].tensors] == [9, 20]
    # Without addresses the op type has to tell.
    for run in steps:
        run.outputs[0].address, run.outputs[0].buffer, run.outputs[0].uses = None, None, []
    steps[1].op_type = "Reshape"
    assert spans(live(steps, edges)) == {"a@0": (0, 20), "c@10": (10, 20)}


def test_fetches_and_variables_outlive_their_readers() -> None:
    types = {"v": "VariableV2", "fetch": "_Retval"}
    steps = runs(("v", 0, 1), ("a", 2, 3), ("fetch", 4, 5), ("late", 50, 60), types=types)
    lives = live(steps, [DataEdge("a", 0, "fetch"), DataEdge("v", 0, "a")])
    assert spans(lives)["a@2"] == (2, 60)
    assert [one.first.run.name for one in lives if one.lasting] == ["v"]


def test_a_loop_reads_the_latest_output() -> None:
    types = {"merge": "Merge", "next": "NextIteration", "enter": "Enter"}
    steps = runs(
        ("enter", 0, 1), ("merge", 2, 3), ("body", 4, 8), ("next", 9, 10),
        ("merge", 11, 12), ("body", 13, 17), ("next", 18, 19), ("merge", 20, 21),
        types=types,
    )  # fmt: skip
    edges = [
        DataEdge("enter", 0, "merge"),
        DataEdge("next", 0, "merge"),
        DataEdge("merge", 0, "body"),
        DataEdge("body", 0, "next"),
    ]
    found = spans(live(steps, edges))
    assert found["enter@0"] == (0, 3), "the first Merge reads it, not the later ones"
    assert found["body@4"] == (4, 10)
    assert found["next@9"] == (9, 12)
    assert found["merge@11"] == (11, 17)
    assert found["merge@20"] == (20, 21), "the body did not run again"


def test_what_is_sent_is_held_until_it_is_received() -> None:
    steps = runs(("a", 0, 1), ("send", 2, 3), ("recv", 2, 40), types={"send": "_Send", "recv": "_Recv"})
    assert spans(live(steps, [DataEdge("a", 0, "send")], {"send": "recv"}))["a@0"] == (0, 40)


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 5)), min_size=1, max_size=12), st.data())
def test_drawn_graphs(times: list[tuple[int, int]], data: st.DataObject) -> None:
    steps = runs(*((f"n{i}", begin, begin + took) for i, (begin, took) in enumerate(sorted(times))))
    pairs = data.draw(st.sets(st.tuples(st.integers(0, len(steps) - 1), st.integers(0, len(steps) - 1))))
    edges = [DataEdge(f"n{a}", 0, f"n{b}") for a, b in pairs if a < b]
    for one in live(steps, edges):
        me = one.first.run
        readers = [steps[b].end_ps for a, b in pairs if a < b and a == me.number]
        assert one.last_use_ps == max([me.end_ps, *readers])
        assert len(one.uses) == len(
            {(steps[b].begin_ps, steps[b].end_ps, b) for a, b in pairs if a < b and a == me.number}
        )


# --- whole recordings ----------------------------------------------------------------------------


def memory_of(path: Path) -> list[AllocatorMemory]:
    with stepscope.open(path, cache=False) as trace:
        return find(trace.query)


def timeline_peaks(path: Path) -> dict[str, int]:
    """The highest counter of each allocator in TensorFlow's Timeline."""
    text = _core.tf_timeline(_core.Input.file(str(path)), dataflow=False, memory=True, op_time="schedule")[0]
    found: dict[str, int] = {}
    for event in json.loads(text)["traceEvents"]:
        if event["ph"] == "C":
            for name, size in event["args"].items():
                found[name] = max(found.get(name, 0), size)
    return found


@pytest.mark.repeats("reads recordings that do not ship")
@pytest.mark.parametrize("name", PARTITIONED)
def test_lifetimes_are_what_the_allocator_recorded(name: str) -> None:
    (one,) = memory_of(corpus.path(name))
    found = one.compared
    assert found.compared >= 0.98 * found.buffers
    assert found.within >= 0.99 * found.compared
    assert found.earlier <= 1
    assert one.graph_peak.bytes == pytest.approx(one.peak.bytes, rel=0.02)


@pytest.mark.repeats("reads recordings that do not ship")
@pytest.mark.parametrize("name", PARTITIONED)
def test_timelines_guess_is_timelines(name: str) -> None:
    path = corpus.path(name)
    (one,) = memory_of(path)
    assert timeline_peaks(path) == {one.allocator: one.timeline_bytes}


@pytest.mark.repeats("reads recordings that do not ship")
@pytest.mark.parametrize(
    "name", [*PARTITIONED, "tf1/dist_ps/run_meta.pb", "tf1/resnet14_ref/run_meta_0006.pb"]
)
def test_the_peak_of_the_records_is_their_sum(name: str) -> None:
    config_pb2 = proto("core.protobuf.config_pb2")
    path = corpus.path(name)
    message = config_pb2.RunMetadata.FromString(path.read_bytes())
    records: dict[str, list[tuple[int, int, int]]] = {}
    for device in message.step_stats.dev_stats:
        for node in device.node_stats:
            for memory in node.memory:
                for record in memory.allocation_records:
                    row = (record.alloc_micros, record.alloc_bytes < 0, record.alloc_bytes)
                    records.setdefault(device.device, []).append(row)
    wanted = {}
    for device_name, rows in records.items():
        held = most = 0
        for _, _, delta in sorted(rows):
            held += delta
            most = max(most, held)
        if most:
            wanted[device_name] = most
    assert {one.device: one.peak.bytes for one in memory_of(path) if one.recorded} == wanted


def test_the_table_says_what_the_verb_says() -> None:
    with stepscope.open(TWO_SERVERS, cache=False) as trace:
        found = find(trace.query)
        rows = trace.query(
            "SELECT device, allocator, sum(bytes) FROM buffer WHERE at_peak GROUP BY device, allocator"
        ).rows()
        count = trace.query("SELECT count(*), count(DISTINCT id) FROM buffer").rows()[0]
    assert found
    assert {(one.device, one.allocator): one.peak.bytes for one in found} == {(d, a): s for d, a, s in rows}
    assert count == (sum(len(one.held.blocks) for one in found),) * 2


@pytest.mark.repeats("reads recordings that do not ship")
def test_torch_tells_totals() -> None:
    (one,) = memory_of(corpus.path("torch/trace_full.json"))
    assert (one.allocator, one.held.contradictions) == ("cpu", 0)
    assert one.held.totals > 300
    assert one.peak.bytes == 853_168
    assert {"aten::convolution_backward", "aten::mm"} <= {row.name for row in holders(one.peak.blocks, op_of)}


def test_a_profile_of_a_session() -> None:
    (one,) = memory_of(corpus.path("tf1/session_xplane"))
    # `peak_bytes_in_use` of every event in the recording.
    assert one.peak.bytes == 1_048_576
    assert one.held.base_bytes == 524_288
    assert not one.never_freed


# --- what if -------------------------------------------------------------------------------------


def activation(
    name: str, born: int, freed: int, uses: Sequence[tuple[int, int]], size: int = 100
) -> MemoryBlock:
    reads = tuple((begin, end, "reader") for begin, end in uses)
    return MemoryBlock(
        size, born, freed, name, "Relu", 0, kind="output", slot=0, dtype="DT_FLOAT", shape=(8, 4), uses=reads
    )


def test_recomputing_drops_what_nobody_reads_around_the_peak() -> None:
    kept = MemoryBlock(50, 20, 30, "top", "MatMul", kind="output", slot=0, dtype="DT_FLOAT", shape=(8, 2))
    one = a_memory([activation("relu", 0, 60, [(5, 10), (40, 60)]), kept])
    assert one.peak.bytes == 150
    answers = {answer.kind: answer for answer in whatif.ask(one, run_ps=lambda run: 3)}
    assert answers["recompute"].peak_bytes == 100
    assert answers["recompute"].cost_ps == 3
    assert answers["half_precision"].peak_bytes == 75
    assert answers["half_batch"].peak_bytes == 75
    (none,) = [a for a in whatif.ask(one, recompute=lambda name: name == "top") if a.kind == "recompute"] or [
        None
    ]
    assert none is None
    assert [a.blocks for a in whatif.ask(one, halve=lambda name: name == "top") if a.meant] == [1]


def test_a_change_may_not_help() -> None:
    # The peak of 100 is read right then; another moment is as high anyway.
    one = a_memory([activation("a", 0, 10, [(2, 9)]), activation("b", 20, 30, [(22, 29)])])
    answer = next(a for a in whatif.ask(one, halve=lambda name: name == "a") if a.kind == "half_precision")
    assert (answer.peak_bytes, answer.saved_bytes) == (100, 0)


def test_one_shape_is_no_batch() -> None:
    assert whatif.batch_size([activation("a", 0, 1, [])]) is None
    other = activation("b", 0, 1, [])
    other.shape = (8, 9)
    assert whatif.batch_size([activation("a", 0, 1, []), other]) == 8


def test_a_width_that_only_gradients_have_is_no_batch() -> None:
    """As a tower of TensorFlow 1 holds them: weights of 512 by 512, and a batch of 128."""
    held = []
    for name, shape, size in (
        ("tower/gradients/h2/MatMul_grad/MatMul_1", (512, 512), 1024),
        ("tower/gradients/out/MatMul_grad/MatMul_1", (512, 10), 20),
        ("tower/gradients/h2/MatMul_grad/MatMul", (128, 512), 256),
        ("tower/h1/Relu", (128, 512), 256),
        ("tower/out/BiasAdd", (128, 10), 5),
    ):
        block = activation(name, 0, 1, [])
        block.shape, block.bytes = shape, size
        held.append(block)
    assert whatif.batch_size(held) == 128


# --- the verb ------------------------------------------------------------------------------------


def test_the_verb_for_people_and_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["memory", "--no-cache", "--format", "json", str(TWO_SERVERS)]) == 0
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert told["format"] == 1
    first = told["allocators"][0]
    assert first["peak_bytes"] == max(point["bytes"] for point in first["curve"])
    assert sum(row["bytes"] for row in first["at_peak"]["by_op"]) == first["peak_bytes"]
    assert main(["memory", "--no-cache", str(TWO_SERVERS)]) == 0
    drawn = capsys.readouterr().out
    assert "The peak is" in drawn
    assert "at the peak" in drawn
    assert not re.search(r"\x1b\[", drawn)


@pytest.mark.parametrize("width", [60, 80, 200])
def test_lines_fit(width: int) -> None:
    asked = [(one, whatif.ask(one)) for one in memory_of(TWO_SERVERS)]
    drawn = scroll.render(report.build(asked), width=width)
    assert max(map(len, drawn.splitlines())) <= width, drawn
    assert "\x1b[1m" in scroll.render(report.build(asked), width=width, color=True)


def test_nothing_about_memory(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["memory", "--no-cache", "--format", "json", str(corpus.SAMPLES / "graph" / "small.pb")]) == 2
    shown = capsys.readouterr()
    assert json.loads(shown.out)["allocators"] == []
    assert "to do: record" in shown.err


@pytest.mark.parametrize("words", [["--recompute", "("], ["--half", "["], ["--batch", "1"], ["--batch", "x"]])
def test_odd_questions(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["memory", str(TWO_SERVERS), *words]) == 2
    assert "to do:" in capsys.readouterr().err
