"""Where an XPlane keeps the programs that XLA compiled for it: as bytes in the kinds of events of one plane.

`XSpace.planes` (1) have a `name` (2) and `event_metadata` (4, a map). In the plane `/host:metadata` an event
is a program: its `name` (2) ends in the program's number, `jit_step(14)`, and one of its `stats` (5) holds an
HloProto as bytes (6).
"""

import mmap
import re
from collections.abc import Iterator
from pathlib import Path

from stepscope.errors import LimitReached
from stepscope.protobuf import fields
from stepscope.sources.damage import reason
from stepscope.sources.source import Source
from stepscope.sources.spool import Spool

PLANE = b"/host:metadata"
_NUMBER = re.compile(rb"\((\d{1,20})\)$")
_LEAST_BYTES = 8
"""Fewer bytes are not a program."""
_MOST_PACKED_BYTES = 1 << 30
"""A packed XPlane is unpacked into memory for this."""


def bytes_of(source: Source, spool: Spool) -> tuple[memoryview, str | None]:
    """The bytes of a source as far as they can be read, and why they go no further; None at their end."""
    try:
        place = source.spooled or spool.reach(source.bytes, source.path)
        if place.codec != "plain":
            data, why = spool.read_good(place, source.path, _MOST_PACKED_BYTES)
            return memoryview(data), why
        with Path(place.path).open("rb") as file:
            mapped = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        return mapped[place.offset : None if place.length is None else place.offset + place.length], None
    except LimitReached as error:
        return memoryview(b""), error.seen
    except (OSError, KeyError, ValueError) as error:
        return memoryview(b""), reason(error)


def programs(data: memoryview) -> Iterator[tuple[str, memoryview]]:
    """Number and HloProto of each program; the number as text, for it may be any of 64 bits."""
    for number, wire, plane, _ in fields(data):
        if (number, wire) == (1, 2) and _name(plane) == PLANE:
            for inner, kind, entry, _ in fields(plane):
                if (inner, kind) == (4, 2):
                    yield from _program(entry)


def _name(plane: memoryview) -> bytes:
    """The name of a plane; it mostly stands before everything that is long."""
    for number, wire, body, _ in fields(plane):
        if (number, wire) == (2, 2):
            return bytes(body)
    return b""


def _program(entry: memoryview) -> Iterator[tuple[str, memoryview]]:
    """An entry of the map: key (1), XEventMetadata (2)."""
    for number, wire, metadata, _ in fields(entry):
        if (number, wire) != (2, 2):
            continue
        name, proto = b"", None
        for inner, kind, body, _ in fields(metadata):
            if (inner, kind) == (2, 2):
                name = bytes(body)
            elif (inner, kind) == (5, 2):
                for part, how, value, cut in fields(body):
                    if (part, how, cut) == (6, 2, False) and len(value) >= _LEAST_BYTES:
                        proto = value
        found = _NUMBER.search(name)
        if found and proto is not None:
            yield found[1].decode(), proto


def module_of(proto: memoryview) -> str:
    """The name of the module of an HloProto; empty when it has none."""
    for number, wire, module, _ in fields(proto):
        if (number, wire) == (1, 2):
            for inner, kind, body, cut in fields(module):
                if (inner, kind, cut) == (1, 2, False):
                    return bytes(body).decode("utf-8", "replace")
    return ""
