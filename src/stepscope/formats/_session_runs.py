"""The runs of a session that a file holds, judged by content: each begins with the node `_SOURCE` of its
graph.

RunMetadata, bare StepStats, event files and timelines, one run in a file or many, all keep of each node its
name and its start in microseconds. No two runs begin in the same one, so these starts tell whether two files
hold the same runs, whatever the files are called, and which of them is fuller. A profile of tfprof may lack
that node: a run in it goes by the last start of a node, and is the run of another file that has this start.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from stepscope import protobuf, strict_json
from stepscope.formats import _twins
from stepscope.formats._timeline_origin import is_timeline
from stepscope.sources.damage import DamagedArchive
from stepscope.sources.same_capture import Twin
from stepscope.sources.source import Source
from stepscope.sources.spool import pieces_of

_MOST_BYTES = 64 << 20
"""Files that are larger are not searched: they are read beside others, as if they held runs of their own."""
_NODE = b"\x0a\x07_SOURCE\x10"
"""node_name and the key of all_start_micros of a NodeExecStats, as written."""
_EVENT_BYTES = 4096
_QUOTED = b'"_SOURCE"'


def twins(folder: Sequence[Source]) -> Iterator[Twin]:
    """Files of which every run is in another file as well, or in several."""
    candidates = [source for source in folder if _rank(source) is not None]
    if len(candidates) > 1:
        yield from _copies_among(candidates)


def copies(sources: Sequence[Source]) -> Iterator[Twin]:
    """The same for files of several folders, in another format: files of one format are of as many runs or
    hosts as there are folders. Event files, which may be many and large, are searched where other files hold
    runs of a session and their tags name run metadata."""
    candidates = [source for source in sources if _rank(source) is not None]
    others = [source for source in candidates if source.format != "event_file"]
    if len(candidates) > 1 and any(run_begins(source) for source in others):
        tagged = [src for src in candidates if src.format == "event_file" and _twins.tagged_steps(src)]
        for copy, original, why in _copies_among([*others, *tagged]):
            if copy.format != original.format:
                yield copy, original, why


def _copies_among(candidates: Sequence[Source]) -> Iterator[Twin]:
    runs = {candidate.path: found for candidate in candidates if (found := run_begins(candidate))}
    _name_runs_of_profiles(candidates, runs)
    held = [candidate for candidate in candidates if candidate.path in runs]
    keeper = _keepers(held, runs)
    kept = {source.path for source in keeper.values()}
    for source in held:
        if source.path not in kept:
            yield source, keeper[min(runs[source.path])], "the same run of a session as in"


def numbered(sources: Sequence[Source]) -> list[Source]:
    """The sources. Files of one run of a session each, none of which has a number in its name, get numbers in
    the order in which their runs began."""
    alike: dict[tuple[str, ...], list[Source]] = defaultdict(list)
    for source in sources:
        if source.format in _NUMBERED:
            place = (source.run_name, source.run_path, source.host_name, source.capture, source.format)
            alike[place].append(source)
    number: dict[str, int] = {}
    for files in alike.values():
        if len(files) > 1 and all(source.step is None for source in files):
            number.update(_places_by_begin({source.path: run_begins(source) for source in files}))
    return [
        source._replace(step=number[source.path], step_counted=True) if source.path in number else source
        for source in sources
    ]


def _places_by_begin(runs: Mapping[str, Set[int]]) -> dict[str, int]:
    """The place of each file among others; nothing where one has no run, or runs of two began in turns."""
    if not all(runs.values()):
        return {}
    ordered = sorted(runs, key=lambda path: min(runs[path]))
    if any(max(runs[path]) >= min(runs[later]) for path, later in pairwise(ordered)):
        return {}
    return {path: at for at, path in enumerate(ordered)}


_NUMBERED = ("run_metadata", "chrome_trace")
"""Formats that have files of a single run."""


def _keepers(held: Sequence[Source], runs: Mapping[str, Set[int]]) -> dict[int, Source]:
    """The file to read each run from. Of the forms that together have all runs, those that say most of each;
    of these the files with most runs."""
    everything = set().union(*runs.values())
    tried: list[Source] = []
    for rank in sorted({_rank(source) or 0 for source in held}):
        tried = [source for source in held if (_rank(source) or 0) <= rank]
        if set().union(*(runs[source.path] for source in tried)) == everything:
            break
    keeper: dict[int, Source] = {}
    for source in sorted(tried, key=lambda src: (-len(runs[src.path]), _rank(src) or 0, -src.size, src.path)):
        if runs[source.path] - keeper.keys():
            for run in runs[source.path]:
                keeper.setdefault(run, source)
    return keeper


def run_begins(source: Source) -> frozenset[int]:
    """When the runs in a file began, of a profile when their last nodes did, in microseconds; nothing for
    other files, and for those that cannot be searched. A file whose identity is known is read once."""
    return _read_begins(source) if source.identity is None else _known_begins(source._replace(notes=()))


def _read_begins(source: Source) -> frozenset[int]:
    data = _read(source)
    if source.format == "tfprof_profile":
        return frozenset(_last_starts(data))
    if source.format == "chrome_trace":
        return frozenset(_timeline_begins(data)) if is_timeline(data) else frozenset()
    return frozenset(_stats_begins(data))


_known_begins = lru_cache(maxsize=4096)(_read_begins)


def _rank(source: Source) -> int | None:
    """How much a form leaves out; None for files that hold no runs."""
    if source.format == "event_file":
        return 0
    if source.format == "run_metadata":
        return 0
    if source.format == "tfprof_profile":
        return 1
    return 2 if source.format == "chrome_trace" else None


def _read(source: Source) -> bytes:
    """The bytes of a file; nothing for a large one, for what must be unpacked first, and for what lies in an
    object store and was not fetched, because a lake has it already."""
    where = source.bytes if source.spooled is None else source.spooled
    if where.unpack or source.size > _MOST_BYTES or not Path(where.path).is_file():
        return b""
    data = bytearray()
    try:
        for piece in pieces_of(where):
            data += piece
            if source.format == "chrome_trace" and not is_timeline(data):
                return b""
            if len(data) >= _MOST_BYTES:
                break
    except (OSError, DamagedArchive):  # the decoder reports it
        return b""
    return bytes(data[:_MOST_BYTES])


def _stats_begins(data: bytes) -> Iterator[int]:
    at = data.find(_NODE)
    while at >= 0:
        value = shift = 0
        for byte in data[at + len(_NODE) : at + len(_NODE) + 10]:
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        if value:
            yield value
        at = data.find(_NODE, at + 1)


def _last_starts(data: bytes) -> Iterable[int]:
    """The last start of a node in each step of a profile. `ProfileProto.nodes` (1) is a map of nodes (2),
    `execs` (12) of a node a map by step (1) of executions (2) with `all_start_micros` (2)."""
    last: dict[int, int] = {}
    for entry in _messages(memoryview(data), 1):
        for node in _messages(entry, 2):
            for of_step in _messages(node, 12):
                step = _number(of_step, 1)
                for found in _messages(of_step, 2):
                    last[step] = max(last.get(step, 0), _number(found, 2))
    return last.values()


def _messages(data: memoryview, number: int) -> Iterator[memoryview]:
    return (body for at, wire, body, cut in protobuf.fields(data) if at == number and wire == 2 and not cut)


def _number(data: memoryview, number: int) -> int:
    found = (body for at, wire, body, cut in protobuf.fields(data) if at == number and wire == 0 and not cut)
    return protobuf.signed(next(found, memoryview(b"")))


def _name_runs_of_profiles(candidates: Sequence[Source], runs: dict[str, frozenset[int]]) -> None:
    """Calls the runs of profiles as other files call them, where a node of one starts with their last."""
    profiles = [source for source in candidates if source.format == "tfprof_profile" and source.path in runs]
    if not profiles:
        return
    named: dict[int, int] = {}
    for source in candidates:
        if source.format == "tfprof_profile" or source.path not in runs:
            continue
        data = _read(source)
        for last in frozenset().union(*(runs[profile.path] for profile in profiles)):
            before = [run for run in runs[source.path] if run <= last]
            if before and (protobuf.record(2, last) in data or b"%d" % last in data):
                named[last] = max(before)
    for profile in profiles:
        runs[profile.path] = frozenset(named.get(last, last) for last in runs[profile.path])


def _timeline_begins(data: bytes) -> Iterator[int]:
    at = data.find(_QUOTED)
    while at >= 0:
        event = _enclosing_event(data, at)
        ts = event.get("ts")
        if event.get("ph") == "X" and isinstance(ts, int) and ts > 0:
            yield ts
        at = data.find(_QUOTED, at + 1)


def _enclosing_event(data: bytes, at: int) -> dict[str, object]:
    """The event whose arguments are around a place of the text; nothing where none is."""
    begin = data.rfind(b"{", max(0, at - _EVENT_BYTES), at)
    begin = data.rfind(b"{", max(0, at - _EVENT_BYTES), max(begin, 0))
    # Arguments are behind or before the time, so the object is read as it stands.
    text = data[max(begin, 0) : at + _EVENT_BYTES].decode("utf-8", "replace")
    found = strict_json.leading(text)
    return found if isinstance(found, dict) and isinstance(found.get("args"), dict) else {}
