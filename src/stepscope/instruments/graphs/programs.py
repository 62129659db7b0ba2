"""Programs that XLA compiled, as graphs: instructions grouped by the scopes of their ops.

An instruction lies in the scope of its op: jit(f)/jvp(layer_0)/dot in layer_0. An instruction of a fusion, a
loop or another called computation lies in the instruction that calls it. Arguments of the program lie
together.
"""

import re
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from stepscope import strict_json
from stepscope.instruments.graphs.hierarchy import Hierarchy
from stepscope.instruments.xla import costs

Row = Mapping[str, Any]
_TOGETHER = {"parameter": "(arguments)", "constant": "(constants)"}
"""Scopes of arguments and constants: a program may have hundreds of either."""
_NUMBERS = re.compile(r"(\.\d+|\.clone|\.remat\d*)+$")


def stored(rows: Sequence[Row], times: Mapping[str, int]) -> Hierarchy:
    """The graph of a program in a lake, from rows of page_stored_instructions. These rows do not match
    operands of a call with parameters, so edges end at the call and begin at its result."""
    computations = list(dict.fromkeys(row["computation"] for row in rows))
    place = {name: number for number, name in enumerate(computations)}
    numbers = {row["name"]: number for number, row in enumerate(rows)}
    roots = {row["computation"]: number for number, row in enumerate(rows) if row["is_root"]}
    entry = next((row["computation"] for row in rows if row["is_entry"]), None)
    instruction_rows = [_instruction(row, place, numbers) for row in rows]
    return graph(
        {
            "instruction_rows": instruction_rows,
            "computation_rows": [{"name": name, "root": roots.get(name)} for name in computations],
            "entry_computation": None if entry is None else place[entry],
        },
        times,
    )


def _instruction(row: Row, place: Mapping[str, int], numbers: Mapping[str, int]) -> Row:
    """An instruction of _core.hlo_module(). place: numbers of computations, numbers: of instructions."""
    return {
        "name": row["name"],
        "opcode": row["opcode"],
        "op_name": row["op_name"] or "",
        "computation": place[row["computation"]],
        "operands": [numbers.get(name) for name in strict_json.elements(row["operands_json"])],
        "called": [place[name] for name in strict_json.elements(row["calls_json"]) if name in place],
        "number": None,
        "shape_bytes": int(row["shape_bytes"] or 0),
    }


def graph(program: Mapping[str, Any], times: Mapping[str, int] | None = None) -> Hierarchy:
    """The graph of a _core.hlo_module(). Edges lead from operands to their users, also into and out of called
    computations. times: picoseconds by name of the instruction."""
    took = times or {}
    rows: Sequence[Row] = program["instruction_rows"]
    inside: list[list[int]] = [[] for _ in program["computation_rows"]]
    for number, row in enumerate(rows):
        inside[row["computation"]].append(number)
    paths = _paths(program, inside)
    edges = _edges(program, rows, inside, paths)
    return Hierarchy(
        [(paths[number], row["opcode"], "") for number, row in enumerate(rows)],
        edges,
        times={paths[number]: ps for number, row in enumerate(rows) if (ps := took.get(row["name"]))},
        sizes={paths[number]: row["shape_bytes"] for number, row in enumerate(rows)},
        stem=_stem,
    )


def _edges(
    program: Mapping[str, Any], rows: Sequence[Row], inside: Sequence[Sequence[int]], paths: Sequence[str]
) -> list[tuple[str, str]]:
    """Edges from operands to their users, by path. inside: the instructions of each computation."""
    edges = [
        (paths[operand], paths[number])
        for number, row in enumerate(rows)
        for operand in row["operands"]
        if operand is not None
    ]
    for number, row in enumerate(rows):
        for called in row["called"]:
            root = program["computation_rows"][called]["root"]
            if root is not None:
                edges.append((paths[root], paths[number]))
            edges += [
                (paths[operand], paths[parameter])
                for parameter in inside[called]
                if rows[parameter]["opcode"] == "parameter"
                and (operand := _operand(row, rows[parameter]["number"])) is not None
            ]
    return edges


def _scope(op_name: str) -> str:
    return costs.scope(op_name).removeprefix(costs.NO_SCOPE).strip()


def _stem(name: str) -> str:
    """The name of an instruction without its number: dot.12 is dot."""
    return _NUMBERS.sub("", name)


def _operand(caller: Row, number: int | None) -> int | None:
    """The operand of a call that becomes a parameter. A loop passes its one operand on unchanged."""
    operands: Sequence[int | None] = caller["operands"]
    if number is None or caller["opcode"] not in ("fusion", "call", "while", "async-start"):
        return None
    return operands[number] if number < len(operands) else None


def _paths(program: Mapping[str, Any], inside: Sequence[Sequence[int]]) -> list[str]:
    """The path of each instruction. A computation with several callers lies in the first; one without a
    caller lies at the top, under its own name."""
    rows: Sequence[Row] = program["instruction_rows"]
    paths = [""] * len(rows)
    entry = program["entry_computation"]
    left = deque([] if entry is None else [(entry, "")])
    seen = {entry}
    every = iter(range(len(inside)))
    while True:
        while left:
            computation, around = left.popleft()
            for number in inside[computation]:
                row = rows[number]
                scope = around or _TOGETHER.get(row["opcode"]) or _scope(row["op_name"])
                paths[number] = f"{scope}/{row['name']}" if scope else row["name"]
                for called in row["called"]:
                    if called not in seen:
                        seen.add(called)
                        name = program["computation_rows"][called]["name"]
                        only = len(row["called"]) == 1
                        left.append((called, paths[number] if only else f"{paths[number]}/{name}"))
        alone = next((number for number in every if number not in seen), None)
        if alone is None:
            return paths
        seen.add(alone)
        left.append((alone, program["computation_rows"][alone]["name"]))
