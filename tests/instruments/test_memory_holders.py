"""Who holds memory in recordings of PyTorch: the innermost slice where it is given, and its line."""

import json
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from stepscope.cli import main
from stepscope.code_lines import CodeLine, innermost
from stepscope.instruments import python_frame
from stepscope.instruments.memory import moves
from stepscope.session import trace
from tests.asked import ask
from tests.growth import calls

NAMES = (
    "train.py(1): <module>",
    "train.py(7): step",
    "/v/logs.py(3): getEffectiveLevel",
    "torch/nn/functional.py(9): linear",
    "aten::mm",
    "aten::relu",
)


def span(ts: int, dur: int, name: str, tid: int = 1) -> dict[str, Any]:
    kind = "python_function" if python_frame.pytorch_call(name) else "cpu_op"
    return {"ph": "X", "pid": 1, "tid": tid, "ts": ts, "dur": dur, "cat": kind, "name": name}


def given_at(ts: int, address: int, size: int = 64, tid: int = 1) -> dict[str, Any]:
    args = {"Bytes": size, "Addr": address, "Device Type": 0, "Device Id": -1, "Total Allocated": 0}
    about = {"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]"}
    return {**about, "pid": 1, "tid": tid, "ts": ts, "args": args}


def written(path: Path, events: Sequence[dict[str, Any]]) -> Path:
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": list(events)}))
    return path


def test_a_call_that_is_over_holds_nothing(tmp_path: Path) -> None:
    """Logger's call lies beside the op in which memory is given, under the same step."""
    events = [
        span(0, 100, NAMES[0]),
        span(10, 80, NAMES[1]),
        span(12, 6, NAMES[2]),
        span(20, 40, "aten::mm"),
        given_at(30, address=1),
        given_at(70, address=2),
        given_at(95, address=3),
    ]
    rows = ask(
        written(tmp_path / "t.json", events), "SELECT op_name, file, line FROM buffer ORDER BY born_ps"
    )
    assert rows == [("aten::mm", "train.py", 7), (NAMES[1], "train.py", 7), (NAMES[0], "train.py", 1)]


def test_memory_of_the_host_is_not_taken_for_that_of_a_gpu(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    launch = {**span(30, 2, "hipLaunchKernel"), "cat": "cuda_runtime", "args": {"correlation": 7}}
    kernel = {**span(40, 90, "Cijk_Ailk", tid=3), "cat": "kernel", "args": {"device": 2, "correlation": 7}}
    events = [span(0, 200, "aten::mm"), given_at(30, address=1, size=8), launch, kernel]
    assert main(["memory", "--no-cache", str(written(tmp_path / "t.json", events))]) == 0
    assert "This is memory of the host: no allocations of GPU 2 were recorded." in capsys.readouterr().out
    assert main(["memory", "--no-cache", str(written(tmp_path / "u.json", events[:2]))]) == 0
    assert "memory of the host" not in capsys.readouterr().out


def drawn(tid: int, chance: random.Random) -> Iterator[dict[str, Any]]:
    """Slices of a thread that nest, touch and overlap, some without length, and moments among them."""
    for _ in range(chance.randrange(15)):
        yield span(chance.randrange(30), chance.choice((0, 1, 3, 8, 15)), chance.choice(NAMES), tid)
    for number in range(chance.randrange(1, 10)):
        yield given_at(chance.randrange(45), 100 * tid + number, tid=tid)


Slices = list[tuple[int, int, int, int | None, str]]
"""Number, beginning, end, parent and name of each."""


def holder(slices: Slices, ts: int) -> tuple[str | None, CodeLine | None]:
    """The last slice that began, or the nearest around it that still goes on; and those around that one."""
    known = {number: (end, parent, name) for number, _, end, parent, name in slices}
    at = max(((begin, number) for number, begin, *_ in slices if begin <= ts), default=(0, None))[1]
    around = []
    while at is not None:
        end, parent, name = known[at]
        if around or end >= ts:
            around.append(name)
        at = parent
    lines = [CodeLine(*call) for name in reversed(around) if (call := python_frame.pytorch_call(name))]
    return (around[0] if around else None), innermost(lines)


def test_drawn_threads(tmp_path: Path) -> None:
    chance = random.Random(30)
    events = [event for tid in range(1, 301) for event in drawn(tid, chance)]
    with trace.open(str(written(tmp_path / "t.json", events)), cache=False) as opened:
        found, complete = moves.read(opened.query, 0, opened.stream)
        by_track: dict[int, Slices] = defaultdict(list)
        for number, track, *facts in opened.query(
            "SELECT id, track_id, ts_ps, ts_ps + dur_ps, parent_id, name FROM slice ORDER BY id"
        ).rows():
            by_track[track].append((number, *facts))
        wanted = [
            (int(json.loads(args)["Addr"]), *holder(by_track[track], ts))
            for ts, track, args in opened.query("SELECT ts_ps, track_id, args_json FROM instant").rows()
        ]
    assert complete
    assert len(wanted) > 1000
    got = [(one.address, one.op_name, one.code) for one in found]
    assert sorted(got, key=lambda one: one[0] or 0) == sorted(wanted, key=lambda one: one[0])


def loop(steps: int) -> list[dict[str, Any]]:
    """A loop whose steps log, compute and take memory, all within one call."""
    events = [span(0, steps * 100, NAMES[0])]
    for step in range(steps):
        begin = step * 100 + 1
        events += [
            span(begin, 90, NAMES[1]),
            *(span(begin + 1 + 4 * number, 2, NAMES[2]) for number in range(5)),
            span(begin + 30, 40, "aten::mm"),
            given_at(begin + 40, step + 1),
            given_at(begin + 60, step + 1, -64),
        ]
    return events


def test_twice_the_recording_is_twice_the_work(tmp_path: Path) -> None:
    counts = []
    for steps in (300, 1200):
        with trace.open(str(written(tmp_path / f"{steps}.json", loop(steps))), cache=False) as opened:
            assert opened.query("SELECT COUNT(*) FROM slice").rows() == [(1 + 7 * steps,)]
            counts.append(calls(partial(moves.read, opened.query, 0, opened.stream)))
    assert counts[0] > 300
    assert counts[1] < 4.2 * counts[0]
