"""Ops of PyTorch by the shapes of their inputs, with the time of the kernels that they launched, or their own
where they run on a processor."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from stepscope import strict_json
from stepscope.code_lines import CodeLine
from stepscope.instruments.roofline import torch_lines
from stepscope.instruments.roofline.table import Counted
from stepscope.instruments.roofline.torch_ops import Cost, cost
from stepscope.library.statements import Query, Stream, statement

NO_OP = "no op is recorded that launched the kernel"
NO_SHAPES = "shapes of inputs are not recorded: profile with record_shapes=True"
NO_FORMULA = "no formula for this op"
IN_CALLED = "most of its time is in the ops that it calls"
_LONGEST = 200
_TOLD = ("Input Dims", "Input type", "Input Strides", "Concrete Inputs")


class _Executions(NamedTuple):
    """Executions of an op in one place. kernel: the one whose op is not known; tf32: whether 32-bit floats
    are multiplied so; numbers: what is added up of those alike, how many they are first."""

    place: Sequence[Any]
    op: str | None
    args_json: str | None
    numbers: Sequence[int]
    kernel: str | None = None
    tf32: bool = False
    made_by: CodeLine | None = None


def counted(query: Query, stream: Stream) -> list[Counted]:
    """Executions of one op, called from one function, with inputs of the same shapes on one device are one
    row."""
    alike = _added_up(_executions(query, stream))
    return [_row(key, of_one, executions, took) for key, (of_one, (executions, took)) in alike.items()]


def _executions(query: Query, stream: Stream) -> Iterator[_Executions]:
    """Executions of ops that launched kernels, those in one function apart from others."""
    rows = query(statement("costed_kernels")).rows()
    called = torch_lines.called(query, stream) if rows else {}
    for *place, op, args_json, alike_id, device, kernel, tf32, executions, took in rows:
        within = called.get((alike_id, device), [])
        rest = executions - sum(calls.executions for calls in within)
        for calls in within:
            numbers = (calls.executions, calls.took_ps)
            yield _Executions(place, op, args_json, numbers, kernel, tf32, calls.line)
        if rest:
            numbers = (rest, took - sum(calls.took_ps for calls in within))
            yield _Executions(place, op, args_json, numbers, kernel, tf32)


def counted_on_hosts(query: Query) -> list[Counted]:
    """The same of ops that run on processors, with the time that they take themselves. An op that does no
    more than call others has no cost: theirs would count twice."""
    alike = _added_up(
        _Executions(place, op, args_json, (1, self_ps, dur_ps))
        for *place, op, args_json, dur_ps, self_ps in query(statement("costed_host_ops")).rows()
    )
    found = []
    for key, (of_one, (executions, self_ps, dur_ps)) in alike.items():
        calls = 2 * self_ps < dur_ps
        row = _row(key, None if calls else of_one, executions, self_ps)
        found.append(row._replace(problem=IN_CALLED) if calls else row)
    return found


def _added_up(every: Iterable[_Executions]) -> dict[tuple[Any, ...], tuple[Cost | None, list[int]]]:
    """The cost of one execution, and the numbers of all, by what tells them apart."""
    alike: dict[tuple[Any, ...], tuple[Cost | None, list[int]]] = {}
    for op in every:
        shaped, shapes_args = _shaped(op.op, op.args_json)
        key = (*op.place, op.op, op.kernel, shaped, op.tf32, op.made_by)
        if key not in alike:
            of_one = cost(op.op, shapes_args) if op.op and shapes_args else None
            alike[key] = of_one, [0] * len(op.numbers)
        for at, number in enumerate(op.numbers):
            alike[key][1][at] += number
    return alike


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
