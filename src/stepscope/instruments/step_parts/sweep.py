"""Decides, for each instant, which of all that goes on gets it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from stepscope.instruments.step_parts.labels import EXECUTION, Label

Interval = tuple[int, int]


class Segment(NamedTuple):
    """What the driving thread does from one instant to another."""

    from_ps: int
    to_ps: int
    label: Label


class Evidence(NamedTuple):
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


class Piece(NamedTuple):
    """A stretch of time in which nothing changes."""

    from_ps: int
    to_ps: int
    label: Label
    hidden: tuple[Label, ...]
    """What went on as well and costs nothing, because the time counts to `label`."""


def sweep(spans: Sequence[Interval], evidence: Evidence) -> Iterator[Piece]:
    """The pieces of all that the spans cover, in order of time. No piece reaches over a begin or an end of
    a span."""
    layers: list[Iterable[tuple[int, int, Label | None]]] = [
        *(_plain(evidence.executing.get(label, ())) for label in EXECUTION),
        _plain(evidence.input_work),
        _plain(evidence.input_waits),
        _plain(evidence.peer_waits),
        evidence.slices,
        evidence.stacks,
        _plain(spans),
    ]
    # When, whether it begins, layer, label. Ends sort before begins: intervals of one kind may touch.
    edges: list[tuple[int, int, int, Label | None]] = []
    for number, intervals in enumerate(layers):
        for from_ps, to_ps, label in intervals:
            if to_ps > from_ps:
                edges += [(from_ps, 1, number, label), (to_ps, 0, number, None)]
    edges.sort()
    open_ = [0] * len(layers)
    told: list[Label | None] = [None] * len(layers)
    # Few states come again and again.
    decided: dict[tuple[object, ...], tuple[Label, tuple[Label, ...]]] = {}
    at = 0
    for moment, begins, layer, label in edges:
        if moment > at and open_[_SPANS]:
            state = (*open_, told[_SLICES], told[_STACKS])
            found = decided.get(state)
            if found is None:
                found = _decided(open_, told[_SLICES], told[_STACKS], evidence.accelerator)
                decided[state] = found
            yield Piece(at, moment, *found)
        at = moment
        open_[layer] += 1 if begins else -1
        told[layer] = label


def _plain(intervals: Iterable[Interval]) -> Iterator[tuple[int, int, Label | None]]:
    return ((from_ps, to_ps, None) for from_ps, to_ps in intervals)


_WORK, _INPUT, _PEERS, _SLICES, _STACKS, _SPANS = range(len(EXECUTION), len(EXECUTION) + 6)


def _decided(
    open_: Sequence[int], by_slice: Label | None, by_stack: Label | None, accelerator: bool
) -> tuple[Label, tuple[Label, ...]]:
    """The label of an instant, and what goes on besides."""
    goes_on = [label for number, label in enumerate(EXECUTION) if open_[number]]
    if open_[_WORK]:
        goes_on.append("input")
    label = _label(open_, by_slice, by_stack, accelerator)
    return label, tuple(other for other in goes_on if other != label)


def _label(open_: Sequence[int], by_slice: Label | None, by_stack: Label | None, accelerator: bool) -> Label:
    for number, label in enumerate(EXECUTION):
        if open_[number]:
            return label
    driver = _driver(by_slice, by_stack)
    if driver in (None, "dispatch", "idle") or (by_slice == "dispatch" and driver == "copy"):
        # The driving thread is within the framework, which waits on other threads. Its stack ends where it
        # went in, which may be a call that converts what it takes and gives.
        if open_[_INPUT]:
            return "input"
        if open_[_PEERS]:
            return "communication"
    if driver in (None, "idle"):
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
