"""The course of a recorded program: how long it ran before its first step, and between steps."""

from statistics import median
from typing import NamedTuple

from stepscope import units
from stepscope.instruments.causes.paces import are_steps
from stepscope.library.statements import Query, statement
from stepscope.report.names import listed

_MUCH, _LONG_PS = 0.25, 5 * 10**12
"""A start-up that takes this part of the run, and so long, is said at the top."""
_BETWEEN, _SECOND_PS = 0.1, 10**12
"""So is what lies between steps, where that takes this part of the time from the first to the last."""


PHASES = {"train": "training", "eval": "evaluation", "predict": "prediction", "export": "exporting"}
"""What an Estimator does, by the kind of its steps."""


class RunCourse(NamedTuple):
    """Sentences about the course of a run."""

    at_top: list[str]
    """What takes a good part of it."""
    beside: list[str]
    """What is said beside the recording."""


def run_course(query: Query) -> RunCourse:
    """How long the program ran, what of that went by before its first step, and what lies between steps, such
    as validation; nothing of several programs, or where the recorder saw no end or no first step."""
    found = RunCourse([], [])
    rows = query(statement("program_starts")).rows()
    if len(rows) != 1:
        return found
    _, _, ran_ps, before_ps, compiled_ps, stepping_ps, between_ps = rows[0]
    much = before_ps >= _LONG_PS and before_ps >= _MUCH * ran_ps
    (found.at_top if much else found.beside).append(_start(ran_ps, before_ps, compiled_ps))
    long = bool(stepping_ps) and between_ps >= _SECOND_PS and between_ps >= _BETWEEN * stepping_ps
    if long and times_whole_steps(query):
        between, stepping = units.show(between_ps, "ps"), units.show(stepping_ps, "ps")
        course = f"Of the {stepping} from its first step to the last one seen"
        found.at_top.append(f"{course}, {between} lie between steps{_rounds(query)}.")
    return found


def times_whole_steps(query: Query) -> bool:
    """Whether the recorder's steps are those of the recording, as far as both are known."""
    timed = query(statement("traced_durations")).rows()
    timed_ps = [1000 * value for *_, of_call, series, value, _ in timed if (of_call, series) == _TRACED]
    recorded_ps = [row[5] for row in query(statement("timed_steps")).rows()]
    return not timed_ps or not recorded_ps or are_steps(median(timed_ps), recorded_ps)


def _rounds(query: Query) -> str:
    """What an Estimator did between steps."""
    rounds = query(statement("rounds_beside_steps")).rows()
    found = [
        f"{units.show(dur_ps, 'ps')} in {units.count(number, 'round')} of {PHASES[kind]}"
        for kind, number, dur_ps in rounds
    ]
    return f": {listed(found)}" if found else ""


_TRACED = (False, "traced_ns")


def _start(ran_ps: int, before_ps: int, compiled_ps: int) -> str:
    """How long the program ran, and when its first step began."""
    before, ran = units.show(before_ps, "ps"), units.show(ran_ps, "ps")
    compiled = f", {units.show(compiled_ps, 'ps')} of that compiling" if compiled_ps else ""
    return f"The program ran for {ran}: its first step began after {before}{compiled}."
