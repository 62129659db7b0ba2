"""Rows of the table hlo_case: one for each place that speaks for a problem of a dumped program."""

from collections.abc import Mapping
from typing import Any

from stepscope import code_lines
from stepscope.escapes import printable

Row = Mapping[str, Any]
Program = Mapping[str, Any]
Case = dict[str, Any]
"""A row of hlo_case without its number."""


def case_row(
    kind: str,
    what: str,
    value: float,
    share: float | None = None,
    instruction: str | None = None,
    *,
    op_name: str | None = None,
    file: str | None = None,
    line: int | None = None,
) -> Case:
    """A row without its program. value: bytes, or a number of programs, as hlo_case says of the kind."""
    return {
        "module_id": None,
        "kind": kind,
        "instruction": instruction and printable(instruction),
        "what": printable(what),
        "value": float(value),
        "share": share,
        "op_name": op_name and printable(op_name),
        "file": file,
        "line": line,
    }


def instruction_case(
    program: Program, row: Row, kind: str, what: str, value: float, share: float | None = None
) -> Case:
    """A case of an instruction."""
    file, line = code_lines.frame_line(program["frames"], row["frame"])
    return case_row(
        kind, what, value, share, row["name"], op_name=row["op_name"] or None, file=file, line=line
    )
