"""The start-up of a recorded program: how long it ran before its first step."""

from __future__ import annotations

from stepscope import units
from stepscope.library.statements import Query, statement

_MUCH = 0.25
_LONG_PS = 5 * 10**12
"""A start-up that takes this part of the run, and so long, is said at the top."""


def sentences(query: Query, much: bool) -> list[str]:
    """How long the program ran, and what of that went by before its first step; none of several programs, or
    where the recorder saw no end or no first step. much: whether that takes a good part of the run."""
    rows = query(statement("program_starts")).rows()
    if len(rows) != 1:
        return []
    _, _, ran_ps, before_ps, compiled_ps = rows[0]
    if (before_ps >= _LONG_PS and before_ps >= _MUCH * ran_ps) != much:
        return []
    before, ran = units.show(before_ps, "ps"), units.show(ran_ps, "ps")
    compiled = f", {units.show(compiled_ps, 'ps')} of that compiling" if compiled_ps else ""
    return [f"The program ran for {ran}: its first step began after {before}{compiled}."]
