"""What ends hours after anything began is not part of what is judged."""

import json

import pytest

from stepscope.report import summary
from stepscope.session.trace import OpenTrace
from stepscope.session.trace import open as open_trace

HOUR_US = 3600 * 10**6


def recorded(tmp_path, events: list[dict[str, object]]) -> OpenTrace:
    path = tmp_path / "timeline.json"
    path.write_text(json.dumps({"traceEvents": [{"pid": 1, "ph": "X", **event} for event in events]}))
    return open_trace(path, cache=False)


def spans(number: int, dur: float) -> list[dict[str, object]]:
    return [{"name": "read", "tid": 1, "ts": 1000 * at, "dur": dur} for at in range(number)]


def judged(trace: OpenTrace) -> tuple[float, tuple[str, ...]]:
    ((dur_ps,),) = trace.query("SELECT dur_ps FROM step").rows()
    return dur_ps / 10**6, summary.build(trace).headline


def test_slices_that_are_open_when_a_file_is_closed_stretch_nothing(tmp_path):
    late = [{"name": "wait", "tid": 2 + at, "ts": 900 + at, "dur": 200 * HOUR_US} for at in range(3)]
    dur_us, headline = judged(recorded(tmp_path, [*spans(20, 500.0), *late]))
    assert dur_us == 19_500
    assert any(line.startswith("3 slices end up to 720,000 s after anything began") for line in headline)


def test_a_long_recording_in_which_something_goes_on_is_judged_whole(tmp_path):
    late = [{"name": "main", "tid": 2, "ts": 0, "dur": 3 * HOUR_US}]
    beats = [{"name": "beat", "tid": 1, "ts": at * HOUR_US / 10, "dur": 10.0} for at in range(30)]
    dur_us, headline = judged(recorded(tmp_path, [*beats, *late]))
    assert dur_us == 3 * HOUR_US
    assert not any("after anything began" in line for line in headline)


@pytest.mark.parametrize(("number", "dur_us"), [(2, 2 * HOUR_US), (20, HOUR_US - 1000)])
def test_few_slices_and_short_recordings_are_judged_whole(tmp_path, number, dur_us):
    late = [{"name": "wait", "tid": 2, "ts": 0, "dur": dur_us}]
    assert judged(recorded(tmp_path, [*spans(number, 500.0), *late]))[0] == dur_us


@pytest.mark.parametrize("at_us", [0, 900 * HOUR_US])
@pytest.mark.parametrize("tid", [1, 2])
def test_a_slice_far_from_all_others_stretches_nothing(tmp_path, at_us, tid):
    """One whose time was never set, in a clock that counts from the start of the machine."""
    others = [{**event, "ts": 300 * HOUR_US + 1000 * at} for at, event in enumerate(spans(20, 900.0))]
    dur_us, headline = judged(
        recorded(tmp_path, [*others, {"name": "stray", "tid": tid, "ts": at_us, "dur": 5}])
    )
    assert dur_us == 19_900
    (sentence,) = (line for line in headline if "away from all others" in line)
    assert sentence.startswith(f"1 slice lies up to {'1,080,000' if at_us == 0 else '2,160,000'} s away")


def test_work_after_a_long_wait_is_judged_with_it(tmp_path):
    early = spans(5, 900.0)
    late = [{**event, "ts": 3 * HOUR_US + 1000 * at} for at, event in enumerate(spans(20, 900.0))]
    assert judged(recorded(tmp_path, [*early, *late]))[0] == 3 * HOUR_US + 19_900


def test_spans_of_sequences_in_another_clock_stretch_nothing(tmp_path):
    """They count from another zero than the threads do."""
    sequences = [
        {"name": "request", "cat": "http", "ph": ph, "id": at, "tid": 9, "ts": at + (100 if ph == "e" else 0)}
        for at in range(5)
        for ph in "be"
    ]
    threads = [{**event, "ts": 50_000_000 + 1000 * at} for at, event in enumerate(spans(20, 900.0))]
    trace = recorded(tmp_path, [*sequences, *threads])
    dur_us, _ = judged(trace)
    assert dur_us == 19_900
    notes = trace.query("SELECT slug FROM source_note").rows()
    assert ("spans-elsewhere",) in notes


def test_spans_of_sequences_alone_are_judged(tmp_path):
    sequences = [
        {"name": "request", "cat": "http", "ph": ph, "id": at, "tid": 9, "ts": at + (100 if ph == "e" else 0)}
        for at in range(5)
        for ph in "be"
    ]
    dur_us, _ = judged(recorded(tmp_path, sequences))
    assert dur_us == 104
