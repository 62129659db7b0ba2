"""The driving thread without the interpreter's lock: in the framework's code, hardly on a processor, while
Python of the input pipeline runs on another thread. What it loses there is time of the input.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from stepscope.instruments.intervals import Interval
from stepscope.instruments.step_breakdown.sweep import StepPiece
from stepscope.instruments.thresholds import tuned

ACTIVE = frozenset({"dispatch", "python", "copy", "compile"})
"""Labels under which the driving thread wants a processor all the time."""


@dataclass(frozen=True, eq=False, repr=False)
class LockThresholds:
    """When the driving thread lacks a processor because another holds the interpreter's lock."""

    ran: float = tuned(
        0.6,
        "it lacks one when it ran for less than this part of the time: executors of a framework wait, too",
    )
    blocked: float = tuned(
        0.2, "and when it neither ran nor had to wait for a core for at least this part of it"
    )


THRESHOLDS = LockThresholds()


class ProcessorTime(NamedTuple):
    """Time between two looks at the driving thread, and for how much of it that ran."""

    from_ps: int
    to_ps: int
    cpu_ps: int
    queued_ps: int = 0
    """For how much of it that could have run and had no core: a time that tells nothing of the lock."""


def processor_time(from_ps: int, to_ps: int, active_ps: int, queued_ps: int) -> ProcessorTime:
    """What a sample tells. active_ps: how long the thread ran or was queued; neither is longer than the
    time."""
    took = to_ps - from_ps
    queued = min(queued_ps, took)
    return ProcessorTime(from_ps, to_ps, min(max(active_ps - queued_ps, 0), took - queued), queued)


def count_lock_waits(
    pieces: Sequence[StepPiece], loading: Sequence[Interval], ran: Sequence[ProcessorTime]
) -> Iterator[StepPiece]:
    """The pieces, in which launching during the loader's Python counts to input as far as the driving thread
    lacked a processor.

    loading, ran: disjoint and in order.
    """
    share = _share(pieces, loading, ran) if loading and ran else 0.0
    if not share:
        yield from pieces
        return
    for piece, meanwhile in _cut(pieces, loading):
        if not meanwhile or piece.label != "dispatch":
            yield piece
            continue
        at = piece.to_ps - round(share * (piece.to_ps - piece.from_ps))
        if at > piece.from_ps:
            yield piece._replace(to_ps=at)
        if piece.to_ps > at:
            hidden = tuple(label for label in piece.hidden if label != "input")
            yield StepPiece(at, piece.to_ps, "input", hidden)


def _share(pieces: Iterable[StepPiece], loading: Sequence[Interval], ran: Sequence[ProcessorTime]) -> float:
    """The part of the launching during the loader's Python in which the driving thread had no processor.
    Without the other thread's hold on the lock it would have had one all the time."""
    active = beside = at = 0
    cpu = seen = queued = 0.0
    for piece, meanwhile in _cut(pieces, loading):
        took = piece.to_ps - piece.from_ps
        if piece.label in ACTIVE:
            active += took
            beside += took if meanwhile and piece.label == "dispatch" else 0
        while at < len(ran) and ran[at].to_ps <= piece.from_ps:
            at += 1
        for time in _first_after(ran, at):
            if time.from_ps >= piece.to_ps:
                break
            shared = min(time.to_ps, piece.to_ps) - max(time.from_ps, piece.from_ps)
            part = shared / (time.to_ps - time.from_ps)
            cpu += time.cpu_ps * part
            if piece.label in ACTIVE:
                queued += time.queued_ps * part
                seen += shared - time.queued_ps * part
    # Time in the queue for a core says nothing of the lock: the rest stands for it.
    if (
        not seen
        or not beside
        or cpu >= THRESHOLDS.ran * seen
        or seen - cpu < THRESHOLDS.blocked * (seen + queued)
    ):
        return 0.0
    return min((1 - cpu / seen) * active / beside, 1.0)


def _first_after(ran: Sequence[ProcessorTime], at: int) -> Iterator[ProcessorTime]:
    return (ran[number] for number in range(at, len(ran)))


def _cut(pieces: Iterable[StepPiece], loading: Sequence[Interval]) -> Iterator[tuple[StepPiece, bool]]:
    """The pieces, cut where the loader's Python begins and ends, each with whether that Python runs in it."""
    number = 0
    for piece in pieces:
        while number < len(loading) and loading[number][1] <= piece.from_ps:
            number += 1
        at, ahead = piece.from_ps, number
        while ahead < len(loading) and loading[ahead][0] < piece.to_ps:
            begin, end = loading[ahead]
            if begin > at:
                yield piece._replace(from_ps=at, to_ps=begin), False
                at = begin
            until = min(end, piece.to_ps)
            yield piece._replace(from_ps=at, to_ps=until), True
            at, ahead = until, ahead + 1
        if at < piece.to_ps:
            yield (piece if at == piece.from_ps else piece._replace(from_ps=at)), False
