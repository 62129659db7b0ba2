"""The course of a recorded program: how long it ran before its first step, and between steps."""

from __future__ import annotations

from stepscope import units
from stepscope.library.statements import Query, statement

_MUCH = 0.25
_LONG_PS = 5 * 10**12
"""A start-up that takes this part of the run, and so long, is said at the top."""


_BETWEEN, _SECOND_PS = 0.1, 10**12
"""So is what lies between steps."""


def sentences(query: Query, much: bool) -> list[str]:
    """How long the program ran, what of that went by before its first step, and what lies between steps, such
    as validation; none of several programs, or where the recorder saw no end or no first step. much: what
    takes a good part of the run, or else the rest."""
    rows = query(statement("program_starts")).rows()
    if len(rows) != 1:
        return []
    _, _, ran_ps, before_ps, compiled_ps, stepping_ps, between_ps = rows[0]
    found = []
    if (before_ps >= _LONG_PS and before_ps >= _MUCH * ran_ps) == much:
        found.append(_start(ran_ps, before_ps, compiled_ps))
    if much and stepping_ps and between_ps >= _SECOND_PS and between_ps >= _BETWEEN * stepping_ps:
        between, stepping = units.show(between_ps, "ps"), units.show(stepping_ps, "ps")
        text = f"Of the {stepping} from its first step to the last one seen, {between} lie between steps."
        found.append(text)
    return found


def _start(ran_ps: int, before_ps: int, compiled_ps: int) -> str:
    """How long the program ran, and when its first step began."""
    before, ran = units.show(before_ps, "ps"), units.show(ran_ps, "ps")
    compiled = f", {units.show(compiled_ps, 'ps')} of that compiling" if compiled_ps else ""
    return f"The program ran for {ran}: its first step began after {before}{compiled}."
