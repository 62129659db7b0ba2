"""Ops of PyTorch by the shapes of their inputs, with the time of the kernels that they launched, or their own
where they run on a processor."""

from __future__ import annotations

import json
from typing import Any

from stepscope import strict_json
from stepscope.instruments.roofline.table import Counted
from stepscope.instruments.roofline.torch_lines import lines
from stepscope.instruments.roofline.torch_ops import Cost, cost
from stepscope.library.statements import Query, statement

NO_OP = "the launch of the kernel is not recorded"
NO_SHAPES = "shapes of inputs are not recorded: profile with record_shapes=True"
NO_FORMULA = "no formula for this op"
IN_CALLED = "most of its time is in the ops that it calls"
_LONGEST = 200
_TOLD = ("Input Dims", "Input type", "Input Strides", "Concrete Inputs")


def counted(query: Query) -> list[Counted]:
    """Executions of one op, called from one function, with inputs of the same shapes on one device are one
    row."""
    sums: dict[tuple[Any, ...], list[int]] = {}
    costs: dict[tuple[Any, ...], Cost | None] = {}
    rows = query(statement("costed_kernels")).rows()
    made_by = lines(query) if rows else {}
    for *place, op, args_json, launched_from, kernel, tf32, executions, took in rows:
        shaped, shapes_args = _shaped(op, args_json)
        key = (*place, op, kernel, shaped, tf32, made_by.get(launched_from))
        if key not in sums:
            sums[key] = [0, 0]
            costs[key] = cost(op, shapes_args) if shapes_args else None
        sums[key][0] += executions
        sums[key][1] += took
    return [_row(key, costs[key], *both) for key, both in sums.items()]


def counted_on_hosts(query: Query) -> list[Counted]:
    """The same of ops that run on processors, with the time that they take themselves. An op that does no
    more than call others has no cost: theirs would count twice."""
    sums: dict[tuple[Any, ...], list[int]] = {}
    told: dict[tuple[Any, ...], dict[str, Any]] = {}
    for *place, op, args_json, dur_ps, self_ps in query(statement("costed_host_ops")).rows():
        shaped, shapes_args = _shaped(op, args_json)
        key = (*place, op, None, shaped, False, None)
        told.setdefault(key, shapes_args)
        before = sums.get(key, (0, 0, 0))
        sums[key] = [had + more for had, more in zip(before, (1, self_ps, dur_ps), strict=True)]
    found = []
    for key, (executions, self_ps, dur_ps) in sums.items():
        calls = 2 * self_ps < dur_ps
        row = _row(key, cost(key[4], told[key]) if told[key] and not calls else None, executions, self_ps)
        found.append(row._replace(problem=IN_CALLED) if calls else row)
    return found


def _shaped(op: str | None, args_json: str | None) -> tuple[str, dict[str, Any]]:
    """What an op's cost depends on, as text and as it was recorded."""
    if op is None or not args_json or '"Input Dims"' not in args_json:
        return "", {}
    args = strict_json.members(args_json)
    shapes_args: dict[str, Any] = {key: args[key] for key in _TOLD if key in args}
    return json.dumps(shapes_args), shapes_args


def _row(key: tuple[Any, ...], of_one: Cost | None, executions: int, took_ps: int) -> Counted:
    run_id, host_id, source_id, device, op, kernel, shaped, tf32, made_by = key
    number_type = of_one.dtype if of_one else None
    return Counted(
        run_id,
        host_id,
        source_id,
        device,
        op or kernel,
        op,
        _dims(shaped) if shaped else None,
        None if made_by is None else made_by.file,
        None if made_by is None else made_by.line,
        executions,
        took_ps,
        None if of_one is None else "shapes",
        None if of_one is None else of_one.flops * executions,
        None if of_one is None else of_one.bytes * executions,
        "tf32" if number_type == "f32" and tf32 else number_type or None,
        _why_unknown(op, shaped) if of_one is None else None,
    )


def _dims(shaped: str) -> str:
    """The sizes of the inputs, shortened."""
    dims = json.dumps(json.loads(shaped)["Input Dims"])
    return dims if len(dims) <= _LONGEST else f"{dims[: _LONGEST - 1]}…"


def _why_unknown(op: str | None, shaped: str) -> str:
    """Why the cost of an op is not known."""
    if op is None:
        return NO_OP
    return NO_FORMULA if shaped else NO_SHAPES
