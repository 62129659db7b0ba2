"""The program's functions that call PyTorch's ops, where calls of Python were traced (with_stack=True)."""

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
    lines: dict[str, CodeLine | None] = {}
    own_calls: dict[int, str] = {}
    for rollup_id, name in query(statement("calls_of_python")).rows():
        if name not in lines:  # each thread has a row of its own for a function
            of_program = traced_python.is_own(name)
            lines[name] = traced_python.called(name, traced_python.CATEGORY) if of_program else None
        if lines[name] is not None:
            own_calls[rollup_id] = name
    if not own_calls:
        return {}
    sums: dict[tuple[int, int], dict[str, list[int]]] = defaultdict(dict)
    for call_id, alike_id, device, executions, took_ps in _core.ops_in_calls(
        stream(statement("kernels_in_calls")), set(own_calls)
    ):
        total = sums[alike_id, device].setdefault(own_calls[call_id], [0, 0])
        total[0] += executions
        total[1] += took_ps
    return {
        alike: [CalledKernels(line, *total) for name, total in of_one.items() if (line := lines[name])]
        for alike, of_one in sums.items()
    }
