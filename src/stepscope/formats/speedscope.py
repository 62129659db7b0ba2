"""speedscope's own file format, which py-spy and others write: spans or samples over shared frames.

Format: <https://www.speedscope.app/file-format-schema.json>.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from stepscope._core import Store
from stepscope.formats import Damaged, NothingTimed, Pieces
from stepscope.formats._profile_events import MOST_BYTES, Events, listed, member, number, parse, spans
from stepscope.sources.source import Traits

NAME = "speedscope"
TRAITS = Traits(kind="profile", endings=(".speedscope.json", ".speedscope", ".json"))
_UNITS = {"nanoseconds": 10**3, "microseconds": 10**6, "milliseconds": 10**9, "seconds": 10**12}
_SCHEMA = re.compile(rb'"\$schema"\s*:\s*"[^"]*speedscope')
_FRAMES = re.compile(rb'"shared"\s*:\s*\{\s*"frames"\s*:\s*\[')


def sniff(head: bytes, name: str) -> bool:
    """An object that names speedscope's schema, or holds frames that profiles share."""
    if head.lstrip()[:1] != b"{" or b'"traceEvents"' in head:
        return False
    return _SCHEMA.search(head) is not None or (_FRAMES.search(head) is not None and b'"profiles"' in head)


def build(pieces: Pieces) -> Store:
    """Each profile as a row; its spans, or what its samples share, as slices."""
    data = pieces.read(MOST_BYTES)
    whole = parse(data)
    names = [_name(frame) for frame in listed(member(member(whole, "shared"), "frames"))]
    profiles = listed(member(whole, "profiles"))
    if not profiles:
        raise Damaged("it has no profiles")
    # Clocks of machines that have run for months count more picoseconds than fit into 64 bits.
    events = Events(origin_ps=min(_starts(profiles), default=0))
    for row, profile in enumerate(profiles):
        scale = _UNITS.get(str(member(profile, "unit")))
        title = str(member(profile, "name") or f"profile {row + 1}")
        if scale is None:
            unit = member(profile, "unit")
            events.note("not-time", "missing", 1, f"{title} counts {unit}, no time, and is left out")
            continue
        events.thread(1, row, str(member(whole, "name") or "profile"), title)
        if member(profile, "type") == "evented":
            for name, start, end in spans(_evented(profile, names, scale, events), events):
                events.slice(name, start, end, 1, row)
        else:
            events.stacks(_sampled(profile, names, scale, events), 1, row)
    if not events.any:
        todo = "record with a profiler that tells times, as `py-spy record --format speedscope` does"
        raise NothingTimed("none of its profiles has spans of time", todo)
    return events.store(pieces, data, "unknown")


def _starts(profiles: Sequence[Any]) -> Iterator[int]:
    """When each profile begins that counts time."""
    for profile in profiles:
        start, scale = number(member(profile, "startValue")), _UNITS.get(str(member(profile, "unit")))
        if start is not None and scale is not None:
            yield int(start * scale)


def _name(frame: Any) -> str:
    """A frame as `function (file:line)`."""
    file, line = member(frame, "file"), member(frame, "line")
    place = f" ({file}:{line})" if file and line else f" ({file})" if file else ""
    return f"{member(frame, 'name')}{place}"


def _evented(
    profile: Any, names: Sequence[str], scale: int, events: Events
) -> Iterator[tuple[str, int, bool]]:
    for event in listed(member(profile, "events")):
        at, frame, kind = number(member(event, "at")), member(event, "frame"), member(event, "type")
        if at is not None and _is_place(frame, names) and kind in ("O", "C"):
            yield names[frame], int(at * scale), kind == "O"
        else:
            events.miss()


def _sampled(
    profile: Any, names: Sequence[str], scale: int, events: Events
) -> Iterator[tuple[list[str], int, int]]:
    at = number(member(profile, "startValue")) or number(0)
    samples, weights = listed(member(profile, "samples")), listed(member(profile, "weights"))
    events.miss(abs(len(samples) - len(weights)))
    for stack, weight_text in zip(samples, weights, strict=False):
        weight = number(weight_text)
        if weight is None or weight < 0 or at is None:
            events.miss()
            continue
        if isinstance(stack, list) and all(_is_place(frame, names) for frame in stack):
            yield [names[frame] for frame in stack], int(at * scale), int((at + weight) * scale)
        else:
            events.miss()
        at += weight


def _is_place(frame: Any, names: Sequence[str]) -> bool:
    return isinstance(frame, int) and not isinstance(frame, bool) and 0 <= frame < len(names)
