"""Protocol buffers, read as far as the small messages beside recordings need it; and how well bytes fit one.

Recordings themselves are recognised and read by the core.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias, Union

Shape: TypeAlias = Mapping[int, Union["Shape", str, None]]
"""Fields by number: n number, t text, f 4 bytes, d 8 bytes, b bytes, None anything (which proves
nothing), or a message."""

_LIMIT = 400
"""Fields that are looked at; a file has shown what it is long before."""


def score(head: bytes, shape: Shape) -> int:
    """How well bytes, possibly cut short, fit a message; below 1 they do not."""
    return _score(memoryview(head), shape, [_LIMIT], 0)


def _score(data: memoryview, shape: Shape, left: list[int], depth: int) -> int:
    points = 0
    for number, wire, body, cut in fields(data):
        left[0] -= 1
        if left[0] < 0 or (number == 0 and cut):
            break
        what = shape.get(number, "unknown")
        if what is None:
            continue
        if wire == 2 and isinstance(what, Mapping):
            points += 1 + (_score(body, what, left, depth + 1) if depth < 8 else 0)
        elif wire == 2 and what == "t":
            points += 2 if _is_text(bytes(body), cut) else -10
        else:
            points += 1 if {0: "n", 1: "d", 2: "b", 5: "f"}.get(wire) == what else -10
    return points


def _is_text(body: bytes, cut: bool) -> bool:
    if any(byte < 0x20 for byte in body[:200]):
        return False
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as error:
        return cut and error.start > len(body) - 4
    return True


def fields(data: memoryview) -> Iterator[tuple[int, int, memoryview, bool]]:
    """Number, wire type, bytes and whether these are cut, of each field. A contradiction is field 0,
    and so is a field whose number is cut."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag is None:
            yield 0, 0, data[:0], at >= len(data)  # else it is too long
            return
        number, wire = tag >> 3, tag & 7
        end, cut = at, False
        if wire == 0:
            value, end = varint(data, at)
            if value is None:
                yield number, wire, data[:0], True
                return
        elif wire == 2:
            length, at = varint(data, at)
            if length is None:
                yield number, wire, data[:0], True
                return
            end, cut = min(at + length, len(data)), at + length > len(data)
        elif wire in (1, 5):
            end = at + (8 if wire == 1 else 4)
            cut = end > len(data)
        else:
            yield 0, wire, data[:0], False
            return
        yield number, wire, data[at:end], cut
        at = end


def varint(data: memoryview, at: int) -> tuple[int | None, int]:
    """The number at `at`, unsigned, and where it ends; None when it is cut or too long."""
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            return None, at
        value |= (data[at] & 0x7F) << shift
        at += 1
        if data[at - 1] < 0x80:
            return value, at
    return None, at
