"""Functions that compile again, as the explanation of a step's compiling."""

import pytest

from tests.report import made_recordings
from tests.report.recordings import judgement_of


@pytest.mark.parametrize(("part", "explains"), [(1, True), (4, True), (5, False)])
def test_calls_that_take_little_of_the_compiling_explain_nothing(part: int, explains: bool) -> None:
    """As where gradients are traced anew in each step, and an op was compiled beside."""
    tables = made_recordings.compilations("value")
    for row in tables.rows["compilation"]:
        row["dur_ps"] //= part
    found = judgement_of(tables)
    assert (found.cause, found.retrace is not None) == ("compile", explains)


def test_one_call_is_no_change_each_time() -> None:
    tables = made_recordings.compilations("value")
    assert judgement_of(tables).retrace is not None
    del tables.rows["compilation"][2:]
    found = judgement_of(tables)
    assert (found.cause, found.steps, found.retrace) == ("compile", 2, None)


def test_of_a_single_step_one_call_is_all() -> None:
    found = judgement_of(made_recordings.one_compilation())
    assert found.retrace.times == 1
