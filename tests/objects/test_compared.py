"""stepscope.diff(), .check() and .record(), as a program calls them."""

import pytest

import stepscope
from stepscope import capture
from stepscope.errors import NothingFound, UsageError
from tests.corpus import SAMPLES

SLOW, LOOP = (SAMPLES / "capture" / name for name in ("slow_map", "python_loop"))


def test_two_recordings_side_by_side() -> None:
    found = stepscope.diff(SLOW, str(LOOP))
    assert found.title == "slow_map (A) and python_loop (B)"
    assert found.sections
    assert found.data["format"] == 1
    same = stepscope.diff(SLOW, SLOW)
    assert str(SLOW) in same.title


def test_one_with_steps_and_one_without_are_compared_as_wholes() -> None:
    found = stepscope.diff(SLOW, SAMPLES / "chrome" / "horovod.json")
    assert found.sections
    with pytest.raises(NothingFound, match="A dump of XLA holds no times to compare"):
        stepscope.diff(SLOW, SAMPLES / "xla_dump")


def test_a_gate() -> None:
    assert stepscope.check(SLOW, [SLOW]).verdict == "unknown"
    assert stepscope.check([SLOW], SLOW, counts=True).verdict == "no_regression"
    limited = stepscope.check(SLOW, SLOW, budget={"limits": {"ops_per_step": 1}}, counts=True)
    assert limited.verdict == "regression"
    assert limited.headline[0].startswith("A regression: ops in a step ")
    with pytest.raises(UsageError, match="means nothing"):
        stepscope.check(SLOW, SLOW, budget={"limit": {}})


def test_recording_is_that_of_capture() -> None:
    assert stepscope.record is capture.record


@pytest.mark.parametrize("path", [5, None, b"x", {"a": 1}])
def test_what_is_no_path_is_an_error_of_ours(path: object) -> None:
    with pytest.raises(UsageError, match=f"{type(path).__name__} is no path"):
        stepscope.open(path)  # type: ignore[arg-type]
