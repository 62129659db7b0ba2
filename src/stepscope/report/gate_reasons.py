"""Why a comparison may have missed a difference, as sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from stepscope import units
from stepscope.report.gate_figures import FIGURES, how_many

if TYPE_CHECKING:
    from stepscope.instruments.compare.gate import Judged


WHYS = {
    "few_recordings": "fewer than 4 recordings of each side have it",
    "few_steps": "too few steps",
    "noise": "recordings of one side differ too much",
    "ignored": "the budget leaves it out",
    "one_side": "only one side has it",
}


def reasons_text(judged: Judged) -> str:
    """Why a difference may have been missed."""
    return "; ".join(_REASONS.get(reason, _nothing_common)(judged) for reason in judged.reasons)


def _few_recordings(judged: Judged) -> str:
    numbers = f"{how_many(judged.baseline)} against {how_many(judged.candidate)}"
    return (
        f"time is judged from 4 recordings of each side on, not from {numbers}: how much"
        " recordings of one program differ is not known"
    )


def _no_steps(judged: Judged) -> str:
    sides = (("the baseline", judged.baseline), ("the candidate", judged.candidate))
    without = [name for name, side in sides if all(not run.steps for run in side)]
    return f"the recordings of {' and of '.join(without)} have no steps"


def _few_steps(judged: Judged) -> str:
    return "fewer than 4 recordings of a side have 10 steps or more"


def _different_programs(judged: Judged) -> str:
    shares = [units.show(share, "ratio") for share in judged.matched if share is not None]
    return (
        "the sides look like different programs, for ops that take"
        f" {' and '.join(shares)} of the time are on both"
    )


def _noise(judged: Judged) -> str:
    share = units.show(judged.judged_share or 0.0, "ratio")
    limit = units.show(judged.budget.can_see, "ratio")
    return (
        f"recordings of one side differ so much that an increase of {limit} would have been seen only"
        f" in ops that take {share} of the ops' time; record more, or on a machine with less to do"
    )


def _unclear(judged: Judged) -> str:
    unclear = [FIGURES[kept.name] for kept in judged.limits if kept.status == "unclear"]
    return f"recordings of one side differ in {', '.join(unclear)}"


def missing_text(names: Iterable[str]) -> str:
    """The figures that the candidate lacks."""
    return f"the candidate's recordings have no {', '.join(FIGURES[name] for name in names)}"


def _nothing_common(judged: Judged) -> str:
    return "the recordings have nothing that can be compared"


_REASONS: Mapping[str, Callable[[Judged], str]] = {
    "few_recordings": _few_recordings,
    "no_steps": _no_steps,
    "few_steps": _few_steps,
    "different_programs": _different_programs,
    "noise": _noise,
    "unclear": _unclear,
    "missing": lambda judged: missing_text(judged.missing),
}
