"""pprof's profiles: samples of processor time, or of memory, with their stacks, as Go's and gperftools'
profilers and JAX's device_memory_profile() write them. A profile has totals of stacks, no times: processor
time is laid out stack after stack, as of collapsed stacks; memory is what was held at one moment.

Format: <https://github.com/google/pprof/blob/main/proto/profile.proto>.
"""

import re

from stepscope import units
from stepscope._core import Store
from stepscope.formats import Damaged, NothingTimed, Pieces
from stepscope.formats._pprof_profile import PprofProfile, PprofSample, read
from stepscope.formats._profile_events import Events
from stepscope.formats._protobuf import Shape, score
from stepscope.sources.source import Traits

NAME = "pprof"
TRAITS = Traits(kind="profile", endings=(".pprof", ".prof", ".pb"))
MEMORY = "[memory profile]"
"""Name of the instants that say what a stack holds."""
MOST_BYTES = 128 << 20
"""Size of the largest profile that is read: Python holds it whole."""
_TYPE = re.compile(
    rb"(?:H[\x80-\xff]{8}[\x00-\x7f])?[\nZ][\x00-\x0c](\x08[\x00-\x7f]|\x08[\x80-\xff][\x00-\x7f])?\x10"
)
"""The first field: a type of values, or that of the period, which Go writes first of a heap: two places in
the table of strings. Before it, Go writes of processor time when the profile began, in nanoseconds."""
_VALUE: Shape = {1: "n", 2: "n"}
_LINE: Shape = {1: "n", 2: "n", 3: "n"}
_SHAPE: Shape = {
    1: _VALUE,
    2: {1: None, 2: None, 3: {1: "n", 2: "n", 3: "n", 4: "n"}},
    3: {1: "n", 2: "n", 3: "n", 4: "n", 5: "n", 6: "n", 7: "n", 8: "n", 9: "n", 10: "n"},
    4: {1: "n", 2: "n", 3: "n", 4: _LINE, 5: "n"},
    5: {1: "n", 2: "n", 3: "n", 4: "n", 5: "n"},
    6: "t",
    **dict.fromkeys((7, 8, 9, 10, 12, 13, 14, 15), None),
    11: _VALUE,
}
_PS = {
    "nanoseconds": 10**3, "ns": 10**3, "microseconds": 10**6, "us": 10**6, "milliseconds": 10**9,
    "ms": 10**9, "seconds": 10**12, "s": 10**12,
}  # fmt: skip
_BYTES = {"bytes": 1, "byte": 1, "b": 1, "kilobytes": 2**10, "kb": 2**10, "megabytes": 2**20, "mb": 2**20}
_SIZED = {*_PS, *_BYTES}
_HELD = ("inuse_space", "space")
_GIVEN = "alloc_"
"""How kinds of values begin that count what was freed as well."""
_UNKNOWN_BYTES = -1
"""What JAX writes of an executable whose size its runtime does not know, as that of TPUs does not.
Executables of one stack are added up."""
_COUNTED_PS = 10**9
"""What a sample is shown as where nothing says for how long it stands."""
_ROWS = ("process", "pid", "track", "thread", "thread_name", "thread name", "thread_id", "tid")
"""Labels that tell whose samples they are."""
_MOST_PS = 2**61
_MOST_FRAMES = 60
"""Frames of a stack that an instant holds, the innermost."""


def sniff(head: bytes, name: str) -> bool:
    """A message that begins with a type of values, and which goes on like a profile."""
    return _TYPE.match(head) is not None and score(head, _SHAPE) >= 3


def build(pieces: Pieces) -> Store:
    """Processor time as slices; memory as instants that say what each stack holds."""
    data = pieces.read(MOST_BYTES)
    profile = read(data)
    if not profile.types or not profile.samples:
        raise Damaged("it has no samples")
    place, time = _chosen(profile)
    kind = profile.types[place][0]
    if not time and kind.startswith(_GIVEN):
        raise NothingTimed(
            f"it has only {kind}: what was given since the program began, and may be freed",
            "give a profile of the heap, which says what was held (inuse_space)",
        )
    events = Events(origin_ps=0)
    unsized = 0
    if time:
        _lay_out(events, profile, place)
    else:
        unsized = _hold(events, profile, place)
    odd = sum(sample.values(place) < 0 for sample in profile.samples) - unsized
    if odd:
        events.seen += odd
        count = units.count(odd, "sample")
        lack = units.agree(odd, "has a value", "have values")
        events.note("negative-duration", "lost", odd, f"{count} {lack} below zero")
    if unsized:
        detail = f"executables of {units.count(unsized, 'stack')} have no size: the runtime does not know it"
        events.note("size-unknown", "missing", unsized, detail)
    if profile.unnamed:
        count = units.count(profile.unnamed, "place")
        events.note("unnamed-metadata", "missing", profile.unnamed, f"{count} in the program without a name")
    if profile.cut:
        events.note("truncated", "lost", 0, "the profile ends within a field")
    known = {number: kind for number, (kind, unit) in enumerate(profile.types) if unit.lower() in _SIZED}
    if others := [kind for number, kind in known.items() if number != place]:
        detail = f"shown: {profile.types[place][0]}; not shown: {', '.join(others)[:200]}"
        events.note("other-values", "info", 0, detail)
    return events.store(pieces, data, "unknown", lost=odd)


def _chosen(profile: PprofProfile) -> tuple[int, bool]:
    """Which value of the samples is shown, and whether it stands for time: time before memory before counts,
    and the last of a kind, unless the profile says which it is about."""
    named = [kind for kind, _ in profile.types]
    first = [named.index(profile.default)] if profile.default in named else []
    # What is held, though Go's profiles of allocations are about what was ever given.
    held = [number for kind in _HELD for number, name in enumerate(named) if name == kind]
    order = [*held, *first]
    order += range(len(named) - 1, -1, -1)
    for known in (_PS, _BYTES):
        for number in order:
            if profile.types[number][1].lower() in known:
                return number, known is _PS
    return order[0], True


def _scale(profile: PprofProfile, place: int) -> int:
    """Picoseconds that one stands for."""
    unit = profile.types[place][1].lower()
    if unit in _PS:
        return _PS[unit]
    period, (_, of) = profile.period, profile.period_type
    return period * _PS[of.lower()] if of.lower() in _PS and 0 < period < 10**12 else _COUNTED_PS


def _lay_out(events: Events, profile: PprofProfile, place: int) -> None:
    """Stacks of each thread in alphabetical order, so that what they share is one slice."""
    scale = _scale(profile, place)
    rows: dict[tuple[str, str], dict[tuple[str, ...], int]] = {}
    for sample in profile.samples:
        if (value := sample.values(place)) > 0:
            stacks = rows.setdefault(_row(sample), {})
            stack = tuple(frame.name for frame in profile.stack(sample))
            stacks[stack] = stacks.get(stack, 0) + value * scale
    beyond = 0
    for number, (row, stacks) in enumerate(sorted(rows.items())):
        events.thread(1, number, row[0], row[1])
        at, laid = 0, []
        for stack, length in sorted(stacks.items()):
            if at + length > _MOST_PS:
                beyond += 1
                continue
            laid.append((stack, at, at + length))
            at += length
        events.stacks(laid, 1, number)
    events.seen += beyond
    events.far += beyond
    total = sum(len(stacks) for stacks in rows.values())
    detail = f"{units.count(total, 'stack')} without times: shown one after the other, in alphabetical order"
    events.note("samples-without-times", "info", total, detail)


def _row(sample: PprofSample) -> tuple[str, str]:
    process = sample.labels.get("process") or sample.labels.get("pid") or "profile"
    kinds = (sample.labels[key] for key in _ROWS[2:] if sample.labels.get(key))
    return process, next(kinds, "samples")


def _is_unsized(sample: PprofSample, place: int, blocks: int) -> bool:
    """Whether a sample stands for executables of unknown size."""
    is_unknown = blocks > 0 and sample.values(place) == blocks * _UNKNOWN_BYTES
    return is_unknown and sample.labels.get("kind") == "executable"


def _hold(events: Events, profile: PprofProfile, place: int) -> int:
    """What each stack holds, an instant for each sample; how many hold executables of unknown size."""
    kind, unit = profile.types[place]
    scale = _BYTES[unit.lower()]
    count = next((n for n, (_, of) in enumerate(profile.types) if of == "count" and n < place), None)
    unsized = 0
    events.thread(1, 0, "profile", "memory")
    for sample in profile.samples:
        held = sample.values(place) * scale
        blocks = 1 if count is None else sample.values(count)
        if _is_unsized(sample, place, blocks):
            held = 0
            unsized += 1
        if held < 0:
            continue  # counted by build()
        if held >= 2**62:
            raise Damaged("a stack holds more bytes than there can be")
        frames = profile.stack(sample)[-_MOST_FRAMES:]
        stack = [[frame.function, frame.file, frame.line] for frame in frames]
        args = {"Value": kind, "Bytes": held, "Blocks": blocks}
        args |= {"Device": sample.labels.get("device", ""), "Kind": sample.labels.get("kind", "")}
        events.instant(MEMORY, 0, 1, 0, {**args, "Stack": stack})
    return unsized
