"""The program's functions that call PyTorch's ops, where calls of Python were traced (with_stack=True)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from stepscope.code_lines import CodeLine
from stepscope.instruments import traced_python
from stepscope.library.statements import Query, statement


class CalledKernels(NamedTuple):
    """Executions of an op within one function, and what their kernels took."""

    line: CodeLine
    executions: int
    took_ps: int


def called(query: Query) -> Mapping[tuple[int, int], list[CalledKernels]]:
    """What ops launched within the program's functions: the innermost around each execution counts, with the
    line where the function begins. By number of the row of the statement costed_kernels and of its device.
    Ops of a backward pass are not in it: their thread calls no Python."""
    own_calls = {
        rollup_id: line
        for rollup_id, name in query(statement("calls_of_python")).rows()
        if traced_python.is_own(name)
        and (line := traced_python.called(name, traced_python.CATEGORY)) is not None
    }
    if not own_calls:
        return {}
    found: dict[tuple[int, int], list[CalledKernels]] = defaultdict(list)
    batches = query(statement("kernels_in_calls", rollups=sorted(own_calls))).batches()
    for (call_id, alike_id, device), (executions, took_ps) in _sums(batches).items():
        found[alike_id, device].append(CalledKernels(own_calls[call_id], executions, took_ps))
    return found


def _sums(batches: Iterable[Sequence[Sequence[Any]]]) -> dict[tuple[int, int, int], list[int]]:
    """Executions and what they took, by the innermost call around them, what they are alike in, and
    device."""
    sums: dict[tuple[int, int, int], list[int]] = {}
    open_: list[tuple[int, int]] = []
    on = None
    for batch in batches:
        for track_id, begin_ps, end_ps, call_id, alike_id, device, took_ps in batch:
            if track_id != on:
                on, open_ = track_id, []
            while open_ and open_[-1][0] <= begin_ps:
                open_.pop()
            if call_id is not None:
                open_.append((end_ps, call_id))
            elif open_:
                sum_of = sums.setdefault((open_[-1][1], alike_id, device), [0, 0])
                sum_of[0] += 1
                sum_of[1] += took_ps
    return sums
