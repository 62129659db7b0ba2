"""A measure of how well bytes fit a message of protocol buffers, from their first fields.

Recordings themselves are recognised and read by the core.
"""

from collections.abc import Mapping
from typing import TypeAlias, Union

from stepscope.protobuf import fields

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
