"""What speaks for problems of dumped programs and stands in no column of their tables: the table hlo_case.

To see it takes the operands of instructions, their order in the schedule, shapes of parameters as text, or
the program's own log; what the other tables show, findings ask of them. Only programs that are dumped to
their end are looked into, each once, those that move most bytes first, up to a number of instructions; what
is left out is counted. What the files do not say is not guessed: thunks of the CPU may run beside a
collective whatever the order in the schedule. A donated buffer that XLA could not use is still among the
donors of the program; one that JAX refused never was, and only the program's log tells, as it does of
registers that are spilled.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from stepscope import _core
from stepscope.escapes import printable
from stepscope.formats.xla.case_rows import Case, Row, case_row
from stepscope.formats.xla.compared_programs import compiled_again, mixed_numbers
from stepscope.formats.xla.dumps import is_final
from stepscope.formats.xla.program_cases import LAYOUT, program_cases
from stepscope.formats.xla.program_log import LogStatement

_MOST_INSTRUCTIONS = 100_000
"""Of all programs that are searched, unless the first one has more."""
_LARGEST = 300_000
"""Instructions of a program that is searched."""
_MOST_BYTES = 1 << 28
"""Size of a file that is still opened a second time."""


class Cases(NamedTuple):
    """Rows of hlo_case, and the number of programs that were not looked into."""

    rows: list[Case]
    left_out: int


def find(
    programs: Sequence[tuple[int, Row]], log: Sequence[LogStatement], read: Callable[[Row], bytes]
) -> Cases:
    """What speaks for problems. programs: the last row of `dumps` of each module that could be read, with the
    number of the module. log: of logs. read: gives the bytes of a row's file; OSError when it is gone."""
    cases = [*compiled_again(programs), *mixed_numbers(programs)]
    finished = sorted(
        ((at, row) for at, row in programs if is_final(row)),
        key=lambda row: (-row[1]["run_bytes"], row[1]["file"]),
    )
    searched = left_out = 0
    spills = {statement.name: statement for statement in log if statement.kind == "spilled"}
    for at, row in finished:
        full = searched and searched + row["instructions"] > _MOST_INSTRUCTIONS
        if full or row["instructions"] > _LARGEST or row["file_bytes"] > _MOST_BYTES:
            left_out += 1
            continue
        searched += row["instructions"]
        try:
            program = _core.hlo_module(read(row))
        except (OSError, _core.CoreError):  # it changed since it was summed up
            left_out += 1
            continue
        cases += ({**case, "module_id": at} for case in program_cases(row, program, spills))
    cases += (_logged("spill", spill, None) for spill in spills.values())
    cases += (
        _logged("donor", statement, _taker(statement, finished))
        for statement in log
        if statement.kind == "refused"
    )
    return Cases(cases, left_out)


def _logged(kind: str, logged: LogStatement, module: int | None) -> Case:
    """What a log says, with the program where only one can be meant."""
    case = case_row(
        kind, logged.what, logged.value, None, logged.name, file=printable(logged.path), line=logged.at
    )
    return {**case, "module_id": module}


def _taker(logged: LogStatement, programs: Sequence[tuple[int, Row]]) -> int | None:
    """The program with a parameter of the shape of a refused argument, if only one function has one."""
    shape = _xla_shape(logged.name)
    found = [
        (at, row["function"])
        for at, row in programs
        if shape in LAYOUT.sub("", row["parameters"] or "").split(", ")
    ]
    return found[0][0] if len({function for _, function in found}) == 1 else None


def _xla_shape(shape: str) -> str:
    """A shape as JAX writes it, in the words of XLA: float32[8] is f32[8]."""
    name, _, dims = shape.partition("[")
    for jax, xla in (("bfloat", "bf"), ("float", "f"), ("uint", "u"), ("int", "s"), ("complex", "c")):
        if name.startswith(jax):
            return f"{xla}{name.removeprefix(jax)}[{dims}"
    return f"{'pred' if name == 'bool' else name}[{dims}"
