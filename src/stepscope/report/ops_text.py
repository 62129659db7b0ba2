"""Which ops take most of a step, as the second half of a sentence."""

from stepscope import units
from stepscope.instruments.causes.all_causes import COMPUTE
from stepscope.instruments.causes.cause_facts import WholeTable
from stepscope.instruments.causes.judgement import Judgement
from stepscope.report.cause_phrases import made_in, small_ops
from stepscope.report.names import place_of, shortened, unit_of

_LITTLE = 0.01
"""An op that takes less of the time of all ops is not named."""
_LOOPS = ("while", "While", "StatelessWhile")
"""Ops that are loops of a compiled program."""


def ops(judgement: Judgement) -> str:
    """The op that takes most, and what another thread runs at the same time."""
    if judgement.meanwhile is None:
        return _most_of_ops(judgement)
    beside = f"; another thread runs {place_of(judgement.meanwhile)} then, which wants a core, too, and the"
    return f"{_most_of_ops(judgement)}{beside} interpreter between ops"


def _most_of_ops(judgement: Judgement) -> str:
    """In which function most ops run, how many and small they are, and which type or layer takes most."""
    with_gradients = " with its gradients" if judgement.gradients_too else ""
    ran_in = judgement.spent_in
    text = "" if ran_in is None else f", most of it in {place_of(ran_in)}{with_gradients}"
    if judgement.small_ops is not None:
        text += f": {small_ops(judgement, *judgement.small_ops)}"
    if judgement.table is not None:
        return text + _table(judgement.table, unit_of(judgement))
    if judgement.op_type is None or judgement.op_share is None or judgement.op_share < _LITTLE:
        return text
    if not judgement.of_ops:
        return text  # Of what was drawn, whatever it was, a sentence of its own says what took most.
    name, share = shortened(judgement.written_op or judgement.op_type), judgement.op_share
    name += "" if judgement.launched_by is None else f" of {judgement.launched_by}"
    if _layer_alone(judgement) and judgement.layer is not None:
        name, share = judgement.layer.rpartition("/")[2], judgement.layer_share or share
    # Ops run side by side: their times add up to more than the time in which any runs.
    text += f", {name} for {units.show(share, 'ratio')} of all compute time"
    # Of many small ops, the one that runs all others tells what to mend.
    in_loop = judgement.small_ops is not None and judgement.op_type in _LOOPS
    made = made_in(judgement) if judgement.cause == "compute" or in_loop else ""
    if judgement.run_in is None:
        return text + made
    return f"{text}{made}{' and' if made else ', most of it'} run in {place_of(judgement.run_in)}"


def _table(table: WholeTable, unit: str) -> str:
    """The time of ops on all rows of a table."""
    part = f"for {units.show(table.share, 'ratio')} of all compute time"
    looks_up = f"a {unit} looks up at most {table.used_rows:,}"
    return f", ops on all {table.rows:,} rows of a table {part}: {looks_up}"


def _layer_alone(judgement: Judgement) -> bool:
    """Whether a layer that the model names stands out, and no type of op does."""
    named = judgement.layer is not None and ":" not in judgement.layer
    return named and (judgement.op_share or 0.0) < COMPUTE.thresholds.one_op
