"""What the rate model makes of cores, bursts and handing over: against simulations and arithmetic by hand."""

import hashlib
import json
import os
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope.capture import machine as recorded
from stepscope.instruments.pipeline.diagnoses import find
from stepscope.instruments.pipeline.diagnosis import CaptureEvidence, Diagnosis
from stepscope.instruments.pipeline.fitting import fit
from stepscope.instruments.pipeline.host import Machine, Threads
from stepscope.instruments.pipeline.model import CPU, ModelStage, PipelineModel, predict
from stepscope.instruments.pipeline.rates import even_ps
from stepscope.instruments.pipeline.stages import PROGRAM
from stepscope.instruments.pipeline.tracing import TracingPace
from stepscope.instruments.pipeline.verdict import diagnose
from stepscope.instruments.pipeline.waits import StepTime
from stepscope.report import pipeline_changes
from stepscope.report.pipeline import evidence
from stepscope.session import trace
from tests.asked import ask
from tests.each import each
from tests.formats.capture_folder import line, write
from tests.instruments.pipelines import LOOP, MS, POOL, RUNNER, Drawn, sequential, steps


def simulated(threads: int, elements: int, work: float, between: float) -> float:
    """A step of a program that does something for a while and then takes so many elements of a map, which
    runs on threads and keeps no more results than it has of them. Element by element."""
    free = [0.0] * threads
    taken: list[float] = []
    at = 0.0
    marks = []
    for _ in range(73):
        at += between
        for _ in range(elements):
            # A call begins when a thread is free and a place for its result is.
            place = taken[-threads] if len(taken) >= threads else 0.0
            thread = min(range(threads), key=lambda i: free[i])
            free[thread] = max(free[thread], place) + work
            at = max(at, free[thread])
            taken.append(at)
        marks.append(at)
    return (marks[72] - marks[12]) / 60  # which any number of threads divides


@given(st.integers(1, 4), st.integers(1, 24), st.integers(1, 30), st.integers(0, 100))
def test_a_map_that_works_ahead_by_few_elements(threads: int, elements: int, work: int, between: int) -> None:
    part = ModelStage(1, "Map", "function:1", threads, elements * work * MS, 0, calls=elements, bursts=True)
    told = PipelineModel(between * MS, (0, 0), (part,), threads, threads).step()[0] / MS
    real = simulated(threads, elements, work, between)
    # Elements are whole: the last round of the threads may be a part of one.
    assert told <= real + 1e-6
    assert real <= told + work


def machine(program: Threads, pipeline: Threads) -> Machine:
    return Machine(2, 0.8, 0.9, program.running + pipeline.running, program, pipeline)


def test_what_waited_for_cores_becomes_faster_when_nobody_is_in_the_way() -> None:
    """The program computes 2 ms on two threads, each of which waits for a core for as long: 4 ms."""
    program = ModelStage(1, "Map", "thread:0", 1, 5 * MS, 5 * MS)
    now = PipelineModel(2 * MS, (4 * MS, 4 * MS), (program,), 2, 2, (2.0, 1.6), (0.5, 0.625))
    assert now.step()[0] == pytest.approx(8 * MS, rel=0.01)
    assert now.changed([1], lambda part: None).step() == (2 * MS, PROGRAM)
    # With half of the work, x = 2.5 (1 + 0.6 sqrt((4 / x) / 0.5)) = 2.5 + 1.5 * 4 / 3: the program hinders
    # more often.
    half = now.changed([1], lambda part: ModelStage(1, "Map", "thread:0", 1, MS * 5 // 2, MS * 5 // 2))
    assert half.step()[0] == pytest.approx(4.5 * MS, rel=0.01)


def test_a_program_that_only_waits_is_not_told_to_wait_less() -> None:
    """Where the model tells twice the measured step, because events cost time, that is not the program's."""
    part = ModelStage(1, "Map", "thread:0", 1, 12 * MS, 12 * MS, calls=256)
    now = PipelineModel(5 * MS, (0, 0), (part,), 2, 2)
    told = predict(now, now.changed([1], lambda part: None), 6 * MS)
    assert told.step_ps == 5 * MS


def _uneven_steps(**args: str) -> Diagnosis:
    """Steps of 12 ms: in every second one the program computes for 12 ms, in the others for 8, and waits for
    the rest. A batch takes 10 ms, so that the pipeline waits for room as well."""
    drawn = Drawn()
    for i in range(20):
        at, wait = 12.0 * i, 4.0 * (i % 2)
        drawn.take(at, wait, "Root::Prefetch", **args)
        drawn.call(RUNNER, "Root::Prefetch::Map", at, 10.0, 3, 2, "MapDataset:1")
    return diagnose(drawn.calls(), steps(20, 12.0))


def test_a_larger_buffer_evens_out_what_varies() -> None:
    found = _uneven_steps()
    change = next(one for one in found.changes if one.name == "prefetch")
    assert change.helps
    assert change.prediction.step_ps == pytest.approx(10 * MS, rel=0.01)
    assert "full in some steps and empty in others" in pipeline_changes.what(change)
    assert "AUTOTUNE" in pipeline_changes.what(change)


def test_autotune_is_not_advised_where_it_chose_the_buffer() -> None:
    found = _uneven_steps(autotune="true")
    change = next(one for one in found.changes if one.name == "prefetch")
    assert pipeline_changes.what(change).startswith("prefetch more, by a number: ")


def test_a_larger_buffer_gains_nothing_where_the_pipeline_is_always_late() -> None:
    """The thread that fills the buffer waits for a stage with threads of its own, as long as a step takes."""
    drawn = Drawn()
    for i in range(20):
        at, function = 10.0 * i, -i - 1
        drawn.take(at, 8.0, "Root::Prefetch", "PrefetchDataset:3")
        drawn.add(RUNNER, "PrefetchProduce", at - 2, 10.0)
        drawn.call(RUNNER, "Root::Prefetch::MapAndBatch", at - 2, 10.0, 3, 2, "MapAndBatch:2", parallelism=1)
        drawn.add(f"{RUNNER}0", "MapAndBatchProduce", at - 2, 0.1)
        drawn.call(f"{RUNNER}0", "Root::Prefetch::MapAndBatch::Range", at - 2, 0.02, 4, 3, "RangeDataset:0")
        drawn.add(f"{RUNNER}0", "InstantiatedCapturedFunction::Run", at - 1.95, 0.01, id=function)
        drawn.add(POOL, "ExecutorState::Process", at - 1.9, 9.8, id=function)
    found = diagnose(drawn.calls(), steps(20, 10.0))
    assert found.bottleneck.stage.short == "MapAndBatch"
    change = next(one for one in found.changes if one.name == "prefetch")
    assert not change.helps
    assert change.prediction.step_ps == 10 * MS


def test_a_larger_buffer_makes_no_stage_faster() -> None:
    """The stage needs 11 ms for a step, which the calls that were recorded do not show."""
    found = _uneven_steps()
    assert found.waits is not None
    slower = [replace(load, work_ps=11 * MS) if load.stage.short == "Map" else load for load in found.loads]
    assert even_ps(found.loads, found.waits) == pytest.approx(10 * MS, rel=0.01)
    assert even_ps(slower, found.waits) == 11 * MS


def test_who_waits_for_other_programs_goes_on_waiting() -> None:
    """A step of 10 ms, 8 of them waiting, all on the program's thread: of 10 ms it runs 8 and waits 2 for a
    core. That is no fault of the pipeline, which runs on the same thread, and stays without it."""
    drawn, times = sequential()
    quiet = diagnose(
        drawn.calls(), times, beside=CaptureEvidence(machine=machine(Threads(1.0, 0), Threads(0, 0)))
    )
    busy = diagnose(
        drawn.calls(), times, beside=CaptureEvidence(machine=machine(Threads(0.8, 0.2), Threads(0, 0)))
    )
    cached = {
        name: next(one for one in found.changes if one.name == "cache_here").prediction.step_ps
        for name, found in (("quiet", quiet), ("busy", busy))
    }
    assert cached["quiet"] == pytest.approx(2.8 * MS)
    assert cached["busy"] == pytest.approx(2.8 * MS, rel=0.01)


def test_full_cores_limit_what_parallelism_gains() -> None:
    """8 ms of work and 4 ms of the program's on two cores take 6 ms, with however many threads."""
    part = ModelStage(1, "Map", PROGRAM, 1, 8 * MS, 8 * MS, calls=8)
    now = PipelineModel(2 * MS, (4 * MS, 4 * MS), (part,), 2, 2)
    then = now.changed([1], lambda p: ModelStage(1, "Map", "changed:1", 2, 8 * MS, 8 * MS, calls=8))
    assert now.step() == (10 * MS, PROGRAM)
    assert then.step() == (6 * MS, CPU)
    told = predict(now, then, 10 * MS)
    assert told.low_ps < told.step_ps == 6 * MS < told.high_ps


def beside(number: int = 20, work: float = 6, program: float = 10) -> tuple[Drawn, list[StepTime]]:
    """A loop that hardly waits: a map of batches works beside each step, on a thread of its own."""
    drawn = Drawn()
    for i in range(number):
        at = i * program
        drawn.take(at, 0.1)
        drawn.call(LOOP, "Root::Prefetch", at, 0.05, 2, 1)
        drawn.call(RUNNER, "Root::Prefetch::Map", at, work, 3, 2, "MapDataset:1")
    return drawn, steps(number, program)


TOLD_APART = Machine(2, 0.8, 0.9, 1.8, Threads(1.2, 0.9), Threads(0.6, 0.1))
TOGETHER = Machine(2, 0.8, 0.9, 1.8, together=Threads(1.8, 1.0))


@pytest.mark.parametrize(
    ("threads", "stretch"), [(TOLD_APART, 2.1 / 1.2), (TOGETHER, 2.8 / 1.8)], ids=["told apart", "together"]
)
def test_who_takes_cores_is_told_though_nobody_waits_for_it(threads: Machine, stretch: float) -> None:
    """Of a step of 10 ms the program computes 12 ms on two threads and the map 6 ms on another: 18 ms, for
    which two cores take 10. The program alone needs 12 ms of them, at nine tenths of two. With half of the
    map, 3 ms, it is hindered by the root of what that keeps busy then, as part of the 0.6 cores now."""
    drawn, times = beside()
    found = diagnose(drawn.calls(), times, beside=CaptureEvidence(machine=threads))
    assert (found.verdict, found.bottleneck) == ("not_input_bound", None)
    told = {change.name: change for change in found.changes}
    assert told["cache_here"].helps
    assert told["cache_here"].prediction.step_ps == pytest.approx(12 / 1.8 * MS, rel=0.02)
    half = told["halve_work"].prediction.step_ps / MS
    assert half == pytest.approx(10 / stretch * (1 + (stretch - 1) * (3 / half / 0.6) ** 0.5), rel=0.02)
    assert not told["parallelise_map"].helps
    assert any("the same cores" in sentence for sentence in evidence(found))


@pytest.mark.parametrize("threads", [Threads(0.6, 0.0), None], ids=["nobody waits for cores", "no record"])
def test_who_hinders_nobody_gets_no_advice(threads: Threads | None) -> None:
    drawn, times = beside()
    quiet = Machine(2, 0.5, 0.5, 0.9, threads, None if threads is None else Threads(0.3, 0.0))
    found = diagnose(drawn.calls(), times, beside=CaptureEvidence(machine=quiet))
    assert (found.verdict, found.changes) == ("not_input_bound", ())


def test_what_threads_compute_beyond_their_stages() -> None:
    """Threads of the pipeline compute 8 ms a step, its stages 6: the rest is handing over, and goes with the
    elements. Where stages were at work for longer than threads computed, they waited for cores."""
    drawn, times = beside()
    calls = drawn.calls()

    def fitted(running: float) -> ModelStage:
        threads = machine(Threads(0.6, 0.1), Threads(running, 1.0))
        found = diagnose(calls, times, beside=CaptureEvidence(machine=threads))
        assert found.waits is not None
        return next(
            part
            for part in fit(found.loads, found.waits, 2, False, threads).parts
            if part.name.endswith("Map")
        )

    assert (fitted(0.8).cpu_ps, fitted(0.8).computing_ps) == (6 * MS, 8 * MS)
    assert fitted(0.3).computing_ps == pytest.approx(3 * MS)


def test_handing_over_stays_when_the_work_becomes_less() -> None:
    part = ModelStage(1, "Map", "thread:0", 1, 6 * MS, 6 * MS, pool_ps=6 * MS, calls=16)
    now = PipelineModel(2 * MS, (0, 0), (part,), 2, 2).handing_over(8 * MS, 0.0)
    assert now.step()[0] == 8 * MS
    half = now.changed(
        [1], lambda p: ModelStage(1, "Map", "thread:0", 1, 3 * MS, 3 * MS, handing_ps=p.handing_ps)
    )
    assert half.step()[0] == 5 * MS


@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="the kernel tells no waiting for cores")
def test_threads_that_share_a_core_wait_for_it() -> None:
    """Two threads that compute on one core run half of the time each, and wait for the other half."""
    core = min(os.sched_getaffinity(0))
    known = recorded.threads()
    assert known is not None

    def compute() -> None:
        os.sched_setaffinity(0, {core})
        while not enough.is_set():
            hashlib.sha256(bytes(1 << 20))  # without Python's lock

    enough = threading.Event()
    shares = recorded.Shares(known)
    workers = [threading.Thread(target=compute) for _ in range(2)]
    for worker in workers:
        worker.start()
    told = shares.since()["threads"]
    while told.get("later", {"cpu_ns": 0})["cpu_ns"] < 150 * 10**6:  # however long the machine takes for it
        time.sleep(0.01)
        told = shares.since()["threads"]
    enough.set()
    for worker in workers:
        worker.join()
    assert set(told) == {"program", "later"}
    assert told["later"]["wait_ns"] >= 0.4 * told["later"]["cpu_ns"] > 0
    assert told["program"]["cpu_ns"] < told["later"]["cpu_ns"]


def test_a_capture_tells_them(tmp_path: Path) -> None:
    folder = tmp_path / "capture"
    threads = {"program": {"cpu_ns": 10**9, "wait_ns": 5 * 10**8}, "later": {"cpu_ns": -1}, "x": 3}
    session = {"begin_unix_ns": 10**9, "end_unix_ns": 2 * 10**9, "cpu_ns": 15 * 10**8, "threads": threads}
    told = {"format": 1, "recorder": "stepscope 0.1", "started_unix_ns": 0, "ended_unix_ns": 3 * 10**9}
    write(folder, xplane=False, capture_json=json.dumps({**told, "sessions": [session, 7]}).encode())
    rows = ask(
        folder,
        "SELECT series, ts_ps, value FROM counter WHERE name = 'threads during recording' ORDER BY 1, 2",
    )
    assert [tuple(row) for row in rows] == [
        (series, at * 10**12, value)
        for series, value in (("process running", 1.5), ("program running", 1.0), ("program waiting", 0.5))
        for at in (1, 2)
    ]


@each(
    ("pace", "share"),
    [
        (TracingPace(10 * MS, 7 * MS, 4000), 0.7),
        (TracingPace(10 * MS, 2 * MS, 1000), 0.8),
        (TracingPace(10 * MS, 12 * MS, 4000), 1.0),
        (TracingPace(0, 0, 0), 1.0),
    ],
)
def test_what_tracing_costs(pace: TracingPace, share: float) -> None:
    assert pace.untraced_share == pytest.approx(share)
    drawn, times = sequential()
    found = diagnose(drawn.calls(), times, beside=CaptureEvidence(pace=pace))
    assert found.step_ps == pytest.approx(10 * share * MS)
    halved = next(change for change in found.changes if change.name == "cache_here")
    assert halved.prediction.high_ps <= 1.05 * 10 * share * MS


@pytest.mark.parametrize("warmup", [12, 2])
def test_a_capture_tells_steps_that_were_not_traced(warmup: int, tmp_path: Path) -> None:
    """Six traced steps of 5 ms, and twelve others, of which the second half takes 4 ms each: before the
    recording, or after it, where three were traced for RunMetadata in between."""
    folder = write(tmp_path / "capture")
    with trace.open(folder, cache=False) as opened:
        rows = opened.query("SELECT source_id, origin_unix_ns FROM capture ORDER BY 1").rows()
        begin, end = opened.query("SELECT min(ts_ps) // 1000, max(ts_ps + dur_ps) // 1000 FROM step").rows()[
            0
        ]
    origin = next(int(row[1]) for row in rows if row[0] == 1)
    settling = [9] * 6 + [4] * 6
    written: list[dict[str, Any]] = []

    def add(at: int, lengths: list[int], **more: Any) -> None:
        for length in lengths:
            ends = at + length * 1_000_000
            written.append({"begin_unix_ns": at, "end_unix_ns": ends, "how": "own", **more})
            at = ends

    before = settling if warmup == 12 else [9, 9]
    add(origin + begin - sum(before) * 1_000_000, before, recorded=False)
    add(origin + begin, [20] + [5] * 6, recorded=True)
    if warmup < 12:
        add(origin + end + 1_000, [50] * 3, recorded=False, run_metadata=True)
        add(origin + end + 151_000_000, settling, recorded=False)
    text = b"".join(line(step=step, **one) for step, one in enumerate(written))
    (folder / "steps.ndjson").write_bytes(text)
    with trace.open(folder, cache=False) as opened:
        (found,) = find(opened.query)
        own = opened.query("SELECT count(*) FROM step AS s JOIN source AS o USING (source_id) "
                           "WHERE o.format = 'capture'").rows()  # fmt: skip
    assert found.diagnosis.pace.untraced_ps == pytest.approx(4 * MS)
    assert found.diagnosis.pace.traced_ps == pytest.approx(5 * MS)
    assert found.diagnosis.pace.events > 0
    assert own[0][0] == 0  # they are no steps of the trace
