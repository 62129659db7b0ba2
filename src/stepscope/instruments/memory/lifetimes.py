"""Lifetimes of tensors, from the graph that was executed.

A tensor is born when its producer begins, and may die when the last op that reads it is done: the executor
lets go of inputs then. The graph is that of the partitions, which is what ran. Rules beyond that:

* An op that is executed several times (a loop) reads the latest output that was begun before it began; a
  Merge reads only one of its inputs, the latest.
* An op that hands its input on (the output has the input's address; without addresses, an op type that does
  so by nature) keeps the input's memory alive: both are one buffer.
* Control edges hold nothing. What is fetched is held until the step ends, and so is what a constant or a
  variable holds. What is sent is held until its receiver has it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from stepscope import strict_json
from stepscope.library.statements import Query, statement

HANDS_ON = frozenset(
    ("DebugIdentity", "Enter", "Exit", "ExpandDims", "Identity", "IdentityN", "LoopCond", "Merge",
     "NextIteration", "PreventGradient", "RefEnter", "RefExit", "RefIdentity", "RefMerge", "RefNextIteration",
     "RefSwitch", "Reshape", "Snapshot", "Squeeze", "StopGradient", "Switch", "_Arg", "_Retval")
)  # fmt: skip
"""Op types whose first output shares the memory of their input."""
LASTING = frozenset(
    ("Const", "HostConst", "ImmutableConst", "Placeholder", "ReadVariableOp", "VarHandleOp", "Variable",
     "VariableV2", "_Arg")
)  # fmt: skip
"""Op types whose output belongs to an owner that outlives the step."""
FETCHES = frozenset(("_Retval", "_DeviceRetval", "_Fetch"))
SENDS = frozenset(("_Send", "_HostSend", "Send", "_ClientSend"))
RECEIVES = frozenset(("_Recv", "_HostRecv", "Recv", "_ClientRecv"))


@dataclass
class Run:
    """One execution of a node, with the times of its kernel."""

    number: int
    name: str
    op_type: str
    begin_ps: int
    end_ps: int
    device: str = ""
    outputs: list[Tensor] = field(default_factory=list)


@dataclass
class Tensor:
    """An output of an execution."""

    run: Run
    slot: int
    bytes: int
    dtype: str | None = None
    shape: tuple[int, ...] | None = None
    address: int | None = None
    uses: list[Run] = field(default_factory=list)
    buffer: Tensor | None = None
    """The previous tensor in the same memory; None for the first."""

    def timeline_ps(self) -> int:
        """When TensorFlow's Timeline, which ignores shared memory, would end the tensor."""
        return max([self.run.end_ps, *(use.end_ps for use in self.uses)])

    def root(self) -> Tensor:
        """The first tensor in the same memory."""
        found = self
        while found.buffer is not None:
            found = found.buffer
        # A loop passes its memory on in each iteration: visit each tensor once.
        here = self
        while here.buffer is not None and here.buffer is not found:
            here.buffer, here = found, here.buffer
        return found


@dataclass(frozen=True)
class DataEdge:
    """A data edge."""

    producer: str
    slot: int
    consumer: str


@dataclass
class Life:
    """A buffer: memory that one or more tensors share."""

    first: Tensor
    born_ps: int
    last_use_ps: int
    lasting: bool
    """Its owner outlives the step."""
    uses: list[tuple[int, int, str]]
    """Reads (from, to, op), in order of time."""
    tensors: list[Tensor]
    """All tensors in it, the first included."""


def live(runs: Sequence[Run], edges: Iterable[DataEdge], sent: dict[str, str] | None = None) -> list[Life]:
    """The buffers of a step. sent: the receiving node by sending node."""
    by_name: dict[str, list[Run]] = defaultdict(list)
    for run in sorted(runs, key=lambda run: (run.begin_ps, run.number)):
        by_name[run.name].append(run)
    begins = {name: [run.begin_ps for run in all_] for name, all_ in by_name.items()}
    inputs: dict[str, list[DataEdge]] = defaultdict(list)
    for edge in edges:
        if edge.slot >= 0 and edge.producer in by_name:
            inputs[edge.consumer].append(edge)
    step_end = max((run.end_ps for run in runs), default=0)
    for name, all_ in by_name.items():
        for run in all_:
            _read(run, inputs.get(name, ()), by_name, begins)
    ends = _ends_of_sent(by_name, sent or {})
    members: dict[int, list[Tensor]] = defaultdict(list)
    for run in runs:
        for tensor in run.outputs:
            members[id(tensor.root())].append(tensor)
    return [_life(group, step_end, ends) for group in members.values()]


def _ends_of_sent(by_name: Mapping[str, Sequence[Run]], sent: Mapping[str, str]) -> dict[int, int]:
    """When the tensors that a run sends have been received, by number of the run."""
    ends: dict[int, int] = {}
    for sender, receiver in sent.items():
        for run, received in zip(by_name.get(sender, ()), by_name.get(receiver, ()), strict=False):
            ends[run.number] = received.end_ps
    return ends


def _read(
    run: Run, edges: Sequence[DataEdge], by_name: dict[str, list[Run]], begins: dict[str, list[int]]
) -> None:
    """Finds the tensors that an execution reads, and those whose memory it passes on."""
    candidates: list[Tensor] = []
    for edge in dict.fromkeys(edges):
        at = bisect_right(begins[edge.producer], run.begin_ps) - 1
        if at < 0:
            continue
        source = by_name[edge.producer][at]
        if source is run:
            if at == 0:
                continue
            source = by_name[edge.producer][at - 1]
        candidates += [tensor for tensor in source.outputs if tensor.slot == edge.slot]
    if run.op_type in ("Merge", "RefMerge") and candidates:
        candidates = [max(candidates, key=lambda tensor: tensor.run.begin_ps)]
    for tensor in candidates:
        tensor.uses.append(run)
        for output in run.outputs:
            if output.buffer is None and _hands_on(run, tensor, output) and tensor.root() is not output:
                output.buffer = tensor


def _hands_on(run: Run, tensor: Tensor, output: Tensor) -> bool:
    if not (tensor.bytes and output.bytes):
        return False
    if tensor.address and output.address:
        return tensor.address == output.address
    return run.op_type in HANDS_ON and output.slot == 0


def _life(group: list[Tensor], step_end: int, ends: dict[int, int]) -> Life:
    first = min(group, key=lambda tensor: (tensor.run.begin_ps, tensor.run.number))
    uses = sorted(
        {
            (use.begin_ps, ends.get(use.number, use.end_ps), use.name)
            for tensor in group
            for use in tensor.uses
        }
    )
    last = max([first.run.end_ps, *(end for _, end, _ in uses)])
    if any(use.op_type in FETCHES for tensor in group for use in tensor.uses):
        last = step_end
    lasting = any(tensor.run.op_type in LASTING for tensor in group)
    return Life(first, first.run.begin_ps, last, lasting, uses, group)


def read(query: Query, source_id: int) -> list[Life]:
    """The buffers of a source that has partition graphs and executions; empty when either is missing."""
    edges = [DataEdge(*row) for row in query(statement("partition_edges", source_id=source_id)).rows()]
    if not edges:
        return []
    runs: dict[int, Run] = {}
    for number, name, op_type, start, begin, end, device in query(
        statement("op_executions", source_id=source_id)
    ).rows():
        begin = start if begin is None else begin
        runs[number] = Run(number, name, op_type or "", begin, max(end, begin), device or "")
    for number, slot, size, _, dtype, shape, address in query(
        statement("op_outputs", source_id=source_id)
    ).rows():
        if number in runs:
            dims = strict_json.value(shape)
            sizes = tuple(dims) if isinstance(dims, list) else None
            runs[number].outputs.append(
                Tensor(runs[number], slot, size or 0, dtype, sizes, int(address) if address else None)
            )
    return live(list(runs.values()), edges, _sent(query, source_id))


def _sent(query: Query, source_id: int) -> dict[str, str]:
    """The receiving node by sending node: both have the same tensor_name."""
    named: dict[str, dict[str, str]] = {"send": {}, "receive": {}}
    asked = statement("partition_nodes", source_id=source_id, types=sorted(SENDS | RECEIVES))
    for name, op_type, text in query(asked).rows():
        tensor = strict_json.members(text).get("tensor_name")
        if isinstance(tensor, str):
            named["send" if op_type in SENDS else "receive"][tensor] = name
    return {
        name: named["receive"][tensor] for tensor, name in named["send"].items() if tensor in named["receive"]
    }
