"""Laws hold of every recording, or the sentence says which one does not.

Past 400 lines because it is a list: a law, and the recordings that keep or break it."""

import importlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stepscope import reference
from stepscope.instruments import device_steps, laws
from stepscope.instruments.causes import ranking
from stepscope.instruments.causes.judgement import Judgement
from stepscope.instruments.causes.label_shares import LabelShare
from stepscope.instruments.laws import bytes_over_time, parts_add_up, what_remains
from stepscope.instruments.step_evidence import Mark
from stepscope.report import summary
from stepscope.session.trace import OpenTrace
from stepscope.session.trace import open as open_trace
from tests import corpus
from tests.tiers import some

Event = dict[str, Any]
US = 1.0
TWO_LINES = 200
"""Characters of a sentence at most."""
SAMPLES = [
    *sorted((corpus.SAMPLES / "kineto").glob("*.json")),
    corpus.SAMPLES / "chrome/kineto_cuda.json",
    corpus.SAMPLES / "gpu/jax_graph.xplane.pb.gz",
    corpus.SAMPLES / "xplane/jax.xplane.pb.gz",
]


def launches(
    number: int, gap: float = 10.25, lost: range = range(0), timeless: range = range(0)
) -> list[Event]:
    """Launches of kernels, each with its kernel but for those that are lost, or have no time."""
    events = [
        {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 7, "tid": 7, "ts": 0.0,
         "dur": gap * (number + 2)},
    ]  # fmt: skip
    for at in range(number):
        own = {"correlation": at + 1}
        call = {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, "tid": 7}
        events.append({**call, "ts": gap * at + 1, "dur": 3.5, "args": own})
        if at in lost:
            continue
        time = {"ts": 0.0, "dur": 0.0} if at in timeless else {"ts": gap * at + 5, "dur": 4.125}
        kernel = {"ph": "X", "cat": "kernel", "name": f"gemm_{at % 3}", "pid": 0, "tid": 9}
        events.append({**kernel, **time, "args": {**own, "device": 0, "stream": 9}})
    return events


def late_kernels() -> list[Event]:
    """Kernels that all begin 5 ms after their calls."""
    return [{**event, "ts": event["ts"] + 5000 * (event["cat"] == "kernel")} for event in launches(40)]


def opened(tmp_path: Path, events: list[Event], **about: Any) -> OpenTrace:
    path = tmp_path / "one.json"
    path.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [], **about, "traceEvents": events}))
    return open_trace(path, cache=False)


def told(tmp_path: Path, events: list[Event], **about: Any) -> tuple[list[str], dict[str, Any], list[str]]:
    """Headline, answer, and the laws that the recording breaks."""
    with opened(tmp_path, events, **about) as trace:
        report = summary.build(trace)
        found = _broken(trace)
    return list(report.headline), report.document["answer"], found


def broken_laws(tmp_path: Path, events: list[Event], **about: Any) -> list[str]:
    """The laws that the recording breaks, without what is said of them."""
    with opened(tmp_path, events, **about) as trace:
        return _broken(trace)


def _broken(trace: OpenTrace) -> list[str]:
    return [one.law for own in laws.broken(trace.query).values() for one in own]


def test_whole_recordings_break_no_law(tmp_path):
    headline, answer, broken = told(tmp_path, launches(40))
    assert broken == []
    assert answer["confidence"] != "low"
    assert not any(" at most " in line or " at least " in line for line in headline)


def test_launches_without_kernels_are_told(tmp_path):
    headline, answer, broken = told(tmp_path, launches(40, lost=range(0, 40, 2)))
    assert broken == ["work_launched"]
    said = (
        "40 launches, 20 kernels: half of the device's work is missing from the recording, so the device did"
    )
    assert f"{said} more than is shown." in headline
    assert answer["weakened_by"][-1] == "work_launched"
    assert answer["confidence"] == "low"
    assert not any(line.startswith("Without") for line in headline)
    assert any(" is busy at least " in line for line in headline)


@pytest.mark.parametrize(("dur", "broken"), [(300.0, ["recorder_apart"]), (30.0, [])])
def test_time_of_the_profiler_itself_is_told(tmp_path, dur, broken):
    """It lies in an op of the host, which would take so much less. The step takes 430.5 µs, in 165 of which
    kernels run: that part of the profiler's time costs nothing."""
    op = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 7, "tid": 7, "ts": 0.5, "dur": 400.0}
    own = {"cat": "overhead", "name": "Activity Buffer Request", "pid": -1, "tid": 0, "ts": 20.0, "dur": dur}
    headline, answer, found = told(tmp_path, [*launches(40), op, {"ph": "X", **own}])
    assert found == broken
    assert ("recorder_apart" in answer["weakened_by"]) == bool(broken)
    told_of = (
        "The profiler itself took up to 266 µs in which no op ran, 61.7 % of what is judged (Activity Buffer "
        "Request); that counts"
    )
    assert any(line.startswith(told_of) for line in headline) == bool(broken)


def test_a_recording_may_end_between_a_launch_and_its_kernel(tmp_path):
    assert broken_laws(tmp_path, launches(40, lost=range(39, 40))) == []


def test_the_only_launch_without_a_kernel_is_told(tmp_path):
    headline, _, broken = told(tmp_path, launches(1, lost=range(1)))
    assert broken == ["work_launched"]
    assert any(line.startswith("1 launch, 0 kernels: all of the device's work") for line in headline)


def test_ops_that_launch_what_was_not_recorded_compute_nothing(tmp_path):
    """Of the device only launches are there: what the host does besides is no compute."""
    calls = launches(40, lost=range(40))
    ops = [
        {**call, "cat": "cpu_op", "name": "aten::mm", "ts": call["ts"] - 1, "dur": 8.0} for call in calls[1:]
    ]
    with opened(tmp_path, [*calls, *ops]) as trace:
        labels = {row[0] for row in trace.query("SELECT DISTINCT label FROM step_part").rows()}
    assert "dispatch" in labels
    assert not labels & {"compute", "idle"}


def test_a_device_may_be_behind_when_a_recording_ends(tmp_path):
    """The host launches all at once; the kernels of the second half are not over before the end."""
    events = launches(40, gap=1.25, lost=range(20, 40))
    for event in events:
        if event["cat"] == "kernel":
            event["ts"], event["dur"] = 100 * event["args"]["correlation"], 99.5
    assert "work_launched" not in broken_laws(tmp_path, events)
    for event in events:
        if event["cat"] == "kernel":  # the rows of the device end long before the launches
            event["ts"], event["dur"] = 1 + 0.5 * event["args"]["correlation"], 0.25
    assert "work_launched" in broken_laws(tmp_path, events)


def test_what_a_graph_captures_was_not_lost(tmp_path):
    call = {"ph": "X", "cat": "cuda_runtime", "pid": 7, "tid": 7, "dur": 0.25}
    around = [
        {**call, "name": "cudaStreamBeginCapture", "ts": 0.5},
        {**call, "name": "cudaStreamEndCapture", "ts": 10.25 * 20},
    ]
    assert broken_laws(tmp_path, [*launches(40, lost=range(20)), *around]) == []


def test_kernels_without_time_are_told(tmp_path):
    headline, _, broken = told(tmp_path, launches(40, timeless=range(10)))
    assert broken == ["work_has_time"]
    assert any(line.startswith("10 of 40 kernels have no time") for line in headline)


def test_a_clock_of_whole_microseconds_makes_short_kernels_nothing(tmp_path):
    events = launches(40, timeless=range(10))
    for event in events:
        event["ts"], event["dur"] = float(round(event["ts"])), float(round(event["dur"]))
    assert broken_laws(tmp_path, events) == []


@pytest.mark.parametrize("dur", [None, -4.0])
def test_a_kernel_whose_duration_is_missing_is_not_short(tmp_path, dur):
    events = launches(40, gap=10, timeless=range(10))
    for event in events:
        event["ts"], event["dur"] = float(round(event["ts"])), float(round(event["dur"]))
        if event["cat"] == "kernel" and not event["dur"]:
            event["dur"] = dur
            if dur is None:
                del event["dur"]
    assert broken_laws(tmp_path, events) == ["work_has_time"]


def test_not_all_kernels_are_short(tmp_path):
    events = launches(40, gap=10)
    for event in events:
        event["ts"], event["dur"] = float(round(event["ts"])), float(round(event["dur"]))
        if event["cat"] == "kernel":
            event["dur"] = 0.0
    headline, _, broken = told(tmp_path, events)
    assert "work_has_time" in broken
    assert not any("is busy" in line for line in headline)


def test_a_kernel_that_covers_the_next_ones_is_too_long(tmp_path):
    events = launches(40)
    kernels = [event for event in events if event["cat"] == "kernel"]
    kernels[3]["dur"] = kernels[20]["dur"] = 60.0
    headline, _, broken = told(tmp_path, events)
    assert broken == ["one_after_another"]
    assert any(
        line.startswith("2 of 40 kernels last until the next of the same stream is over") for line in headline
    )
    for kernel in kernels:
        kernel["args"]["correlation"] = 1  # one graph: its kernels may run at once
    assert "one_after_another" not in broken_laws(tmp_path, events)


@pytest.mark.parametrize(("bytes_", "broken"), [(10**6, []), (10**9, ["bytes_over_time"])])
def test_nothing_is_faster_than_its_link(tmp_path, bytes_, broken):
    copy = {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pinned -> Device)", "pid": 0, "tid": 9}
    told_of_it = {"device": 0, "stream": 9, "bytes": bytes_}
    copies = [
        {**copy, "ts": 1000.5 + at, "dur": 100.25, "args": {**told_of_it, "correlation": 900 + at}}
        for at in range(0, 500, 125)
    ]
    properties = [{"id": 0, "name": "NVIDIA A100-SXM4-40GB"}]
    assert broken_laws(tmp_path, [*launches(20), *copies], deviceProperties=properties) == broken


def test_peaks_of_devices_are_those_of_the_first_name_that_fits():
    assert bytes_over_time._peak('{"name": "NVIDIA GH200 480GB"}', "link") == 450e9
    assert bytes_over_time._peak('{"name": "NVIDIA A100"}', "memory") == 2039e9
    assert bytes_over_time._peak('{"peak_hbm_bw_gigabytes_per_second": 1637.5}', "memory") == 1637.5e9
    assert bytes_over_time._peak(None, "memory") == 8000e9


@pytest.mark.parametrize(("stream", "broken"), [(1, []), (-1, ["waits_name_streams"])])
def test_waits_tell_what_they_wait_for(tmp_path, stream, broken):
    wait = {"ph": "X", "cat": "cuda_sync", "name": "Event Sync", "pid": 0, "tid": 9, "ts": 30.5, "dur": 4.0}
    assert (
        broken_laws(tmp_path, [*launches(20), {**wait, "args": {"wait_on_stream": stream, "stream": 9}}])
        == broken
    )


def test_a_host_that_runs_far_ahead_says_nothing_of_steps(tmp_path):
    """All of the device's work comes when the only step of the host is over."""
    with opened(tmp_path, late_kernels()) as trace:
        report = summary.build(trace)
        broken = _broken(trace)
    headline, answer = report.headline, report.document["answer"]
    assert broken == ["step_of_the_device"]
    assert "One step of the host takes 430 µs." in headline
    assert [bar.long for section in report.sections for bar in section.splits] == ["430 µs of the host"]
    # 40 kernels of 4.125 µs, 10.25 µs from one to the next.
    assert headline[0].endswith("; the device works for 40.9 % of the 404 µs that its work spans.")
    assert (answer["cause"], answer["place"], answer["confidence"]) == ("unknown", None, "low")
    assert not any(" is busy " in line for line in headline)


@pytest.mark.parametrize(
    ("waits_us", "broken"),
    [(20.0, ["clocks_agree"]), (6000.0, ["step_of_the_device"])],
    ids=["ends", "lasts"],
)
def test_a_host_that_has_waited_for_its_device_does_not_run_ahead(tmp_path, waits_us, broken):
    """Kernels begin 5 ms after their calls: the clocks differ where the host had waited for them by then."""
    events = late_kernels()
    wait = {
        "ph": "X",
        "cat": "cuda_runtime",
        "name": "cudaDeviceSynchronize",
        "pid": 7,
        "tid": 7,
        "ts": 410.0,
    }
    headline, answer, found = told(tmp_path, [*events, {**wait, "dur": waits_us}])
    assert found == broken
    assert (answer["cause"], answer["place"], answer["confidence"]) == ("unknown", None, "low")
    assert not any(" is busy " in line for line in headline)
    if broken == ["clocks_agree"]:
        # The last kernel ends at 5,408.875 µs, and the wait at 430.
        assert headline[0] == (
            "The clocks of host and device differ, by 4.98 ms or more: 40 of 40 kernels begin when the host "
            "had waited for all of its device's work; the device works for 40.9 % of the 404 µs that its "
            "work spans."
        )


def queued(lasts: Sequence[float]) -> list[Event]:
    """The device computes 95 µs for each step, one after the other, and the host only launches, which takes
    35 µs until the queue is full. lasts: the steps of the host, in µs."""
    events: list[Event] = []
    at = 0.0
    for number, dur in enumerate(lasts, 1):
        step = {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{number}", "pid": 7, "tid": 7}
        call = {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, "tid": 7}
        kernel = {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 9}
        events.append({**step, "ts": at, "dur": float(dur)})
        begin = 95.0 * (number if len(set(lasts)) == 1 else number - 1) + 5
        for part in range(5):
            own = {"correlation": 5 * number + part}
            events.append({**call, "ts": at + 1 + 3 * part, "dur": 2.0, "args": own})
            device = {**own, "device": 0, "stream": 9}
            events.append({**kernel, "ts": begin + 19 * part, "dur": 19.0, "args": device})
        at += dur
    return events


QUEUES = (35, 72, 95, 95, 95)


def test_steps_of_a_host_that_queues_are_those_of_the_device(tmp_path):
    """The work of each step ends 95 µs after that of the step before."""
    with opened(tmp_path, queued(QUEUES)) as trace:
        report = summary.build(trace)
        assert _broken(trace) == []
        steps = trace.query("SELECT step, ts_ps, dur_ps, recovered_from FROM step ORDER BY ts_ps").rows()
    assert "Steps take 96.0 µs on average." in report.headline  # the first launches for 5 µs
    assert steps == [
        (1, 0, 100_000_000, "device"),
        *((number, 5_000_000 + 95_000_000 * (number - 1), 95_000_000, "device") for number in range(2, 6)),
    ]


def test_what_was_launched_before_the_recording_is_no_part_of_its_first_step(tmp_path):
    """The profiler starts while the device still computes two steps that the host launched before."""
    events = queued(QUEUES)
    for event in events:
        if event["cat"] == "kernel":
            event["ts"] += 200
    kernel = {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 9}
    before = [
        {
            **kernel,
            "ts": 3 + 20.0 * at,
            "dur": 20.0,
            "args": {"correlation": 900 + at, "device": 0, "stream": 9},
        }
        for at in range(10)
    ]
    with opened(tmp_path, [*before, *events]) as trace:
        steps = trace.query("SELECT ts_ps, dur_ps FROM step ORDER BY ts_ps").rows()
    # The last kernel from before ends at 203 µs, the first step's work at 300.
    assert steps[0] == (203_000_000, 97_000_000)
    assert [dur_ps for _, dur_ps in steps[1:]] == [95_000_000] * 4


def test_steps_of_a_device_that_lack_launches_tell_nothing_of_what_ran_before(tmp_path):
    """Work without a launch follows work with one: some calls were not recorded."""
    events = queued(QUEUES)
    unknown = {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 9}
    for at, ts in enumerate((1.0, 300.25)):
        own = {"correlation": 900 + at, "device": 0, "stream": 9}
        events.append({**unknown, "ts": ts, "dur": 0.5, "args": own})
    with opened(tmp_path, events) as trace:
        steps = trace.query("SELECT ts_ps, dur_ps FROM step ORDER BY ts_ps").rows()
    assert steps[0] == (0, 100_000_000)


def test_steps_that_only_queue_are_shorter(tmp_path):
    """Of one step it is not known what it launched, so that the device's steps are not known."""
    events = queued(QUEUES)
    for event in events:
        if event["cat"] == "cuda_runtime" and event["args"]["correlation"] // 5 == 3:
            del event["args"]
    headline, _, found = told(tmp_path, events)
    assert found == ["work_within_steps"]
    # The first step is in no average.
    assert "Steps take at least 89.2 µs on average." in headline


def test_a_host_that_is_always_as_far_ahead_has_whole_steps(tmp_path):
    headline, _, found = told(tmp_path, queued((95,) * 5))
    assert found == []
    assert "Steps take 95.0 µs on average." in headline


def test_ranges_of_counters_are_no_execution(tmp_path):
    """Where CUPTI counts, it draws one range for each kernel, all of one length: no clock measured them."""
    events = launches(40)
    for event in events:
        if event["cat"] == "kernel":
            event |= {
                "cat": "cuda_profiler_range",
                "ts": event["ts"],
                "dur": 9.0,
                "args": {"kineto__cuda": 1.5},
            }
    headline, answer, found = told(tmp_path, events)
    assert found == ["work_launched"]
    assert any(
        line.startswith("40 launches, 0 kernels: all of the device's work is missing") for line in headline
    )
    assert answer["cause"] != "compute"
    assert not any("gemm" in line for line in headline)


def judgement(**more: Any) -> Judgement:
    parts = (LabelShare("dispatch", 600, 0.6), LabelShare("compute", 400, 0.4))
    facts = {"run_id": "r", "host_id": "h", "cause": "dispatch", "steps": 9, "mean_ps": 1000, "parts": parts}
    facts |= {"whole_capture": False, "share": 0.6, "ps_per_step": 600, "confidence": "high"}
    return Judgement(**{**facts, "left_ps": 400, "low_ps": 300, "high_ps": 500, **more})


def test_parts_that_do_not_add_up_have_no_cause():
    assert parts_add_up.proved(judgement()) == judgement()
    for impossible in (judgement(mean_ps=2000), judgement(share=1.5)):
        kept = parts_add_up.proved(impossible)
        assert (kept.cause, kept.left_ps) == ("unknown", impossible.mean_ps)
        assert [one.law for one in kept.broken] == ["parts_add_up"]


def test_what_remains_holds_what_the_device_did():
    one = judgement(on_device=True, left_ps=41, low_ps=20, high_ps=5000)
    kept = what_remains.proved(one)
    assert (kept.left_ps, kept.low_ps, kept.high_ps) == (400, 20, 1000)
    assert what_remains.proved(replace(one, on_device=False)).left_ps == 41


def runs(begin: float, length: float, number: int, track: int, name: str) -> Iterator[Mark]:
    for at in range(number):
        yield Mark(track, name, round((begin + length * at) * 10**9), round(length * 10**9))


@pytest.mark.parametrize(("longer", "broken"), [(1.0, []), (2.0, ["step_of_the_device"])])
def test_steps_take_no_less_than_what_they_launch(tmp_path, longer, broken):
    """Kernels one after the other, in as long as their step or in twice as long; 40 % come after it."""
    step, *events = launches(40)
    for at, event in enumerate(events):
        if event["cat"] == "kernel":
            event |= {"ts": 10.25 * (at // 2) * longer + 180.0, "dur": 10.25 * longer}
    assert broken_laws(tmp_path, [step, *events]) == broken


def test_the_device_tells_steps_where_the_host_runs_ahead():
    """Two cores run the same program, a little apart; the host has called it long before."""
    rows = {1: "XLA Modules", 2: "XLA Modules", 3: "Steps"}
    marks = [
        *runs(100, 8, 10, 1, "jit_f(123)"),
        *runs(101, 8, 10, 2, "jit_f(123)"),
        *runs(50, 1, 3, 1, "jit_init(9)"),
    ]
    steps = device_steps.steps_on_devices(marks, rows)
    assert [(step.name, step.ts_ps) for step in steps] == [
        ("jit_f", (100 + 8 * at) * 10**9) for at in range(10)
    ]
    assert steps[-1].end_ps == 181 * 10**9
    ahead = [step._replace(ts_ps=at * 10**9, end_ps=(at + 1) * 10**9) for at, step in enumerate(steps)]
    assert device_steps.runs_ahead(ahead, steps)
    assert not device_steps.runs_ahead([step._replace(ts_ps=step.ts_ps - 10**9) for step in steps], steps)
    assert not device_steps.runs_ahead([], steps)
    own = [*marks, *runs(100, 16, 5, 3, "0")]
    assert len(device_steps.steps_on_devices(own, rows)) == 5


def test_every_law_says_what_holds_and_who_keeps_it():
    page = reference.look_up("laws")
    for name, law in laws.all_laws().items():
        assert law.HOLDS.endswith(".")
        assert law.TOLERANCE.endswith(".")
        assert law.WEAKENS
        assert f"## {name}" in page
        assert law.HOLDS in page
        kept_by = getattr(law, "KEPT_BY", None)
        assert hasattr(law, "broken") or hasattr(law, "proved") or kept_by
        if kept_by:
            module, _, function = kept_by.rpartition(".")
            assert callable(getattr(importlib.import_module(module), function))


def check(path: Path) -> None:
    """What must hold of the answers about any recording."""
    with open_trace(path, cache=False) as trace:
        judged = ranking.judge(trace.query)
        report = summary.build(trace)
    for one in judged:
        slack = len(one.parts) + 1 + one.mean_ps / 10**6
        assert abs(sum(part.ps_per_step for part in one.parts) - one.mean_ps) <= slack
        assert all(0 <= part.share <= 1 for part in one.parts)
        assert one.low_ps <= one.left_ps <= one.high_ps <= max(one.mean_ps, one.left_ps)
        if one.on_device and one.cause not in ("compute", "none"):
            executes = [part for part in one.parts if part.label in ("compute", "communication", "copy")]
            assert (
                one.left_ps >= sum(part.ps_per_step for part in executes if part.label != one.cause) - slack
            )
        for law in one.broken:
            assert any(law.said[1:] in line for line in report.headline)
    for line in report.headline:
        assert all(len(sentence) <= TWO_LINES for sentence in line.split(". ")), line
    for row in report.document["answers"]:
        assert row["share"] <= 1


@pytest.mark.repeats("laws speak on drawn recordings beside this, and are quiet on whole ones")
@pytest.mark.parametrize(
    "path",
    some(SAMPLES, SAMPLES[-3:], "devices of other frameworks keep the same laws"),
    ids=lambda path: path.name,
)
def test_samples(path):
    check(path)


@pytest.mark.repeats("one recording of each kind is among the samples")
@pytest.mark.parametrize(
    "path", corpus.each([*corpus.files("field2/*/*.*"), *corpus.files("accelerators/*/*.json.gz")])
)
def test_corpus(path):
    if path.suffix in (".sqlite", ".pickle") or path.name == "et.json.gz":
        pytest.skip("nothing that stepscope reads")
    check(path)


def test_functions_that_wait_in_what_they_call_do_not_compute(tmp_path):
    """`load` sleeps for all but 10 of its 100 ms; where it computes, nothing is told."""
    call = {"ph": "X", "cat": "FEE", "pid": 1, "tid": 1}
    events = [
        {**call, "name": "load (a.py:1)", "ts": 0.0, "dur": 100_000.0},
        {**call, "name": "time.sleep", "ts": 5_000.0, "dur": 90_000.0},
    ]
    path = tmp_path / "one.json"
    for name, law in (("time.sleep", ["functions_fill_their_time"]), ("parse (a.py:9)", [])):
        events[1]["name"] = name
        path.write_text(json.dumps({"viztracer_metadata": {"version": "1.0"}, "traceEvents": events}))
        with open_trace(path, cache=False) as trace:
            report = summary.build(trace)
            assert [one.law for own in laws.broken(trace.query).values() for one in own] == law
        assert any("ran for 10.0 ms themselves" in line for line in report.headline) is bool(law)
        assert any("covers" in line for line in report.headline) is not bool(law)


def test_what_law_forbids_no_finding_says(tmp_path):
    """A device whose work the recorder lost is idle for at most so long; one that lags is not idle at all."""
    with opened(tmp_path, launches(40, lost=range(0, 40, 2))) as trace:
        told_of = {one.slug: one.impact for one in summary.build(trace).findings}
        assert " is idle for at most " in told_of["device-idle"]
        assert told_of["per-op-dispatch"].startswith("Launching ops takes at most ")
    with opened(tmp_path, late_kernels()) as trace:
        report = summary.build(trace)
    assert not {"device-idle", "per-op-dispatch"} & {one.slug for one in report.findings}
    assert not any(line.startswith(("Launching", "The accelerator")) for line in report.headline)
