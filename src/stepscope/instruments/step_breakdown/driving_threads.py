"""What the driving threads of sources do: the calls on them, compilations and collections of garbage."""

from collections.abc import Iterable, Mapping, Sequence

from stepscope.instruments.intervals import Interval, hull, union
from stepscope.instruments.step_breakdown import driver
from stepscope.instruments.step_breakdown.evidence_kinds import EvidenceKinds
from stepscope.instruments.step_breakdown.sweep import NumberedSegments, Segment
from stepscope.library.statements import Query, Stream, Value, statement


def _spans_within(spans: Iterable[Interval], window: Interval) -> list[Interval]:
    """Those that reach into a window."""
    return [span for span in spans if span[0] < window[1] and span[1] > window[0]]


class DrivingThreads:
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
        within: dict[str, Value] = {"sources": list(kinds), "begin_ps": whole[0], "end_ps": whole[1]}
        calls = query(statement("compiled_calls", **within)).rows()
        self._compiled = _unions((row[0], row[1], row[2]) for row in calls)
        self._compiled_again = _unions((row[0], row[1], row[2]) for row in calls if row[3])
        self._collected = _unions(query(statement("garbage_collections", **within)).rows())

    def doing(self, windows: Mapping[int, Interval]) -> dict[int, list[Segment] | NumberedSegments]:
        """What the threads of sources do, each within a window; where no slice tells of one, only when it
        compiled again or collected garbage, as a recorder saw."""
        found = self._slice_segments(windows)
        for source_id, window in windows.items():
            known = self._compiled.get(source_id, ())
            if source_id not in found:
                known = self._compiled_again.get(source_id, ())
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
        begin, end = hull(windows.values())
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


def _unions(rows: Iterable[Sequence[int]]) -> dict[int, list[Interval]]:
    """The intervals of each source, joined. rows: source, begin and end."""
    found: dict[int, list[Interval]] = {}
    for source_id, begin, end in rows:
        found.setdefault(source_id, []).append((begin, end))
    return {source_id: union(intervals) for source_id, intervals in found.items()}
