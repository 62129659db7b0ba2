"""The accelerator's own steps: its row of them leaves out what it waits for until they begin."""

from pathlib import Path
from typing import Any

import pytest

import stepscope
from stepscope.instruments.reaching_steps import reaching_back
from stepscope.instruments.step_evidence import Step
from tests.formats.test_xplane_drawn import kind, space

MS = 10**9
DEVICE = "/device:GPU:0"


def loop(path: Path, waits_ms: list[float], fetches: bool = True) -> Path:
    """Keras on a GPU: each call of the function waits for its batch, then launches 10 ms of work, of which
    the device does the last 2 ms after the call. fetches: whether the op that waits was recorded."""
    made, host = space()
    device = made.planes.add(name=DEVICE)
    for key, name in enumerate(("train_function", "IteratorGetNextOp::DoCompute", "EagerKernelExecute"), 1):
        kind(host, key, name)
    kind(device, 1, "volta_sgemm_128x64_nt")
    threads = [host.lines.add(id=key, name=name) for key, name in enumerate(("python3", "tf_data_iterator"))]
    stream = device.lines.add(id=13, name="Stream #13(Compute)")
    row = device.lines.add(id=99, name="Steps")
    at = 0.0

    def event(line: Any, key: int, begin_ms: float, length_ms: float) -> None:
        line.events.add(metadata_id=key, offset_ps=round(begin_ms * MS), duration_ps=round(length_ms * MS))

    for number, wait_ms in enumerate(waits_ms):
        event(threads[0], 1, at, wait_ms + 9)
        if fetches:
            event(threads[1], 2, at + 0.5, wait_ms)
        event(threads[0], 3, at + wait_ms + 1, 8)
        for kernel in range(10):
            event(stream, 1, at + wait_ms + 1 + kernel, 1)
        kind(device, 90 + number, str(number))
        event(row, 90 + number, at + wait_ms + 1, 10)
        at += wait_ms + 9.5
    file = path / "host.xplane.pb"
    file.write_bytes(made.SerializeToString())
    return file


def judged(file: Path) -> tuple[str, list[float]]:
    """The first sentence, and how long the steps took that are averaged, in ms."""
    with stepscope.open(file) as trace:
        steps = trace.query("SELECT dur_ps FROM step WHERE averaged ORDER BY ts_ps").rows()
        return trace.summary().headline[0], [dur_ps / MS for (dur_ps,) in steps]


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_waiting_for_a_batch_is_part_of_the_device_s_step(tmp_path, steps):
    """The device has its own steps of 10 ms, which begin when the batch is there: 90 ms are waiting."""
    sentence, lengths = judged(loop(tmp_path, [90.0] * steps))
    assert sentence.startswith("Waiting for input takes 8"), sentence
    assert all(99 <= length <= 101 for length in lengths)
    assert len(lengths) == steps


def test_the_first_step_is_left_out_where_its_wait_was_not_recorded(tmp_path):
    _, lengths = judged(loop(tmp_path, [0.2, *[90.0] * 4], fetches=False))
    assert len(lengths) == 4
    assert all(99 <= length <= 101 for length in lengths)


def test_steps_of_a_busy_device_are_its_own(tmp_path):
    """It waits for 0.5 ms of each step of 10.5."""
    _, lengths = judged(loop(tmp_path, [0.5] * 5))
    assert lengths == [10.0] * 5


def test_a_break_is_no_part_of_the_step_behind_it():
    steps = [
        Step(str(at), at, begin * MS, (begin + 10) * MS, "device")
        for at, begin in enumerate((5, 20, 35, 900))
    ]
    reached = [(step.ts_ps // MS, step.end_ps // MS) for step in reaching_back(steps, [0])]
    assert reached == [(0, 15), (15, 30), (30, 45), (900, 910)]


def test_two_steps_are_no_loop(tmp_path):
    """Of one gap nothing tells whether it belongs to each step; where a batch is fetched in it, it does."""
    _, lengths = judged(loop(tmp_path, [0.2, 90.0], fetches=False))
    assert lengths == [10.0] * 2
