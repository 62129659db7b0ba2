"""XPlane: what the profilers of TensorFlow, JAX and XLA write; `.xplane.pb`, an XSpace message.

An XSpace has neither magic nor version. It is recognised by the beginning of its first plane: an id,
a name that people can read, then lines, metadata and stats with the insides that those have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stepscope._core import Store

NAME = "xplane"
DECODER = "xplane"

_VARINT, _LENGTH = 0, 2
_NAME_LIMIT_BYTES = 4096
_KNOWN_PLANES = (b"/host:", b"/device:", b"Task Environment")
_FIRST_TAG_OF_A_LINE = frozenset((0x08, 0x12, 0x18, 0x22, 0x48, 0x50, 0x5A))
_FIRST_TAG_OF_AN_ENTRY = frozenset((0x08, 0x12))


def sniff(head: bytes, name: str) -> bool:
    """True for the beginning of an XSpace."""
    at = 0
    while at < len(head):
        tag, start = _varint(head, at)
        length, body = _varint(head, start)
        if tag is None or length is None or tag & 7 != _LENGTH or not 1 <= tag >> 3 <= 4:
            return False
        if tag >> 3 == 1 and length > 0:
            return _is_plane(head[body : body + length])
        if not _is_text(head[body : body + length], "\t\r\n"):
            return False
        at = body + length
    # A recording without any plane, only complaints and a host: nothing else tells it from other messages.
    return len(head) > 0 and name.endswith(".xplane.pb")


def finish(store: Store, path: str) -> None:
    """Nothing is left to do: the core knows all that an XSpace tells."""


def _is_plane(plane: bytes) -> bool:
    """True when the bytes begin an XPlane; they may be cut anywhere."""
    at, named, inside = 0, False, False
    while at < len(plane):
        tag, start = _varint(plane, at)
        value, body = _varint(plane, start)
        if tag is None or value is None:
            break
        number, wire = tag >> 3, tag & 7
        if (number, wire) == (1, _VARINT):
            at = body
            continue
        if wire != _LENGTH or not 2 <= number <= 6:
            return False
        first = plane[body] if value and body < len(plane) else None
        if number == 2:
            if value > _NAME_LIMIT_BYTES or not _is_text(plane[body : body + value]):
                return False
            if plane.startswith(_KNOWN_PLANES, body):
                # Nothing else is called so: what follows may be damaged.
                return True
            named = value > 0
        elif first is not None:
            allowed = _FIRST_TAG_OF_A_LINE if number == 3 else _FIRST_TAG_OF_AN_ENTRY
            if first not in allowed:
                return False
            inside = True
        at = body + value
    return named or inside


def _is_text(data: bytes, also: str = "") -> bool:
    """True for printable text; its last character may be cut."""
    text = data.decode("utf-8", "replace").rstrip("\N{REPLACEMENT CHARACTER}")
    return all(char.isprintable() or char in also for char in text)


def _varint(data: bytes, at: int) -> tuple[int | None, int]:
    """The number at `at` and where it ends; None when it is cut or too long."""
    value = 0
    for index in range(10):
        if at + index >= len(data):
            return None, at
        byte = data[at + index]
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, at + index + 1
    return None, at
