"""Where an XPlane keeps the programs that XLA compiled for it: as bytes in the kinds of events of one plane.

`XSpace.planes` (1) have a `name` (2) and `event_metadata` (4, a map). In the plane `/host:metadata` an event
is a program: its `name` (2) ends in the program's number, `jit_step(14)`, and one of its `stats` (5) holds an
HloProto as bytes (6).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from stepscope.protobuf import fields

PLANE = b"/host:metadata"
_NUMBER = re.compile(rb"\((\d{1,20})\)$")
_LEAST_BYTES = 8
"""Fewer bytes are not a program."""


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
