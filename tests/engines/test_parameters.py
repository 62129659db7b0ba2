"""What only a long run compares (repeats_second_engine.py) can be asked: its statements get values."""

import stepscope
from stepscope.library import statements
from tests import corpus
from tests.engines.parameters import of_source, sets_of_values


def test_every_parameter_of_a_statement_has_a_value_of_its_type() -> None:
    with stepscope.open(corpus.SAMPLES / "run_metadata") as trace:
        ((source_id, run_id, host_id, *_), *_) = trace.query(statements.statement("sources")).rows()
        known = of_source(trace, source_id, run_id, host_id, ["jit_step"])
    assert known["names"], "the ops of the sample"
    for one in statements.reads():
        (values,) = sets_of_values(one, [known])
        assert statements.statement(one.name, **values).sql
