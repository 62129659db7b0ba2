"""The line that runs a session's graph for most of a step, where training and an evaluation share its ops."""

import pytest

from stepscope.report.cause_text import limiting
from tests.draw import draw
from tests.instruments.test_interpreter_lock import looked
from tests.report.recordings import judgement_of

RUN = ("tensorflow/python/client/session.py", "BaseSession._call_tf_sessionrun", "library")
MAIN, TEST = ("train.py", "main", "program"), ("train.py", "evaluate", "program")


@pytest.mark.parametrize(("tested", "called"), [(30, "evaluate"), (20, None), (4, "main"), (0, None)])
def test_of_several_lines_that_run_a_graph_one_has_most(tested: int, called: str | None) -> None:
    """In a step of 36 units; one line that has all of it is no news."""
    tables = draw("""
step     train  : [0.................................]
cpu/pool thread : [a:MatMul..........................]
""")
    looked(tables, 1, 36 - tested, MAIN, RUN, main=True, cpu=1.0)
    if tested:
        looked(tables, 36 - tested, 36, MAIN, TEST, RUN, main=True, cpu=1.0)
    judgement = judgement_of(tables)
    assert judgement.cause == "compute"
    assert (judgement.run_in and judgement.run_in.function) == called
    sentence = " ".join(limiting(judgement))
    assert (f"most of it run in train.py:7 `{called}`" in sentence) == (called is not None)
