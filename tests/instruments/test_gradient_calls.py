"""Gradients count to the calls that made what they are of, where arrows tell."""

import pytest

from stepscope.code_lines import CodeLine
from stepscope.instruments.causes.cause_facts import Recomputed
from stepscope.instruments.causes.gradient_calls import calls_of_ops
from stepscope.instruments.causes.ranking import judge
from stepscope.instruments.causes.sampled_lines import StackEvidence, stacks_of_host
from tests.draw import UNIT_PS, Tables, draw
from tests.fakes import FakeTrace
from tests.instruments.test_interpreter_lock import looked
from tests.report import made_recordings
from tests.report.recordings import connection, judgement_of, queried

MAIN = ("train.py", "main", "program")
ENCODER, HEAD = ("net.py", "Encoder.forward", "program"), ("net.py", "Head.forward", "program")
BACKWARD = ("torch/autograd/graph.py", "_engine_run_backward", "library")


def a_step(arrows: bool) -> Tables:
    """An encoder that computes for 6 units and a head for 8; their gradients take 12 and 6."""
    tables = draw("""
step       train  : [0.....................................]
cpu/python thread : [a:mm][b:add][M:Mm......][A:Ad]
""")
    for row, (begin, end) in zip(tables.rows["slice"], ((1, 7), (7, 15), (15, 27), (27, 33)), strict=True):
        row["ts_ps"], row["dur_ps"] = begin * UNIT_PS, (end - begin) * UNIT_PS
    looked(tables, 1, 7, MAIN, ENCODER, main=True, cpu=1.0)
    looked(tables, 7, 15, MAIN, HEAD, main=True, cpu=1.0)
    looked(tables, 15, 33, MAIN, BACKWARD, main=True, cpu=1.0)
    made, _, gradient, _ = tables.rows["slice"]
    for phase, row in (("start", made), ("end", gradient)) if arrows else ():
        tables.add(
            "flow", flow_id=1, phase=phase, slice_id=row["id"], category="fwdbwd", ts_ps=row["ts_ps"] + 1
        )
    return tables


@pytest.mark.parametrize(
    ("arrows", "encoder", "asking"), [(True, 18, 6), (False, 6, 18)], ids=["arrows", "without"]
)
def test_gradients_count_to_what_made_them(arrows: bool, encoder: int, asking: int) -> None:
    """Of the gradients only that of the encoder has an arrow: the other stays with the call that asks."""
    query = queried(a_step(arrows))
    found, gradients = calls_of_ops(StackEvidence(query, stacks_of_host(query, "r", "h"), [0]))
    took = {path[-1].function: dur_ps / UNIT_PS for path, dur_ps in found.items()}
    assert bool(gradients) is arrows
    assert took == {"Encoder.forward": encoder, "Head.forward": 8, "main": asking}
    assert all(path[0] == CodeLine("train.py", 7, "main") for path in found)


@pytest.mark.parametrize(
    ("seen", "then", "called"),
    [(2.0, 8.0, None), (6.1, 8.0, "Encoder.forward"), (2.0, 6.1, "Head.forward")],
    ids=["in no sample", "in the first", "in the second"],
)
def test_the_sample_before_an_op_does_not_tell_who_called_it(
    seen: float, then: float, called: str | None
) -> None:
    """It may be of a call without gradients that was over by then."""
    tables = a_step(arrows=True)
    made = tables.rows["slice"][0]
    made["ts_ps"], made["dur_ps"] = 6 * UNIT_PS, UNIT_PS // 4
    tables.rows["flow"][0]["ts_ps"] = made["ts_ps"]
    encoder, head, _ = tables.rows["stack_sample"]
    encoder["seen_ps"], head["seen_ps"] = round(seen * UNIT_PS), round(then * UNIT_PS)
    turns_ps = (5 if seen < 5 else 7) * UNIT_PS
    encoder["weight_ps"] = turns_ps - encoder["ts_ps"]
    head |= {"ts_ps": turns_ps, "weight_ps": 15 * UNIT_PS - turns_ps}
    query = queried(tables)
    _, gradients = calls_of_ops(StackEvidence(query, stacks_of_host(query, "r", "h"), [0]))
    assert [path[-1].function for path in gradients] == ([called] if called else [])


@pytest.mark.parametrize(
    ("function", "share"),
    [
        ("_checkpoint_hook.__init__.unpack_hook", 12 / 40),
        ("CheckpointFunction.backward", 12 / 40),
        ("checkpoint", None),
    ],
)
def test_what_was_not_kept_for_gradients_is_computed_again(function: str, share: float | None) -> None:
    """With all that is called within, as the layer itself."""
    tables = a_step(arrows=False)
    tables.rows["stack_sample"].pop()
    again = ("torch/utils/checkpoint.py", function, "library")
    looked(tables, 15, 21, MAIN, BACKWARD, again, main=True, cpu=1.0)
    looked(tables, 21, 27, MAIN, BACKWARD, again, ENCODER, main=True, cpu=1.0)
    looked(tables, 27, 33, MAIN, BACKWARD, main=True, cpu=1.0)
    judgement = judgement_of(tables)
    assert judgement.cause in ("compute", "none")
    assert judgement.recomputed == (None if share is None else Recomputed("torch.utils.checkpoint", share))


def test_what_jax_computes_again_is_told_by_its_programs() -> None:
    """A name that another program gives an op that is computed once tells nothing."""
    tables = made_recordings.ops_that_are_computed_again()
    judgement = judgement_of(tables)
    again, once = (row["dur_ps"] for row in tables.rows["slice"])
    computing = judgement.share_of("compute")
    assert judgement.recomputed.by == "jax.checkpoint"
    assert judgement.recomputed.share == pytest.approx(again / (again + once) * computing)
    made = {"source_id": 0, "module_id": 1, "opcode": "dot", "name": "dot.1", "op_name": "jit(f)/dot_general"}
    tables.add("hlo_instruction", **made)
    tables.fill(connection(), sums=False)
    (judgement,) = judge(FakeTrace(connection()).query)
    assert judgement.recomputed is None
