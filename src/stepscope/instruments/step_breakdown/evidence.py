"""Evidence about the steps of sources: what executes, what the driving thread does, samples of its stack.
Each question is asked once for all sources that are read together."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar, cast

from stepscope import _core, config
from stepscope._core import Spans
from stepscope.engines import Statement
from stepscope.instruments.intervals import Interval, union
from stepscope.instruments.step_breakdown import driver, interpreter_lock, sample_attribution, stack_samples
from stepscope.instruments.step_breakdown.evidence_kinds import NOTHING, EvidenceKinds
from stepscope.instruments.step_breakdown.interpreter_lock import ProcessorTime
from stepscope.instruments.step_breakdown.labels import EXECUTION, Label
from stepscope.instruments.step_breakdown.stack_samples import DriverSample, SampleSpan, Shifts
from stepscope.instruments.step_breakdown.sweep import NumberedSegments, Segment, SpanEvidence
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
    whole = _hull(windows.values())
    kinds = {source.source_id: kinds.get(source.source_id, NOTHING) for source in sources}
    streams = map(stream, _spans_of(kinds, whole))
    spans = _core.Spans(streams) if any(kind.any for kind in kinds.values()) else None
    bits = {source_id: [window] for source_id, window in windows.items()}
    if len(sources) == 1:
        (number,) = windows
        bits[number] = list(_windows(query, number, whole, kinds[number].slices))
    threads = _DrivingThreads(query, stream, kinds, whole)
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
        threads: _DrivingThreads,
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


def _hull(windows: Iterable[Interval]) -> Interval:
    begins, ends = zip(*windows, strict=True)
    return min(begins), max(ends)


_Timed = TypeVar("_Timed", Segment, SampleSpan)


def _overlapping(timed: Sequence[_Timed], window: Interval) -> Sequence[_Timed]:
    """Those that reach into a window; all are disjoint and in order."""
    first = bisect_right(timed, window[0], key=lambda span: span.to_ps)
    last = bisect_left(timed, window[1], key=lambda span: span.from_ps)
    return timed[first:last]


def _spans_within(spans: Iterable[Interval], window: Interval) -> list[Interval]:
    """Those that reach into a window."""
    return [span for span in spans if span[0] < window[1] and span[1] > window[0]]


class _DrivingThreads:
    """The driving threads of sources."""

    def __init__(
        self, query: Query, stream: Stream, kinds: Mapping[int, EvidenceKinds], whole: Interval
    ) -> None:
        """whole: time around the steps of all sources."""
        self._query, self._stream = query, stream
        self._tracks = driver.tracks(query, list(kinds))
        self._calls: driver.SliceMeanings = {}
        for on_devices in (False, True):
            tracks = [
                track for source_id, track in self._tracks.items() if kinds[source_id].launches is on_devices
            ]
            if tracks:
                names = query(statement("driving_names", tracks=tracks)).rows()
                self._calls.update(driver.slice_meanings(names, computes=not on_devices))
        self._traced = [track for source_id, track in self._tracks.items() if kinds[source_id].functions]
        compiled: dict[int, list[Interval]] = {}
        self._compiled_again: dict[int, list[Interval]] = {}
        asked = statement("compiled_calls", sources=list(kinds), begin_ps=whole[0], end_ps=whole[1])
        for source_id, begin, end, again in query(asked).rows():
            compiled.setdefault(source_id, []).append((begin, end))
            if again:
                self._compiled_again.setdefault(source_id, []).append((begin, end))
        self._compiled = {source_id: union(calls) for source_id, calls in compiled.items()}
        collected: dict[int, list[Interval]] = {}
        asked = statement("garbage_collections", sources=list(kinds), begin_ps=whole[0], end_ps=whole[1])
        for source_id, begin, end in query(asked).rows():
            collected.setdefault(source_id, []).append((begin, end))
        self._collected = {source_id: union(spans) for source_id, spans in collected.items()}

    def doing(self, windows: Mapping[int, Interval]) -> dict[int, list[Segment] | NumberedSegments]:
        """What the threads of sources do, each within a window; where no slice tells of one, only when it
        compiled again or collected garbage, as a recorder saw."""
        found = self._slice_segments(windows)
        for source_id, window in windows.items():
            known = self._compiled.get(source_id, ())
            if source_id not in found:
                known = union(self._compiled_again.get(source_id, ()))
            if calls := _spans_within(known, window):
                found[source_id] = driver.compiling(found.get(source_id, []), calls)
            if collections := _spans_within(self._collected.get(source_id, ()), window):
                found[source_id] = driver.collecting(found.get(source_id, []), collections)
        return found

    def _slice_segments(self, windows: Mapping[int, Interval]) -> dict[int, list[Segment] | NumberedSegments]:
        """What slices on the threads say of windows."""
        tracks = {self._tracks[source_id]: source_id for source_id in windows if source_id in self._tracks}
        if not tracks:
            return {}
        begin, end = _hull(windows.values())
        traced = self._traced_calls([track for track in self._traced if track in tracks], begin, end)
        slices = self._stream(statement("driving_slices", tracks=list(tracks), begin_ps=begin, end_ps=end))
        within = {track: windows[source_id] for track, source_id in tracks.items()}
        return {
            tracks[track]: segments
            for track, segments in driver.segments(slices, within, self._calls, traced).items()
        }

    def _traced_calls(self, tracks: list[int], begin_ps: int, end_ps: int) -> list[driver.TracedCall]:
        """Calls of runs that were traced in full."""
        if not tracks or not self._calls:
            return []
        asked = statement("traced_calls", tracks=tracks, begin_ps=begin_ps, end_ps=end_ps)
        return [(row[0], row[1], row[2]) for row in self._query(asked).rows()]

    def throughout(self, windows: Mapping[int, Sequence[Interval]]) -> dict[int, list[Segment]]:
        """What they do in all windows of each source, which follow each other."""
        found: dict[int, list[Segment]] = {}
        for number in range(max(map(len, windows.values()), default=0)):
            bits = {source_id: parts[number] for source_id, parts in windows.items()}
            for source_id, segments in self.doing(bits).items():
                begin, end = bits[source_id]
                found.setdefault(source_id, []).extend(
                    segment._replace(from_ps=max(segment.from_ps, begin), to_ps=min(segment.to_ps, end))
                    for segment in segments
                    if segment.to_ps > begin and segment.from_ps < end
                )
        return {source_id: driver.joined(parts) for source_id, parts in found.items()}


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
