"""The steps of a trace that took time, and which of them are judged."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from stepscope.instruments.causes.gain import Sums
from stepscope.instruments.causes.thresholds import STANDS_OUT, CauseThresholds
from stepscope.instruments.thresholds import ANY, DRAWN, tuned
from stepscope.library.statements import Query, statement


@dataclass(frozen=True, eq=False, repr=False)
class CompileThresholds(CauseThresholds):
    """When compiling happens again and again, and is judged with the steps that averages leave out."""

    stands_out: float = tuned(0.25, STANDS_OUT, slack=(0.019, inf), by=("run_metadata/xla_cluster.pb",))
    again: int = tuned(
        2,
        "so many steps that compile, after one of their source that does not, are no warm-up",
        fitted_on=DRAWN,
        slack=ANY,
    )


COMPILING = CompileThresholds()


class TimedStep(NamedTuple):
    """A row of the view step, with its parts."""

    id: int
    run_id: str
    host_id: str
    source_id: int
    dur_ps: int
    averaged: bool
    kind: str
    recovered_from: str
    sums: Sums


def timed_steps(query: Query) -> list[TimedStep]:
    """All steps that took time, with their parts."""
    sums: dict[int, dict[str, int]] = defaultdict(dict)
    for step_id, label, dur_ps in query(statement("parts_of_steps")).rows():
        sums[step_id][label] = dur_ps
    return [
        TimedStep(step_id, run_id, host_id, source_id, dur_ps, averaged, kind, recovered_from, sums[step_id])
        for source_id, run_id, host_id, step_id, _, dur_ps, averaged, kind, recovered_from in query(
            statement("timed_steps")
        ).rows()
    ]


def steps_by_host(query: Query) -> dict[tuple[str, str], list[TimedStep]]:
    """All of them by run and host."""
    found: dict[tuple[str, str], list[TimedStep]] = defaultdict(list)
    for step in timed_steps(query):
        found[step.run_id, step.host_id].append(step)
    return found


def judged_steps(steps: Sequence[TimedStep]) -> list[TimedStep]:
    """The steps that are judged: those that averages include. When steps compile again and again, that is
    what they do; only the first may be left out."""
    averaged = [step for step in steps if step.averaged]
    compiling = sum(step.kind == "compile" for step in steps)
    if compiles_again(steps):
        return list(steps)
    return averaged if averaged and len(averaged) >= compiling else list(steps)


def compiles_again(steps: Sequence[TimedStep]) -> bool:
    """Whether compiling takes enough of all that was recorded to limit it, though few steps do it and their
    averages leave them out. Steps that compile before any other warm up: of each source, or of all files that
    hold a step each, since these are of one program."""
    warm: set[int | None] = set()
    again = 0
    whole_ps = compile_ps = 0
    for step in steps:
        compiles = step.kind == "compile"
        program = None if step.recovered_from == "file" else step.source_id
        if not compiles:
            warm.add(program)
        if program in warm:
            again += compiles
            whole_ps += step.dur_ps
            compile_ps += step.sums.get("compile", 0)
    return again >= COMPILING.again and compile_ps >= COMPILING.stands_out * whole_ps
