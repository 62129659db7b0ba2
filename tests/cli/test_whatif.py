"""`stepscope whatif`: what is printed, and what is refused."""

import json
from pathlib import Path

import pytest

import stepscope
from stepscope.cli import main
from stepscope.errors import NothingFound, UsageError
from stepscope.instruments.replay.whatif import DurationChange, ReplayedSteps
from stepscope.report import whatif

SAMPLES = Path(__file__).resolve().parents[1] / "samples"
MS = 1_000_000_000
SLOW_MAP = str(SAMPLES / "capture" / "slow_map")
UPLOADS = str(SAMPLES / "gpu" / "torch_uploads.json.gz")


def document(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> dict[str, object]:
    assert main(["whatif", "--no-cache", *words, "--format", "json"]) == code
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.repeats("two answers, each of which others read")
def test_what_limits_the_steps_is_told_as_in_the_summary(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, UPLOADS)
    with stepscope.open(UPLOADS) as trace:
        answer = trace.answer
        assert found["then_ps"] == answer.step_if_removed_ps is not None
        assert (found["low"], found["high"]) == (answer.low, answer.high)
    assert found["by"] == "parts"
    assert document(capsys, UPLOADS, "--without", "copy") == found


def test_a_bound_is_a_prediction(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, str(SAMPLES / "xplane" / "jax.xplane.pb.gz"))
    assert found["then_ps"] is None
    assert found["high"] is not None


@pytest.mark.repeats("another recording; an op is halved beside it")
def test_how_long_batches_take_that_are_made_in_another_way_is_not_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    maps = str(SAMPLES / "tf_data" / "two_maps_first_slow.xplane.pb.gz")
    assert document(capsys, maps, code=2)["then_ps"] is None
    assert main(["whatif", "--no-cache", maps]) == 2
    told = " ".join(capsys.readouterr().out.split())
    assert "What is done instead takes time as well: change it, record again, and compare the two." in told
    # Of steps without the profiler it is known what goes at most.
    found = document(capsys, SLOW_MAP)
    assert (found["then_ps"], found["saved_low"]) == (None, 0)
    assert 0 < found["saved_ps"] < found["saved_high"] < found["recorded_ps"]


def test_an_op_with_half_of_its_time(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, SLOW_MAP, "--op", "PyFunc=0.5")
    recorded, then = found["recorded_ps"], found["then_ps"]
    assert isinstance(recorded, int)
    assert isinstance(then, int)
    assert found["by"] == "replay"
    assert 0.4 * recorded < then < 0.7 * recorded
    assert main(["whatif", "--no-cache", SLOW_MAP, "--op", "PyFunc=0.5"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "With 50.0 % of PyFunc, a step would take about" in told
    assert "What is longest then: PyFunc" in told


def test_an_op_that_no_step_has_changes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["whatif", "--no-cache", SLOW_MAP, "--op", "NoSuchOp=0.5"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "No op of these steps is called NoSuchOp." in told
    assert "a step would take" not in told


def test_workers_ask_the_model_of_the_pipeline(capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, SLOW_MAP, "--workers", "4")
    recorded, then = found["recorded_ps"], found["then_ps"]
    assert isinstance(recorded, int)
    assert isinstance(then, int)
    assert found["by"] == "pipeline"
    assert then < recorded


@pytest.mark.parametrize(
    ("words", "seen"),
    [
        (("--without", "nothing"), "--without nothing"),
        (("--op", "PyFunc"), "--op PyFunc"),
        (("--op", "PyFunc=-1"), "--op PyFunc=-1"),
        (("--op", "PyFunc=nan"), "--op PyFunc=nan"),
        (("--workers", "4", "--op", "PyFunc=0.5"), "--workers beside"),
    ],
)
def test_what_makes_no_sense_is_refused(
    words: tuple[str, ...], seen: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["whatif", "--no-cache", SLOW_MAP, *words]) == 2
    assert seen in capsys.readouterr().err


def test_recordings_without_steps_have_nothing_to_replay(capsys: pytest.CaptureFixture[str]) -> None:
    for asked in ((), ("--without", "python")):
        assert main(["whatif", "--no-cache", str(SAMPLES / "graph" / "small.pb"), *asked]) == 2
        assert "There are no steps that can be replayed" in capsys.readouterr().err


def test_a_replay_that_misses_the_recording_predicts_nothing() -> None:
    change = DurationChange(ops={"MatMul": 0.5})
    missed = ReplayedSteps(0, 9, 100 * MS, 80 * MS)
    gaps = ReplayedSteps(0, 9, 100 * MS, 100 * MS, gaps_ps=30 * MS)
    for outcome, why in ((missed, "a step takes 80.0 ms instead of 100 ms"), (gaps, "for 30.0 ms of a step")):
        report = whatif.build("t", change, [outcome], [])
        assert report.headline[0].startswith("No prediction")
        assert why in report.headline[0]
        assert report.document["then_ps"] is None
    assert missed.misses == 0.2


def test_python_asks_the_same() -> None:
    with stepscope.open(SLOW_MAP) as trace:
        half = trace.whatif(ops={"PyFunc": 0.5})
        assert half.then_ps is not None
        assert half.then_ps < half.recorded_ps
        assert half.headline[0].startswith("With 50.0 % of PyFunc")
        with pytest.raises(UsageError):
            trace.whatif("nothing")
    with stepscope.open(SAMPLES / "graph" / "small.pb") as trace, pytest.raises(NothingFound):
        trace.whatif("python")


def test_what_the_summary_predicts_needs_no_thread_that_drives_the_steps(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The recorder times steps of TensorFlow 1, and RunMetadata has no threads: nothing can be replayed."""
    fed = str(SAMPLES / "tf1" / "fed.tar.xz")
    found = document(capsys, fed)
    assert (found["by"], found["replayed_ps"], found["misses"]) == ("parts", None, None)
    saved = found["saved_ps"]
    assert isinstance(saved, int)
    assert saved > 0
    assert main(["whatif", "--no-cache", fed, "--op", "MatMul=0.5"]) == 2
    assert "can be replayed" in capsys.readouterr().err
