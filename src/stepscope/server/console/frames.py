"""Frames of the two pipes between the server and the process of its console.

A message is the length of a JSON header and of a body, both as u32, then both. The server trusts no header:
SQL may have found a hole.
"""

import json
import struct
from typing import Any, BinaryIO

SIZES = struct.Struct("<II")
MOST_HEADER = 1 << 20


def pack(header: dict[str, Any], body: bytes = b"") -> bytes:
    """A message."""
    text = json.dumps(header).encode("ascii")
    return SIZES.pack(len(text), len(body)) + text + body


def write(out: BinaryIO, header: dict[str, Any], body: bytes = b"") -> None:
    """Writes a message."""
    out.write(pack(header, body))
    out.flush()


def read(source: BinaryIO) -> tuple[dict[str, Any], bytes] | None:
    """The next message; None at the end."""
    sizes = source.read(SIZES.size)
    if len(sizes) < SIZES.size:
        return None
    header, body = SIZES.unpack(sizes)
    return json.loads(source.read(header)), source.read(body)
