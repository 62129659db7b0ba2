"""From the tables of a trace to the nodes that tfprof counts.

tfprof knows nodes of a graph that ran in steps. A trace knows slices. Here is what a node is for each kind of
recording; how views count, choose and print is the engine's, the same as for RunMetadata.

* A slice that tells its op (XPlanes of TensorFlow and JAX, TensorFlow's Timeline, RunMetadata in a lake):
  the node
  is the op by its name, and the name's scopes are its own. An instruction of XLA has the name that the
  framework gave it where the recording tells (`tf_op`), else its own below its module: `jit_step/fusion.3`.
* A slice that tells a type or nothing (Kineto, VizTracer, Horovod, others): the node is where it lies: the
  modules and annotations around it, the ops around it, itself: `Net_0/Linear_1/aten::linear/aten::addmm`.
* Work of an accelerator that names no op belongs to the op that launched it, and to that op's step.

Which slices are ops, and where they ran, the base view op_slice says. Their time is self time, because slices
nest: the total of an op holds the ops that it calls, once.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from stepscope import strict_json, units
from stepscope.instruments.python_frame import Frame
from stepscope.instruments.tfprof.nesting import OpExecutions, Query, device_name, walk, whole
from stepscope.library.statements import statement

OUTSIDE = -1
"""Step of what lies outside of steps, where there are some."""
DURING = 0
"""Step of everything in a recording without steps."""


@dataclass
class ExecutedNode:
    """A node: what it is, and what it did in each step."""

    op: str
    device: str = ""
    accelerator: str = ""
    types: set[str] = field(default_factory=set)
    """All its devices."""
    stack: tuple[Frame, ...] = ()
    inputs: tuple[str, ...] = ()
    work: int = 0
    """Floating point operations of all runs that tell theirs."""
    counted: int = 0
    """Runs that tell theirs."""
    steps: dict[int, list[int]] = field(default_factory=dict)
    """By step: first start in ps, runs on hosts, runs on accelerators, ps on hosts, ps on accelerators,
    bytes."""

    def row(self, name: str) -> tuple[Any, ...]:
        """It as `_core.Tfprof.add_ran` takes it."""
        steps = [
            (step, start // 10**6, host or other, host_ps, other_ps, size)
            for step, (start, host, other, host_ps, other_ps, size) in sorted(self.steps.items())
            if step >= 0
        ]
        flops = round(self.work / self.counted) if self.counted else 0
        devices = (self.device, self.accelerator)
        return (name, self.op, devices, sorted(self.types), flops, self.stack, self.inputs, steps)

    def count(self, sample: OpExecutions) -> None:
        """Adds executions."""
        if sample.device:
            if sample.on_device:
                self.accelerator = self.accelerator or sample.device
            else:
                self.device = self.device or sample.device
            self.types.add(sample.device)
        self.stack = self.stack or sample.stack
        if sample.work:
            self.work += sample.work
            self.counted += sample.runs
        assert sample.step is not None
        figures = self.steps.setdefault(sample.step, [sample.start_ps, 0, 0, 0, 0, 0])
        figures[0] = min(figures[0], sample.start_ps)
        figures[1 + sample.on_device] += sample.runs
        figures[3 + sample.on_device] += sample.self_ps
        figures[5] += sample.bytes


@dataclass
class Evidence:
    """What a trace tells."""

    nodes: dict[str, ExecutedNode]
    """Nodes by name."""
    calls: dict[str, ExecutedNode]
    """Nodes by name and call stack, for the code view: an op that several lines call is several nodes there.
    Empty without stacks."""
    steps: tuple[int, ...]
    notes: list[str]
    """What a reader should know, one sentence each."""

    def rows(self, *, by_stack: bool = False) -> list[tuple[Any, ...]]:
        """The nodes as `_core.Tfprof.add_ran` takes them."""
        return [node.row(name) for name, node in (self.calls if by_stack else self.nodes).items()]

    def lacks(self) -> dict[str, str]:
        """Columns that count nothing here, and why."""
        nodes = self.nodes.values()
        lacking = {
            "peak_bytes": "no slice contains how much an op held at most",
            "residual_bytes": "no slice contains what an op left behind",
            "output_bytes": "no slice contains the size of outputs",
            "params": "a trace contains no variables; --graph_path adds a graph",
            "input_shapes": "a trace contains no shapes of a graph; --graph_path adds one",
            "tensor_value": "a trace holds no values; --checkpoint_path adds them",
        }
        if not any(figures[5] for node in nodes for figures in node.steps.values()):
            lacking["bytes"] = "no slice contains bytes"
        if not any(node.work for node in nodes):
            lacking["float_ops"] = "no slice contains its operations"
        if not any(node.accelerator for node in nodes):
            lacking["accelerator_micros"] = "no track is an accelerator's"
        if not any(node.device for node in nodes):
            lacking["cpu_micros"] = "no track that schedules ops names any"
        return lacking


def read(query: Query) -> Evidence:
    """The nodes of a trace, by name."""
    nested = walk(query)
    notes: list[str] = []
    samples = _number_stepless([*_named(query, nested.tracks, notes), *nested.samples])
    steps = sorted({sample.step for sample in samples if sample.step is not None and sample.step >= 0})
    outside = [sample for sample in samples if sample.step == OUTSIDE]
    if outside:
        runs, time_ps = (
            sum(executions.runs for executions in outside),
            sum(executions.self_ps for executions in outside),
        )
        notes.append(f"{runs} executions ({time_ps / 1e9:.3f} ms) lie outside of all steps and count in none")
    nodes: dict[str, ExecutedNode] = {}
    for sample in samples:
        nodes.setdefault(sample.name, ExecutedNode(sample.op)).count(sample)
    for name, inputs in _inputs(query).items():
        if name in nodes:
            nodes[name].inputs = inputs
    calls = _nodes_by_stack(samples) if any(sample.stack for sample in samples) else {}
    return Evidence(nodes, calls, tuple(steps), [*notes, *_together(query), *nested.notes])


def _number_stepless(samples: Sequence[OpExecutions]) -> list[OpExecutions]:
    """The samples with numbers for what lies in no step."""
    nowhere = OUTSIDE if any(sample.step is not None for sample in samples) else DURING
    return [sample.placed(nowhere) if sample.step is None else sample for sample in samples]


def _nodes_by_stack(samples: Iterable[OpExecutions]) -> dict[str, ExecutedNode]:
    """Nodes by name and stack; names that several stacks have get numbers, as TensorFlow gives to ops."""
    names: dict[tuple[str, tuple[Frame, ...]], str] = {}
    counts: dict[str, int] = {}
    found: dict[str, ExecutedNode] = {}
    taken = {sample.name for sample in samples}
    for sample in samples:
        key = (sample.name, sample.stack)
        name = names.get(key)
        if name is None:
            name = sample.name
            while name in found or (name != sample.name and name in taken):
                counts[sample.name] = counts.get(sample.name, 0) + 1
                name = f"{sample.name}_{counts[sample.name]}"
            names[key] = name
            found[name] = ExecutedNode(sample.op)
        found[name].count(sample)
    return found


@dataclass(frozen=True)
class _Described:
    """What the metadata of events tell of each slice of their kind."""

    op: str = ""
    kind: str = ""
    stack: tuple[Frame, ...] = ()
    flops: int = 0
    bytes: int = 0


def _named(query: Query, walked: Sequence[int], notes: list[str]) -> list[OpExecutions]:
    """Executions of ops that tell their names, added up. Instructions of XLA lie in the scope of the op that
    they were made of, where the recording keeps their program, else in that of their module."""
    described = _descriptions(query)
    compiled = _compiled(query)
    untold = 0
    nothing = _Described()
    samples = []
    for row in query(statement("tfprof_named_ops", walked=walked)).rows():
        source, plane, place, device, step, op, kind, module, program, event, runs, self_ps, start_ps = row
        about = described.get((source, plane, event), nothing)
        if module:
            scope, stack = compiled.get((source, program, op), ("", ()))
            untold += 0 if scope or about.op else runs
            about = replace(about, op=about.op or f"{scope or module}/{op}", stack=stack or about.stack)
        name = (about.op or op).strip("/")
        samples.append(
            OpExecutions(
                name or op or event,
                about.kind or kind or op,
                place == "device",
                device_name(device),
                step,
                runs,
                self_ps,
                start_ps,
                about.stack,
                about.flops * runs,
                about.bytes * runs,
            )
        )
    if untold:
        runs = units.count(untold, "execution")
        notes.append(
            f"{runs} of XLA lie in the scope of the module: the recording does not contain what the"
            " instructions were made of"
        )
    return samples


def _compiled(query: Query) -> dict[tuple[int, str, str], tuple[str, tuple[Frame, ...]]]:
    """The op that each instruction of XLA was made of, and the calls that made it, by source, program and
    name."""
    stacks: dict[str, tuple[Frame, ...]] = {}
    found = {}
    for source, program, name, op_name, text in query(statement("hlo_stacks")).rows():
        if text and text not in stacks:
            stacks[text] = tuple(
                (file, line, function) for file, line, function in strict_json.elements(text)
            )
        found[source, program, name] = ((op_name or "").strip("/"), stacks[text] if text else ())
    return found


def _descriptions(query: Query) -> dict[tuple[int, str, str], _Described]:
    """What XPlanes tell of kinds of events, by source, plane and name of the event."""
    found = {}
    for source, plane, name, text in query(statement("event_kinds")).rows():
        args = strict_json.members(text)
        op, _, kind = str(args.get("tf_op") or "").partition(":")
        place = _PLACE.fullmatch(str(args.get("source") or ""))
        found[source, plane, name] = _Described(
            op.strip("/"),
            str(args.get("hlo_category") or kind),
            ((place[1], int(place[2]), ""),) if place else (),
            whole(args.get("flops")),
            whole(args.get("bytes_accessed")),
        )
    return found


_PLACE = re.compile(r"(.+):(\d{1,9})")
_INPUT = re.compile(r"input(\d{1,6})")


def _inputs(query: Query) -> dict[str, tuple[str, ...]]:
    """Producers of what an op takes, where slices name them: TensorFlow's Timeline as input0, input1, …;
    RunMetadata as a list."""
    found = {}
    for name, text in query(statement("op_inputs")).rows():
        args = strict_json.members(text)
        listed = args.get("inputs")
        if not isinstance(listed, list):
            numbered = [(_INPUT.fullmatch(key), value) for key, value in args.items()]
            listed = [
                value for _, value in sorted((int(key[1]), str(value)) for key, value in numbered if key)
            ]
        found[name] = tuple(str(node).lstrip("^").split(":")[0] for node in listed)
    return found


def _together(query: Query) -> list[str]:
    """That several recordings are looked at as one."""
    (count,) = query(statement("sources_with_ops")).rows()[0]
    if count < 2:
        return []
    return [f"{count} recordings are added up; name a file to look at it alone"]
