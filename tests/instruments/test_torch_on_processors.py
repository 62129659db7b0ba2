"""Ops of PyTorch on a processor are launched and run in one call: short ones are launching, and so is calling
them one after the other. Those that a loader runs in the thread of the steps make its batch."""

import json
from argparse import Namespace
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import pytest

import stepscope
from stepscope.instruments.causes.copy import copied_bytes
from stepscope.instruments.causes.ranking import judge
from tests.report import made_recordings
from tests.report.recordings import judgement_of


def recording(path: Path, ops: list[tuple[float, float]]) -> str:
    """A trace of one step of 1,000 us, with ops that begin and take so many microseconds."""
    where = {"ph": "X", "pid": 1, "tid": 1}
    step = {**where, "cat": "user_annotation", "name": "ProfilerStep#3", "ts": 0, "dur": 1000}
    run = [{**where, "cat": "cpu_op", "name": "aten::mul", "ts": ts, "dur": dur} for ts, dur in ops]
    told = {"schemaVersion": 1, "deviceProperties": [], "traceEvents": [step, *run]}
    path.write_text(json.dumps(told), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("ops", "label", "ps"),
    [
        ([(20 * number, 5) for number in range(40)], "dispatch", 200_000_000),
        ([(20 * number, 10) for number in range(40)], "dispatch", 400_000_000),
        ([(20 * number, 15) for number in range(40)], "compute", 600_000_000),
        ([(100, 800)], "compute", 800_000_000),
    ],
    ids=["short", "as long as launching takes", "longer", "one long"],
)
def test_what_takes_no_longer_than_launching_is_launching(
    ops: list[tuple[float, float]], label: str, ps: int, tmp_path: Path
) -> None:
    with stepscope.open(recording(tmp_path / "trace.json", ops)) as trace:
        rows = trace.query(
            "SELECT label, dur_ps FROM step_part WHERE label IN ('compute', 'dispatch')"
        ).rows()
    found = dict(rows)
    assert found[label] >= ps
    assert found.get("compute", 0) == (ps if label == "compute" else 0)


def test_ops_within_a_loader_are_its_work(tmp_path: Path) -> None:
    """Two batches of 300 us, each made by an op of 250 us; beside them an op of the model of 100 us."""
    where = {"ph": "X", "pid": 1, "tid": 1}
    batch = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
    loads = {**where, "cat": "user_annotation", "name": batch}
    events = [
        {**where, "cat": "user_annotation", "name": "ProfilerStep#3", "ts": 0, "dur": 1000},
        *({**loads, "ts": ts, "dur": 300} for ts in (0, 500)),
        *({**where, "cat": "cpu_op", "name": "aten::sort", "ts": ts, "dur": 250} for ts in (20, 520)),
        *({**where, "cat": "cpu_op", "name": "aten::addmm", "ts": ts, "dur": 100} for ts in (310, 810)),
    ]
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [], "traceEvents": events}))
    with stepscope.open(path) as trace:
        found = dict(trace.query("SELECT label, dur_ps FROM step_part").rows())
    assert found == {"input": 600_000_000, "compute": 200_000_000, "unknown": 200_000_000}


def parts(path: Path, *ops: tuple[str, float, float]) -> dict[str, int]:
    """Microseconds by label of a step of 1,000, with ops of a name that begin and take so many."""
    where = {"ph": "X", "pid": 1, "tid": 1}
    step = {**where, "cat": "user_annotation", "name": "ProfilerStep#3", "ts": 0, "dur": 1000}
    run = [{**where, "cat": "cpu_op", "name": name, "ts": ts, "dur": dur} for name, ts, dur in ops]
    path.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [], "traceEvents": [step, *run]}))
    with stepscope.open(path) as trace:
        rows = trace.query("SELECT label, dur_ps FROM step_part").rows()
    return {label: dur_ps // 10**6 for label, dur_ps in rows if label != "unknown"}


def test_an_op_that_calls_many_small_ones_launches(tmp_path: Path) -> None:
    small = [("aten::select", 100 + 8 * number, 5) for number in range(50)]
    assert parts(tmp_path / "t.json", ("aten::unbind", 100, 400), *small) == {"dispatch": 400}


def test_an_op_computes_before_between_and_after_what_it_calls(tmp_path: Path) -> None:
    ops = [("aten::linear", 100, 400), ("aten::t", 150, 5), ("aten::addmm", 160, 200)]
    # 5 us of transposing, 5 between the two ops.
    assert parts(tmp_path / "t.json", *ops) == {"compute": 390, "dispatch": 10}


def test_calling_nodes_counts_as_computing_where_no_sample_sees_python(tmp_path: Path) -> None:
    node = "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"
    assert parts(tmp_path / "t.json", (node, 100, 300)) == {"compute": 300}


def test_what_the_program_copies_is_copying_and_what_an_op_lays_out_is_not(tmp_path: Path) -> None:
    alone = [("aten::clone", 100, 120), ("aten::empty_like", 100, 8), ("aten::copy_", 110, 105)]
    within = [
        ("aten::conv2d", 300, 500),
        ("aten::contiguous", 310, 110),
        ("aten::clone", 310, 110),
        ("aten::copy_", 311, 100),
    ]
    assert parts(tmp_path / "t.json", *alone) == {"copy": 105, "dispatch": 15}
    found = parts(tmp_path / "t.json", *within)
    assert found["compute"] >= 480
    assert "copy" not in found


def test_bytes_are_told_where_their_copies_are_most_of_the_copying() -> None:
    shapes = json.dumps({"Input Dims": [[1000, 250], [1000, 250], []], "Input type": ["float", "float", ""]})
    rows = [(shapes, 600), (None, 500), (shapes, 600)]
    host: Any = Namespace(query=lambda _: Namespace(rows=lambda: rows), sources=[0], all_steps=[None, None])
    assert copied_bytes(host, 1100) == 2 * 1_000_000 // 2
    assert copied_bytes(host, 1300) is None, "what else copies takes longer"
    rows[:] = [(None, 500)]
    assert copied_bytes(host, 100) is None


@pytest.mark.parametrize(("long_us", "cause"), [(40, "dispatch"), (90, "none")])
def test_many_ops_of_which_few_are_held_up_are_launching(long_us: int, cause: str, tmp_path: Path) -> None:
    """2,000 ops of a microsecond each, and 100 that take longer, as where other programs have the cores. None
    of a type stands out."""
    where = {"ph": "X", "pid": 1, "tid": 1}
    lengths = [long_us if number % 21 == 0 else 1 for number in range(2100)]
    step = {**where, "cat": "user_annotation", "name": "ProfilerStep#3", "ts": 0, "dur": sum(lengths)}
    names = ("aten::add", "aten::mul", "aten::pow", "aten::sub")
    run = [
        {**where, "cat": "cpu_op", "name": names[number % 4], "ts": begin, "dur": end - begin}
        for number, (begin, end) in enumerate(pairwise(accumulate(lengths, initial=0)))
    ]
    path = tmp_path / "t.json"
    path.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [], "traceEvents": [step, *run]}))
    with stepscope.open(path) as trace:
        (judgement,) = judge(trace.query)
    assert judgement.share_of("compute") > judgement.share_of("dispatch")
    assert (judgement.cause, judgement.small_ops) == (cause, (2100, 10**6 * sum(lengths) // 2100))


@pytest.mark.parametrize(("python_us", "cause"), [(900, "dispatch"), (0, "compute")])
def test_python_between_small_ops_calls_them(python_us: int, cause: str) -> None:
    """1,000 ops of 1.5 µs and 80 that wait for cores; launching alone takes little of a step."""
    tables = made_recordings.ops_that_are_launching(long_us=77, python_us=python_us)
    for series, value in (("all running", 0.4), ("all waiting", 0.6)):
        tables.add("counter", name="threads during recording", series=series, ts_ps=0, value=value)
    judgement = judgement_of(tables)
    assert judgement.share_of("dispatch") < 0.2
    assert judgement.share_of("python") == pytest.approx(python_us / 8560, rel=0.05)
    assert (judgement.cause, judgement.small_ops is not None) == (cause, True)
