"""The time of the driving thread that each sample of its stack stands for.

A sample is one moment, and the next may come a whole step later. Slices tell in which call, or between which
calls, that moment lies, and whether ops executed: it says something about that stretch and nothing about
those beside it. A thread that waits for ops does something else once they are done. A stretch
that no sample fell into is like those of its kind that one fell into, so it borrows from them: over many
steps, each kind of stretch then has the samples that it would have with a faster recorder.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from stepscope.instruments.intervals import Interval, union
from stepscope.instruments.step_breakdown.labels import Label
from stepscope.instruments.step_breakdown.stack_samples import DriverSample, SampleSpan, spans_of
from stepscope.instruments.step_breakdown.sweep import Segment
from stepscope.instruments.thresholds import tuned


@dataclass(frozen=True, eq=False, repr=False)
class AttributionThresholds:
    """What a stretch of time is whose samples say the same thing."""

    together_ps: int = tuned(
        20 * 10**6, "ops that begin so soon after others are done execute together with them"
    )
    long_ps: int = tuned(
        200 * 10**6,
        "what executes for less hardly makes a thread wait: many small ops are not stretches of their own",
    )
    nearest: int = tuned(
        2, "so many times 2 longer or shorter a stretch borrows when none of its own length has samples"
    )


THRESHOLDS = AttributionThresholds()


class Stretch(NamedTuple):
    """Time in which slices say one thing of the driving thread; a label of None: it is between calls.
    executes: ops run all the while."""

    from_ps: int
    to_ps: int
    label: Label | None
    executes: bool
    samples: tuple[DriverSample, ...]
    """Those whose moment lies in it."""

    def kind(self, longer: int = 0) -> Kind:
        """What stretches that lend to each other share."""
        return self.label, self.executes, (self.to_ps - self.from_ps).bit_length() + longer


Kind = tuple[Label | None, bool, int]
"""A label, whether ops execute, and a length to a factor of 2."""


def attribute(
    samples: Sequence[DriverSample], doing: Sequence[Segment], executing: Sequence[Interval] = ()
) -> list[SampleSpan]:
    """What the samples stand for: disjoint and in order. They cover the time that they covered before, except
    for a stretch with samples of its own, which those divide among themselves.

    samples: disjoint and in order. doing: what slices say of the thread, likewise. executing: see at_length.
    """
    stretches = list(_stretches(samples, doing, executing))
    pools: dict[Kind, list[DriverSample]] = defaultdict(list)
    for stretch in stretches:
        pools[stretch.kind()] += stretch.samples
    lent: Counter[Kind] = Counter()
    found: list[SampleSpan] = []
    for stretch in stretches:
        stretch_samples = stretch.samples
        if not stretch_samples:
            kind = next((kind for kind in _nearest_kinds(stretch) if pools.get(kind)), None)
            if kind is None:
                found += _neighbours_share(samples, stretch)
                continue
            stretch_samples = (pools[kind][lent[kind] % len(pools[kind])],)
            lent[kind] += 1
        found += _divided(stretch, stretch_samples)
    return found


def long_executions(executing: Iterable[Interval]) -> list[Interval]:
    """When ops execute for long, one or many after each other: disjoint and in order."""
    return [
        (begin, end)
        for begin, end in union(executing, THRESHOLDS.together_ps)
        if end - begin >= THRESHOLDS.long_ps
    ]


def _stretches(
    samples: Sequence[DriverSample], doing: Sequence[Segment], executing: Sequence[Interval]
) -> Iterator[Stretch]:
    """The time that samples cover, cut where slices begin and end, and where ops begin and end to execute."""
    at = 0
    busy = [Segment(begin, end, "compute") for begin, end in executing]
    for begin, end in _covered(samples):
        for told_ps, until_ps, label in _cut(begin, end, doing):
            for from_ps, to_ps, executes in _cut(told_ps, until_ps, busy):
                while at < len(samples) and samples[at].seen_ps < from_ps:
                    at += 1
                first = at
                while at < len(samples) and samples[at].seen_ps < to_ps:
                    at += 1
                yield Stretch(from_ps, to_ps, label, executes is not None, tuple(samples[first:at]))


def _covered(samples: Sequence[DriverSample]) -> Iterator[Interval]:
    """Stretches of time that samples cover without a gap."""
    begin = end = None
    for sample in samples:
        if end is None or sample.from_ps > end:
            if begin is not None and end is not None:
                yield begin, end
            begin = sample.from_ps
        end = sample.to_ps
    if begin is not None and end is not None:
        yield begin, end


def _cut(begin: int, end: int, doing: Sequence[Segment]) -> Iterator[tuple[int, int, Label | None]]:
    """A stretch of time, cut into segments and what lies between them."""
    at = begin
    for number in range(bisect_right(doing, begin, key=lambda segment: segment.to_ps), len(doing)):
        from_ps, to_ps, label = doing[number]
        if from_ps >= end:
            break
        if from_ps > at:
            yield at, from_ps, None
        yield max(from_ps, begin), min(to_ps, end), label
        at = min(to_ps, end)
    if at < end:
        yield at, end, None


def _nearest_kinds(stretch: Stretch) -> Iterator[Kind]:
    """Kinds of stretches to borrow from, the nearest first. Those that differ in whether ops execute come
    last."""
    for alike in (stretch, stretch._replace(executes=not stretch.executes)):
        yield alike.kind()
        for times in range(1, THRESHOLDS.nearest + 1):
            yield alike.kind(times)
            yield alike.kind(-times)


def _divided(stretch: Stretch, samples: Sequence[DriverSample]) -> Iterator[SampleSpan]:
    """A stretch, divided where the time of one of its samples ends and that of the next begins."""
    edges = [stretch.from_ps, *(driver_sample.from_ps for driver_sample in samples[1:]), stretch.to_ps]
    for sample, (begin, end) in zip(samples, pairwise(edges), strict=True):
        yield from spans_of(sample, begin, end)


def _neighbours_share(samples: Sequence[DriverSample], stretch: Stretch) -> Iterator[SampleSpan]:
    """A stretch of a kind that was never seen: the samples before and after it reach into it."""
    for number in range(
        bisect_right(samples, stretch.from_ps, key=lambda driver_sample: driver_sample.to_ps), len(samples)
    ):
        sample = samples[number]
        if sample.from_ps >= stretch.to_ps:
            break
        begin, end = max(sample.from_ps, stretch.from_ps), min(sample.to_ps, stretch.to_ps)
        yield from spans_of(sample, begin, end)
