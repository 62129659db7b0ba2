"""The program's functions that call PyTorch's ops, where calls of Python were traced (with_stack=True)."""

from __future__ import annotations

from stepscope.code_lines import CodeLine
from stepscope.instruments import traced_python
from stepscope.library.statements import Query, statement


def lines(query: Query) -> dict[int, CodeLine]:
    """The innermost function of the program around each op that launches kernels, by the op's slice, with the
    line where the function begins. Ops of a backward pass have none: their thread calls no Python."""
    own = {
        rollup_id: line
        for rollup_id, name in query(statement("calls_of_python")).rows()
        if traced_python.is_own(name)
        and (line := traced_python.called(name, traced_python.CATEGORY)) is not None
    }
    if not own:
        return {}
    found: dict[int, CodeLine] = {}
    open_: list[tuple[int, CodeLine]] = []
    on = None
    rows = query(statement("calls_and_launches", rollups=sorted(own))).rows()
    for track_id, begin_ps, end_ps, rollup_id, launched_from in rows:
        if track_id != on:
            on, open_ = track_id, []
        while open_ and open_[-1][0] <= begin_ps:
            open_.pop()
        if rollup_id is not None:
            open_.append((end_ps, own[rollup_id]))
        elif open_:
            found[launched_from] = open_[-1][1]
    return found
