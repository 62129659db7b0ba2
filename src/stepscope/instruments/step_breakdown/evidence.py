"""Evidence about the steps of sources: what executes, what the driving thread does, samples of its stack.
Each question is asked once for all sources that are read together."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar, cast

from stepscope import _core, config
from stepscope._core import Spans
from stepscope.engines import Statement
from stepscope.instruments.intervals import Interval, hull, union
from stepscope.instruments.step_breakdown import driver, interpreter_lock, sample_attribution, stack_samples
from stepscope.instruments.step_breakdown.driving_threads import DrivingThreads
from stepscope.instruments.step_breakdown.evidence_kinds import NOTHING, EvidenceKinds
from stepscope.instruments.step_breakdown.interpreter_lock import ProcessorTime
from stepscope.instruments.step_breakdown.labels import EXECUTION, Label
from stepscope.instruments.step_breakdown.stack_samples import DriverSample, SampleSpan, Shifts
from stepscope.instruments.step_breakdown.sweep import Segment, SpanEvidence
from stepscope.library.statements import Query, Stream, Value, statement

AT_ONCE = 2_500_000
"""Slices that are looked at together, if their times can be told apart, on a machine with little memory. Each
look reads all slices of the source: a smaller number takes longer, a larger one more memory."""
_SLICE_BYTES = 400
"""Memory of a slice in a window, measured."""
_OF_MEMORY = 16
"""A window may take this part of the memory: 1 / _OF_MEMORY."""
_BITS = 4096
_NO_DEVICE = "-1"
"""As device_evidence numbers what lies on none."""


class StepSpan(NamedTuple):
    """A row of the view step."""

    id: int
    ts_ps: int
    end_ps: int


class SteppedSource(NamedTuple):
    """A source with steps."""

    source_id: int
    run_id: str
    host_id: str
    steps: list[StepSpan]


class LoaderPython(NamedTuple):
    """Python that other threads run for the input, and the processor time of the driving thread."""

    python: Sequence[Interval]
    ran: Sequence[ProcessorTime]


class EvidenceWindow(NamedTuple):
    """The evidence in one window of a source's time, with the samples in it."""

    source: SteppedSource
    window: Interval
    evidence: SpanEvidence
    looks: Sequence[SampleSpan]
    loader: LoaderPython


def evidence_of(
    query: Query,
    stream: Stream,
    sources: Sequence[SteppedSource],
    kinds: Mapping[int, EvidenceKinds],
    shifts: Shifts,
) -> Iterator[EvidenceWindow]:
    """The evidence window by window, source by source. A long source has several windows, several sources
    have one each. A window is valid until the next one is asked for."""
    windows = {
        source.source_id: (
            min(step.ts_ps for step in source.steps),
            max(step.end_ps for step in source.steps),
        )
        for source in sources
    }
    whole = hull(windows.values())
    kinds = {source.source_id: kinds.get(source.source_id, NOTHING) for source in sources}
    streams = map(stream, _spans_of(kinds, whole))
    spans = _core.Spans(streams) if any(kind.any for kind in kinds.values()) else None
    bits = {source_id: [window] for source_id, window in windows.items()}
    if len(sources) == 1:
        (number,) = windows
        bits[number] = list(_windows(query, number, whole, kinds[number].slices))
    threads = DrivingThreads(query, stream, kinds, whole)
    sampled = _SampledThreads(query, shifts, windows, threads, spans, bits)
    for number in range(max(map(len, bits.values()))):
        # With what is near on both sides, so that a gap between two calls is seen whole.
        near = {
            source_id: (cuts[number][0] - driver.SHORT_PS, cuts[number][1] + driver.SHORT_PS)
            for source_id, cuts in bits.items()
        }
        all_do = threads.doing(near)
        for source in sources:
            at, window = source.source_id, bits[source.source_id][number]
            found = {} if spans is None else spans.within(at, *window)
            does = all_do.get(at, [])
            launching = driver.launching(_overlapping(sampled.segments.get(at, ()), window), does)
            known = _span_evidence(found, does, launching, kinds[at])
            samples = _overlapping(sampled.spans.get(at, ()), window)
            loader = sampled.loader(at, found.get("input python", ()))
            yield EvidenceWindow(source, window, known, samples, loader)
            does.clear()  # who asked may still hold it while what follows is read


def _span_evidence(
    found: Mapping[str, Sequence[Interval]],
    does: Sequence[Segment],
    launching: Sequence[Segment],
    kinds: EvidenceKinds,
) -> SpanEvidence:
    """The evidence of a window from its spans. found: spans by what they show; does: what the driving thread
    does."""
    return SpanEvidence(
        {label: found[label] for label in EXECUTION if found.get(label)},
        found.get("input work", ()),
        found.get("input waits", ()),
        found.get("peer waits", ()),
        does,
        launching,
        kinds.on_devices,
        found.get("setups", ()),
        _split_by_device(found),
        kinds.inline and not kinds.launches,
        found.get("nodes", ()),
        found.get("launches", ()),
    )


class _SampledThreads:
    """The threads of sources, as samples show them."""

    def __init__(
        self,
        query: Query,
        shifts: Shifts,
        windows: Mapping[int, Interval],
        threads: DrivingThreads,
        spans: Spans | None,
        bits: Mapping[int, Sequence[Interval]],
    ) -> None:
        samples = stack_samples.driver_samples(query, shifts, windows)
        free = stack_samples.free_threaded(query) if samples else set()
        self._ran = {
            source_id: _ran(source_samples)
            for source_id, source_samples in samples.items()
            if free.isdisjoint(other for other, _ in shifts.get(source_id, ()))
        }
        """Of driving threads that others can keep from running Python."""
        used = {
            source_id: windows[source_id] for source_id, source_samples in self._ran.items() if source_samples
        }
        self._loading = stack_samples.loader_intervals(query, shifts, used) if used else {}
        doing = threads.throughout({source_id: bits[source_id] for source_id in samples})
        self.spans = {
            source_id: sample_attribution.attribute(
                source_samples,
                doing.get(source_id, []),
                [] if spans is None else _executing(spans, source_id, bits[source_id]),
            )
            for source_id, source_samples in samples.items()
        }
        """Time that each sample of a driving thread stands for."""
        self.segments = {
            source_id: stack_samples.segments(source_samples)
            for source_id, source_samples in self.spans.items()
        }

    def loader(self, source_id: int, traced: Sequence[Interval]) -> LoaderPython:
        """Python of the input pipeline. traced: where slices show it."""
        ran = self._ran.get(source_id, ())
        python = (*traced, *self._loading.get(source_id, ()))
        return LoaderPython(union(python) if ran else (), ran)


def _split_by_device(found: Mapping[str, Sequence[Interval]]) -> list[Mapping[Label, Sequence[Interval]]]:
    """What executes on each of several devices, by its label; nothing where there is only one. found: spans
    by layer, those of the statement device_evidence among them. What lies on no device counts for each."""
    devices: dict[str, dict[Label, Sequence[Interval]]] = {}
    for layer, spans in found.items():
        label, apart, device = layer.partition("/")
        if apart:
            devices.setdefault(device, {})[cast("Label", label)] = spans
    shown = devices.pop(_NO_DEVICE, {})
    return [
        {
            label: union((*evidence.get(label, ()), *shown.get(label, ())))
            for label in evidence.keys() | shown.keys()
        }
        for evidence in devices.values()
    ]


def _executing(spans: Spans, source_id: int, windows: Sequence[Interval]) -> list[Interval]:
    """When something executes for long in all windows of a source, which follow each other."""
    found: list[Interval] = []
    for window in windows:
        all_ = spans.within(source_id, *window)
        found = sample_attribution.long_executions(
            [*found, *(execution for label in EXECUTION for execution in all_.get(label, ()))]
        )
    return found


def _ran(samples: Sequence[DriverSample]) -> list[ProcessorTime]:
    return [
        interpreter_lock.processor_time(sample.from_ps, sample.to_ps, sample.active_ps, sample.queued_ps)
        for sample in samples
        if sample.active_ps is not None
    ]


_Timed = TypeVar("_Timed", Segment, SampleSpan)


def _overlapping(timed: Sequence[_Timed], window: Interval) -> Sequence[_Timed]:
    """Those that reach into a window; all are disjoint and in order."""
    first = bisect_right(timed, window[0], key=lambda span: span.to_ps)
    last = bisect_left(timed, window[1], key=lambda span: span.from_ps)
    return timed[first:last]


def _spans_of(kinds: Mapping[int, EvidenceKinds], whole: Interval) -> Iterator[Statement]:
    """Statements that find when something executes or waits."""
    within: dict[str, Value] = {"begin_ps": whole[0], "end_ps": whole[1]}
    of_devices = {
        number: of_source for number, of_source in kinds.items() if of_source.any and of_source.launches
    }
    if of_devices:
        yield statement("step_evidence", sources=list(of_devices), place="device", **within)
    if several := [number for number, of_source in of_devices.items() if of_source.devices > 1]:
        yield statement("device_evidence", sources=several, **within)
    of_hosts = {
        number: of_source for number, of_source in kinds.items() if of_source.any and not of_source.launches
    }
    yield from _spans_of_hosts(of_hosts, within)


def _spans_of_hosts(kinds: Mapping[int, EvidenceKinds], within: Mapping[str, Value]) -> Iterator[Statement]:
    for name in ("step_evidence", "captured_evidence", "loading_evidence", "inline_evidence"):
        if some := [number for number, of_source in kinds.items() if of_source.asked == name]:
            yield statement(name, sources=some, place="host", **within)
    if programs := [number for number, of_source in kinds.items() if of_source.programs]:
        yield statement("program_evidence", sources=programs, **within)


def slices_at_once() -> int:
    """Slices that are looked at together: more where there is memory for them."""
    memory_bytes = config.memory_bytes() or config.machine_bytes() or 0
    return max(memory_bytes // (_OF_MEMORY * _SLICE_BYTES), AT_ONCE)


def _windows(query: Query, source_id: int, whole: Interval, slices: int) -> Iterator[Interval]:
    """Bits of the time, in order and without gaps, each with few slices. slices: how many there are."""
    begin, end = whole
    most = slices_at_once()
    if slices <= most:
        yield whole
        return
    width = max((end - begin) // _BITS, 1)
    in_window, at = 0, begin
    asked = statement("slice_density", source_id=source_id, begin_ps=begin, end_ps=end, width_ps=width)
    for part, many in query(asked).rows():
        cut = begin + part * width
        if in_window and in_window + many > most and cut > at:
            yield at, cut
            in_window, at = 0, cut
        in_window += many
    yield at, end
