"""Cases that several dumped programs show: functions compiled again, and processes mixed in a folder."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

from stepscope.formats.xla.case_rows import Case, Row, case_row

_LEAST_INSTRUCTIONS = 8
"""Programs with fewer are mostly single ops, which are compiled for each type that they are used with."""
_ANONYMOUS = ("_lambda", "_lambda_", "_fun")
"""Names that JAX gives to functions without one: other parameters may be of another function."""


def compiled_again(programs: Sequence[tuple[int, Row]]) -> Iterator[Case]:
    """Functions that were compiled more than once for other shapes, or else for other types, and the first
    parameter that changed."""
    compiles: dict[Any, list[tuple[int, Row]]] = defaultdict(list)
    for at, row in programs:
        if row["parameters"]:
            compiles[row["folder"], row["function"]].append((at, row))
    for same in compiles.values():
        alike: dict[Any, list[tuple[int, Row]]] = defaultdict(list)
        for program in same:
            alike[_types(program[1]["parameters"])].append(program)
        kind, most = "shapes", max(alike.values(), key=lambda rows: len(_inputs(rows)))
        if len(_inputs(most)) < 2:
            kind, most = "types", same
            if len(_inputs(most)) < 2 or max(row["instructions"] for _, row in same) < _LEAST_INSTRUCTIONS:
                continue
            if same[0][1]["function"] in _ANONYMOUS:
                continue
        inputs = _inputs(most)
        yield {**case_row(kind, _changed(inputs[0], inputs[1]), len(inputs)), "module_id": most[0][0]}


def _inputs(rows: Sequence[tuple[int, Row]]) -> list[str]:
    """The different parameters of programs, in the order in which they were compiled."""
    return list(dict.fromkeys(row["parameters"] for _, row in rows))


def _types(parameters: str) -> tuple[str, ...]:
    """The types of parameters, and how many dimensions each has."""
    return tuple(re.sub(r"\d+(?=[,\]])", "", shape) for shape in _shapes(parameters))


def _changed(a: str, b: str) -> str:
    """The first parameter that differs, with both shapes."""
    for number, (shape, other) in enumerate(zip_longest(_shapes(a), _shapes(b), fillvalue="no parameter")):
        if shape != other:
            return f"parameter {number} was {shape}, then {other}"
    return f"the layout of parameters was {a}, then {b}"


def _shapes(text: str) -> list[str]:
    """The shapes in a list, without their layouts: commas inside of brackets part nothing."""
    found, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth:
            found.append(text[start:at])
            start = at + 1
    return [re.sub(r"\{[^{}]*\}", "", parameter).strip() for parameter in (*found, text[start:])]


def mixed_numbers(programs: Sequence[tuple[int, Row]]) -> Iterator[Case]:
    """Numbers that modules of two names have: a process gives each number once, and begins at 0. Names that
    begin with the time of the process are apart."""
    numbers: dict[Any, dict[str, int]] = defaultdict(dict)
    for at, row in programs:
        if row["id"] is not None and row["stage"] != "snapshot":
            clock = (row["file"] or "").partition("module_")[0]
            numbers[row["folder"], clock, row["id"]].setdefault(row["module"], at)
    for same in numbers.values():
        if len(same) > 1:
            yield {
                **case_row("mixed", " and ".join(sorted(same)[:2]), len(same)),
                "module_id": next(iter(same.values())),
            }
