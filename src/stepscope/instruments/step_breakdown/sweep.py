"""Decides, for each instant, which of all that goes on gets it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, overload

from stepscope import _core
from stepscope._core import Pieces
from stepscope.instruments.intervals import Interval
from stepscope.instruments.step_breakdown.labels import EXECUTION, LABELS, NUMBER, OF_LINES, Label


class Segment(NamedTuple):
    """What the driving thread does from one instant to another."""

    from_ps: int
    to_ps: int
    label: Label


class NumberedSegments(Sequence[Segment]):
    """Segments as the core gives and takes them: there are as many as slices, and hardly one is looked at
    here."""

    def __init__(self, rows: list[tuple[int, int, int]]) -> None:
        """rows: from, to and the label's number."""
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Segment]:
        return (Segment(from_ps, to_ps, LABELS[label]) for from_ps, to_ps, label in self.rows)

    @overload
    def __getitem__(self, at: int) -> Segment: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[Segment]: ...

    def __getitem__(self, at: int | slice) -> Segment | Sequence[Segment]:
        if isinstance(at, slice):
            return NumberedSegments(self.rows[at])
        from_ps, to_ps, label = self.rows[at]
        return Segment(from_ps, to_ps, LABELS[label])

    def clear(self) -> None:
        """Lets go of all, as a list does."""
        self.rows.clear()


class SpanEvidence(NamedTuple):
    """All that is known of a stretch of time. Intervals of one kind are disjoint and in order."""

    executing: Mapping[Label, Sequence[Interval]] = {}
    """What executes, by its label, one of EXECUTION."""
    input_work: Sequence[Interval] = ()
    """When ops of the input pipeline execute."""
    input_waits: Sequence[Interval] = ()
    """When some thread waits for a batch."""
    peer_waits: Sequence[Interval] = ()
    """When some thread waits for another process, device or host."""
    slices: Sequence[Segment] = ()
    """What slices say of the driving thread."""
    stacks: Sequence[Segment] = ()
    """What samples of its stack say."""
    accelerator: bool = False
    """Whether the device whose execution is known is an accelerator."""
    setups: Sequence[Interval] = ()
    """When some thread allocates memory of a device, or frees it."""
    devices: Sequence[Mapping[Label, Sequence[Interval]]] = ()
    """As `executing`, for each of several devices by itself."""
    inline: bool = False
    """Whether what executes does so on the driving thread, within its calls."""
    nodes: Sequence[Interval] = ()
    """When a framework goes through the nodes of its graph of gradients, besides the ops that these run."""
    launches: Sequence[Interval] = ()
    """When an executor runs nodes that compute nothing, and starts the ops that wait for them."""


class StepPiece(NamedTuple):
    """A stretch of time in which nothing changes."""

    from_ps: int
    to_ps: int
    label: Label
    hidden: tuple[Label, ...]
    """What went on as well and costs nothing, because the time counts to `label`."""


def sweep(spans: Sequence[Interval], evidence: SpanEvidence) -> Pieces:
    """The pieces of all that the spans cover, in order of time. No piece reaches over a begin or an end of
    a span."""

    def decide(open_: Sequence[bool], by_slice: int | None, by_stack: int | None) -> tuple[int, int]:
        slices = None if by_slice is None else LABELS[by_slice]
        stacks = None if by_stack is None else LABELS[by_stack]
        label, hidden = _decided(open_, slices, stacks, evidence.accelerator, evidence.inline)
        return NUMBER[label], sum(1 << NUMBER[other] for other in hidden)

    layers = [
        *(evidence.executing.get(label, ()) for label in EXECUTION),
        evidence.input_work,
        evidence.input_waits,
        evidence.peer_waits,
        evidence.setups,
        evidence.nodes,
        evidence.launches,
    ]
    return _core.sweep_steps(spans, layers, _Numbered(evidence.slices), _Numbered(evidence.stacks), decide)


def merged(
    window: Interval, slices: Sequence[Segment], stacks: Sequence[Segment]
) -> list[tuple[int, int, int]]:
    """What the driving thread does in a window, whatever else goes on: from, to and the label's number;
    unknown without evidence."""

    def decide(_: Sequence[bool], by_slice: int | None, by_stack: int | None) -> tuple[int, int]:
        label = _driver(
            None if by_slice is None else LABELS[by_slice], None if by_stack is None else LABELS[by_stack]
        )
        return NUMBER["unknown" if label is None else label], 0

    pieces = _core.sweep_steps([window], [], _Numbered(slices), _Numbered(stacks), decide)
    return [(from_ps, to_ps, label) for from_ps, to_ps, label, _ in pieces.rows() if from_ps < to_ps]


class _Numbered(Sequence[tuple[int, int, int]]):
    """Segments as the core takes them, which reads them one after the other: never all at once."""

    def __init__(self, segments: Sequence[Segment]) -> None:
        self._segments = segments

    def __len__(self) -> int:
        return len(self._segments)

    def __iter__(self) -> Iterator[tuple[int, int, int]]:
        if isinstance(self._segments, NumberedSegments):
            return iter(self._segments.rows)
        return ((from_ps, to_ps, NUMBER[label]) for from_ps, to_ps, label in self._segments)

    def __getitem__(self, at: Any) -> Any:
        return list(self)[at]


def pieces_of(found: Pieces) -> list[StepPiece]:
    """The pieces that the core holds."""
    return [
        StepPiece(from_ps, to_ps, LABELS[label], _HIDDEN[hidden])
        for from_ps, to_ps, label, hidden in found.rows()
    ]


def kept(pieces: Iterable[StepPiece]) -> Pieces:
    """Pieces in the core."""
    return _core.Pieces(
        [
            (from_ps, to_ps, NUMBER[label], sum(1 << NUMBER[other] for other in hidden))
            for from_ps, to_ps, label, hidden in pieces
        ]
    )


class _Hidden(dict[int, tuple[Label, ...]]):
    """Labels by their bits, in the order of EXECUTION and input."""

    def __missing__(self, bits: int) -> tuple[Label, ...]:
        labels: tuple[Label, ...] = (*EXECUTION, "input")
        found = self[bits] = tuple(label for label in labels if bits & 1 << NUMBER[label])
        return found


_HIDDEN = _Hidden()
_WORK, _INPUT, _PEERS, _SETUPS, _NODES, _LAUNCHES = range(len(EXECUTION), len(EXECUTION) + 6)


def _decided(
    open_: Sequence[bool], by_slice: Label | None, by_stack: Label | None, accelerator: bool, inline: bool
) -> tuple[Label, tuple[Label, ...]]:
    """The label of an instant, and what goes on besides."""
    goes_on = [label for number, label in enumerate(EXECUTION) if open_[number]]
    if open_[_WORK]:
        goes_on.append("input")
    if inline and by_slice == "compile":
        # Ops in a call that compiles are traced, not computed: nothing goes on besides.
        return by_slice, ()
    label = _label(open_, by_slice, by_stack, accelerator)
    return label, tuple(other for other in goes_on if other != label)


def _label(open_: Sequence[bool], by_slice: Label | None, by_stack: Label | None, accelerator: bool) -> Label:
    for number, label in enumerate(EXECUTION):
        if open_[number]:
            return label
    if open_[_NODES]:
        return by_stack if by_stack in OF_LINES and by_stack is not None else "compute"
    driver = _driver(by_slice, by_stack)
    if driver in (None, "dispatch", "idle") or (by_slice == "dispatch" and driver == "copy"):
        # The driving thread is within the framework, which waits on other threads. Its stack ends where it
        # went in, which may be a call that converts what it takes and gives.
        if open_[_INPUT]:
            return "input"
        if open_[_SETUPS]:
            return "setup"
        if open_[_PEERS]:
            return "communication"
    if driver == "wait" and open_[_PEERS]:
        return "communication"  # the stack tells that the thread waits, and not for whom
    if driver in (None, "idle"):
        if open_[_LAUNCHES]:
            return "dispatch"
        # Without an accelerator nothing is known to be idle: a processor may do what nobody recorded.
        return "idle" if accelerator else "unknown"
    return driver


def _driver(by_slice: Label | None, by_stack: Label | None) -> Label | None:
    """What the driving thread does. A call of the framework may convert, load or store on its way, as only
    its stack shows."""
    if by_slice is None:
        return by_stack
    if by_slice == "dispatch" and by_stack in ("compile", "input", "wait", "copy"):
        return by_stack
    return by_slice
