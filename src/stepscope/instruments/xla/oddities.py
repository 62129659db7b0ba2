"""What is odd about the programs of a dump folder: figures and names; sentences are made elsewhere."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

Row = Mapping[str, Any]

_LARGE_BYTES = 1 << 20
_SHARE = 0.1
_MOST_COPIES = 10
_LEAST_INSTRUCTIONS = 8
"""Programs with fewer are mostly single ops."""
_ANONYMOUS = ("_lambda", "_lambda_", "_fun")
"""Names that JAX gives to functions without one: other parameters may be of another function."""


class Odd(NamedTuple):
    """Something odd. kind: recompiled, retyped, mixed, unfinished, loops, open_loops, custom_calls, doubles,
    constants, gaps or copies. value: how much of it. of: what that is compared with. details: names and
    shapes."""

    kind: str
    module: str
    id: int | None
    value: float
    of: float = 0
    details: tuple[str, ...] = ()


def finals(rows: Sequence[Row]) -> list[Row]:
    """The row of each module that says most: after optimisation, else the last that could be read."""
    last: dict[Any, Row] = {}
    for row in rows:
        if row["instructions"] is not None:
            last[row["folder"], row["id"], row["module"]] = row
    return list(last.values())


def is_final(row: Row) -> bool:
    """Whether a row is of the stage that runs."""
    return row["pass"] is None and "after_optimizations" in (row["stage"] or "")


def find(rows: Sequence[Row]) -> list[Odd]:
    """What is odd, by kind and in the order of the modules."""
    last = finals(rows)
    found = [*_recompiled(last), *_mixed(last)]
    finished = any(is_final(row) for row in last)
    for row in last:
        if not is_final(row):
            if finished and row["stage"] != "snapshot":
                found.append(
                    _odd("unfinished", row, row["pass_number"] or 0, 0, row["stage"] or "", row["pass"] or "")
                )
            continue
        found += _of_module(row)
    return found


def _odd(kind: str, row: Row, value: float, of: float = 0, *details: str) -> Odd:
    return Odd(kind, row["module"], row["id"], value, of, details)


def _recompiled(last: Sequence[Row]) -> Iterator[Odd]:
    """Functions that were compiled more than once for other shapes, or else for other types, and the first
    parameter that changed. Ops that run by themselves are compiled for each type that they are used with:
    that is as it should be."""
    compiles: dict[Any, list[Row]] = defaultdict(list)
    for row in last:
        if row["parameters"]:
            compiles[row["folder"], row["function"]].append(row)
    for same in compiles.values():
        alike: dict[Any, list[Row]] = defaultdict(list)
        for row in same:
            alike[_types(row["parameters"])].append(row)
        kind, most = "recompiled", max(alike.values(), key=lambda rows: len(_inputs(rows)))
        if len(_inputs(most)) < 2:
            kind, most = "retyped", same
            if len(_inputs(most)) < 2 or max(row["instructions"] for row in same) < _LEAST_INSTRUCTIONS:
                continue
            if same[0]["function"] in _ANONYMOUS:
                continue
        shapes = _inputs(most)
        changed = _changed(shapes[0], shapes[1])
        yield _odd(kind, most[0], len(shapes), len(most), most[0]["function"], *changed)


def _mixed(last: Sequence[Row]) -> Iterator[Odd]:
    """Numbers that modules of two names have: a process gives each number once, and begins at 0. Names that
    begin with the time of the process are apart."""
    numbers: dict[Any, dict[str, Row]] = defaultdict(dict)
    for row in last:
        if row["id"] is not None and row["stage"] != "snapshot":
            clock = (row["file"] or "").partition("module_")[0]
            numbers[row["folder"], clock, row["id"]].setdefault(row["module"], row)
    for same in numbers.values():
        if len(same) > 1:
            yield _odd("mixed", next(iter(same.values())), len(same), 0, *sorted(same)[:2])


def _inputs(rows: Sequence[Row]) -> list[str]:
    """The different parameters of programs, in the order in which they were compiled."""
    return list(dict.fromkeys(row["parameters"] for row in rows))


def _types(parameters: str) -> tuple[str, ...]:
    """The types of parameters, and how many dimensions each has."""
    return tuple(re.sub(r"\d+(?=[,\]])", "", shape) for shape in _shapes(parameters))


def _changed(a: str, b: str) -> tuple[str, str, str]:
    """The first parameter that differs: its number and both shapes; "no parameter" where one has fewer."""
    for number, (one, other) in enumerate(zip_longest(_shapes(a), _shapes(b), fillvalue="no parameter")):
        if one != other:
            return str(number), one, other
    return "0", a, b


def _shapes(text: str) -> list[str]:
    """The shapes in a list, without their layouts: commas inside of brackets part nothing."""
    found, depth, start = [], 0, 0
    for at, one in enumerate(text):
        depth += (one in "([{") - (one in ")]}")
        if one == "," and not depth:
            found.append(text[start:at])
            start = at + 1
    return [re.sub(r"\{[^{}]*\}", "", one).strip() for one in (*found, text[start:])]


def _of_module(row: Row) -> Iterator[Odd]:
    """What is odd about one program that runs."""
    if row["run_flops"] > 2 * max(row["flops"], 0) and row["run_flops"] > 0:
        yield _odd("loops", row, row["run_flops"], row["flops"])
    if row["run_open_loops"]:
        yield _odd("open_loops", row, row["run_open_loops"], row["loops"])
    if row["run_custom_calls"]:
        yield _odd("custom_calls", row, row["run_custom_calls"], row["custom_calls"])
    parameters = row["parameters"] or ""
    if row["f64_instructions"] and "f64[" not in parameters and "c128[" not in parameters:
        yield _odd("doubles", row, row["f64_instructions"], row["instructions"])
    if row["copies"] >= _MOST_COPIES and row["copies"] > _SHARE * row["instructions"]:
        yield _odd("copies", row, row["copies"], row["instructions"])
    if row["allocated_bytes"] is None:
        return
    constants, needed, temp = row["constant_bytes"], row["heap_needed_bytes"], row["temp_bytes"]
    if constants > _LARGE_BYTES and constants > _SHARE * row["allocated_bytes"]:
        yield _odd("constants", row, constants, row["allocated_bytes"])
    if needed and temp - needed > _LARGE_BYTES and temp - needed > _SHARE * temp:
        yield _odd("gaps", row, temp - needed, temp)
