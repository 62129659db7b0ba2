"""The program's functions that call PyTorch's ops, where calls of Python were traced (with_stack=True)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from stepscope import _core
from stepscope.code_lines import CodeLine
from stepscope.instruments import traced_python
from stepscope.library.statements import Query, Stream, statement


class CalledKernels(NamedTuple):
    """Executions of an op within one function, and what their kernels took."""

    line: CodeLine
    executions: int
    took_ps: int


def called(query: Query, stream: Stream) -> Mapping[tuple[int, int], list[CalledKernels]]:
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
    sums = _core.ops_in_calls(stream(statement("kernels_in_calls")), set(own_calls))
    for call_id, alike_id, device, executions, took_ps in sums:
        found[alike_id, device].append(CalledKernels(own_calls[call_id], executions, took_ps))
    return found
