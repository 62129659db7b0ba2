"""What the profilers of TensorFlow 2.0 and 2.1 write: `plugins/profile/*/local.trace`, a Trace message.

Rows and names are those of the JSON that the profiler of 2.2 writes, in whole microseconds, without its
groups of steps. TensorFlow 2.1 shortens names and keeps the long ones beside; 2.0 keeps none, so neither
nodes are known, nor what takes from an iterator on another thread. Neither tells when it was written.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from stepscope import protobuf
from stepscope._core import Store
from stepscope.formats import Damaged, Pieces
from stepscope.formats._profile_events import MOST_BYTES, Events
from stepscope.sources.source import Traits

NAME = "local_trace"
TRAITS = Traits(no_host=True, endings=(".trace",))
_DEVICE, _EVENT = 1, 4
"""Fields of a Trace."""
_RUNS = ("FunctionRun", "__inference_")
"""How slices are called that run the program's function."""
_ON_THREAD = "tf_data_"
"""Threads whose names begin so run iterators."""
_TAKES = "tf_data_iterator_get_next"
"""Threads of the ops that take batches."""
_TAKE, _TAKE_OPTIONAL = "IteratorGetNextOp::DoCompute", "IteratorGetNextAsOptionalOp::DoCompute"
"""How newer profilers call what such an op does there."""
_OF_DEVICES = "multi_device_iterator"
"""In names of threads on which the pipeline of the host runs, where devices have pipelines of their own."""
_WORKS_AHEAD = ("parallelism=", "buffer_limit=")
"""What labels of iterators with threads of their own hold."""


class _TraceSpan(NamedTuple):
    """A slice as it is written."""

    pid: int
    tid: int
    name: str
    begin_ps: int
    end_ps: int
    long_name: str | None
    label: str

    @property
    def thread(self) -> tuple[int, int]:
        """Its device and resource."""
        return self.pid, self.tid


def sniff(head: bytes, name: str) -> bool:
    """A device under its number, and nothing but devices and events."""
    fields = list(protobuf.fields(memoryview(head)))
    if not fields or fields[0][0] != _DEVICE or any(field not in (_DEVICE, _EVENT) for field, *_ in fields):
        return False
    entry = {field: body for field, _, body, _ in protobuf.fields(fields[0][2])}
    if set(entry) - {1, 2} or 2 not in entry:
        return False
    first = next(protobuf.fields(entry[2]), None)
    return first is not None and first[:2] == (1, 2) and bytes(first[2][:1]) == b"/"


def build(pieces: Pieces) -> Store:
    """Each span as a slice of its thread, under its long name."""
    data = pieces.read(MOST_BYTES)
    events = Events(origin_ps=0)
    threads, spans = _read(data, events)
    if not spans:
        raise Damaged("it has no events")
    for (pid, tid), (process, thread) in threads.items():
        events.thread(pid, tid, process, thread)
    ways = {} if any(span.long_name for span in spans) else _ways(spans, threads)
    groups = _groups(spans)
    for number, span in enumerate(spans):
        args = dict(part.split("=", 1) for part in span.label.split(",") if "=" in part)
        name = span.long_name or ways.get(number)
        if name is None:  # an op of TensorFlow 2.0 is known by its type alone
            name = f"{span.name}:{span.name}" if "device" in args else span.name.strip()
        if number in groups:
            args["group_id"] = str(groups[number])
        thread = threads.get(span.thread, ("", ""))[1]
        if thread.startswith(_TAKES) and name.startswith("Iterator::") and name.count("::") == 1:
            # What runs on such a thread is the op; newer profilers record it as well.
            take = _TAKE_OPTIONAL if thread.endswith("as_optional") else _TAKE
            events.slice(take, span.begin_ps, span.end_ps, *span.thread)
            events.seen -= 1
        events.slice(name, span.begin_ps, span.end_ps, *span.thread, args=args)
    return events.store(pieces, data, "tf_profiler")


Threads = dict[tuple[int, int], tuple[str, str]]
"""By device and resource: the process, and the thread's name."""


def _read(data: bytes, events: Events) -> tuple[Threads, list[_TraceSpan]]:
    """The threads and the spans, those that contain others first; up to where the file is damaged."""
    threads: Threads = {}
    spans = []
    try:
        for number, _, body in protobuf.whole(data):
            if number == _DEVICE:
                threads.update(_threads(body))
            elif number == _EVENT:
                spans.append(_span(body))
    except protobuf.DamagedMessage as error:
        events.note("truncated", "lost", 0, f"what follows the first {len(spans):,} events: {error}")
    # They are written when they end: of two with the same microseconds, the later one contains the other.
    spans.reverse()
    spans.sort(key=lambda span: (span.thread, span.begin_ps, -span.end_ps))
    return threads, spans


def _groups(spans: Sequence[_TraceSpan]) -> dict[int, int]:
    """The step of spans that run the program's function, or an op of it, as newer profilers number them. In
    TensorFlow 2.1 they have an id in common; in 2.0 such ops have the id 0, those of datasets others."""
    runs = [number for number, span in enumerate(spans) if span.name.startswith(_RUNS)]
    runs.sort(key=lambda number: spans[number].begin_ps)
    step_of = {_id(spans[number]): step for step, number in enumerate(runs)}
    groups = {number: step for step, number in enumerate(runs)}
    begins = [spans[number].begin_ps for number in runs]
    for number, span in enumerate(spans):
        if number in groups or "device=" not in span.label:
            continue
        if None not in step_of:
            step = step_of.get(_id(span))
        else:
            at = bisect_right(begins, span.begin_ps) - 1
            step = at if at >= 0 and _id(span) == "0" and span.begin_ps < spans[runs[at]].end_ps else None
        if step is not None:
            groups[number] = step
    return groups


def _id(span: _TraceSpan) -> str | None:
    """The id in its label."""
    return next((part[3:] for part in span.label.split(",") if part.startswith("id=")), None)


def _threads(entry: memoryview) -> Iterator[tuple[tuple[int, int], tuple[str, str]]]:
    """The threads of a device."""
    device = _value(entry)
    process = _text(device, 1)
    pid = _number(device, 2)
    for resource in device.get(3, ()):
        about = _value(resource)
        tid, name = _number(about, 2), _text(about, 1)
        yield (pid, tid), (process, "" if name == str(tid) else name)


def _span(body: memoryview) -> _TraceSpan:
    found = _fields(body)
    begin_ps = _number(found, 9)
    args = {}
    for entry in found.get(11, ()):
        pair = _fields(entry)
        args[_text(pair, 1)] = _text(pair, 2)
    return _TraceSpan(
        _number(found, 1),
        _number(found, 2),
        _text(found, 3),
        begin_ps,
        begin_ps + _number(found, 10),
        args.get("long name"),
        args.get("label", ""),
    )


def _fields(data: memoryview) -> dict[int, list[memoryview]]:
    found: defaultdict[int, list[memoryview]] = defaultdict(list)
    for number, _, body in protobuf.whole(data):
        found[number].append(body)
    return found


def _value(entry: memoryview) -> dict[int, list[memoryview]]:
    """The message that an entry of a map holds under its number."""
    return _fields(_fields(entry).get(2, [memoryview(b"")])[0])


def _text(found: Mapping[int, Sequence[memoryview]], number: int) -> str:
    return protobuf.text(found[number][-1]) if number in found else ""


def _number(found: Mapping[int, Sequence[memoryview]], number: int) -> int:
    return protobuf.number(found[number][-1]) if number in found else 0


_READS = "::FlatMap::TFRecord", "::FlatMap[0]::TFRecord"
"""TFRecordDataset is a flat_map over names of files, whose function makes readers: newer names count them."""
Way = tuple[str, ...]
"""Names of iterators, from one that takes to what it takes from."""


def _ways(spans: Sequence[_TraceSpan], threads: Mapping[tuple[int, int], tuple[str, str]]) -> dict[int, str]:
    """Long names of iterators of TensorFlow 2.0, by number of the span: the way from the root. On a thread,
    it is what is around; what is called on another one is known where only one order is possible."""
    stacks: dict[int, Way] = {}
    ahead: set[str] = set()
    around: list[tuple[int, Way]] = []
    at = None
    for number, span in enumerate(spans):
        thread = span.thread
        if not threads.get(thread, ("", ""))[1].startswith(_ON_THREAD) or "device=" in span.label:
            continue
        if thread != at:
            at, around = thread, []
        while around and around[-1][0] <= span.begin_ps:
            around.pop()
        stacks[number] = way = (*(around[-1][1] if around else ()), span.name)
        around.append((span.end_ps, way))
        if any(key in span.label for key in _WORKS_AHEAD):
            ahead.add(span.name)
    found: dict[int, str] = {}
    # A strategy's devices have pipelines of their own, on threads apart from those of the host's pipeline.
    for of_devices in (False, True):
        part = {n: way for n, way in stacks.items() if _is_of_devices(spans[n], threads) == of_devices}
        part = _completed(part)
        taking = {way[0] for n, way in part.items() if threads[spans[n].thread][1].startswith(_TAKES)} or {
            "Model"
        }
        above = _above(set(part.values()), ahead, taking)
        found.update(
            (n, "::".join(("Iterator", *above[way[0]], *way))) for n, way in part.items() if way[0] in above
        )
    return {number: name.replace(*_READS) for number, name in found.items()}


def _is_of_devices(span: _TraceSpan, threads: Mapping[tuple[int, int], tuple[str, str]]) -> bool:
    return _OF_DEVICES in threads[span.thread][1]


def _completed(ways: Mapping[int, Way]) -> dict[int, Way]:
    """The ways with what is around calls that the recording shows only in part: those around them had begun
    before it or ended after it."""
    inside: defaultdict[str, set[Way]] = defaultdict(set)
    for way in set(ways.values()):
        for place in range(1, len(way)):
            inside[way[place]].add(way[:place])
    begins = Counter(way[0] for way in ways.values() if len(way) > 1)

    def around(name: str) -> Way:
        most = max(inside[name], key=len, default=())
        # What usually begins a way is complete.
        return most if most and len(inside[name]) == 1 and begins[most[0]] >= begins[name] else ()

    return {number: (*around(way[0]), *way) for number, way in ways.items()}


def _above(ways: set[Way], ahead: set[str], roots: set[str]) -> dict[str, Way]:
    """What consumes the first stage of each way, from the root on; without those of which it is unknown."""
    if len(roots) != 1:
        return {}
    (root,) = roots
    above: dict[str, Way] = {root: ()}
    left = {way[0] for way in ways} - {root}
    at: Way | None = (root,)
    while left and at is not None:
        ends = {(*at, *way[1:]) for way in ways if way[0] == at[-1]}
        tails = {end for end in ends if end[-1] in ahead}
        # What has no threads of its own calls nothing on another one, so it comes last.
        following = {name for name in left if len(left) == 1 or _goes_on(name, ways, ahead)}
        if len(tails) != 1 or len(following) != 1:
            break
        tail, name = tails.pop(), following.pop()
        above[name] = tail
        left.discard(name)
        at = (*tail, name)
    return above


def _goes_on(name: str, ways: set[Way], ahead: set[str]) -> bool:
    """Whether a stage with threads of its own is in a way that begins with this name."""
    return any(way[0] == name and ahead & set(way) for way in ways)
