"""TensorBoard event files: run metadata of TF1 and TF2 steps, and graphs, among scalars and the like."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from stepscope.formats import _protobuf

if TYPE_CHECKING:
    from stepscope._core import Store

NAME = "event_file"
DECODER = "event_file"


def sniff(head: bytes, name: str) -> bool:
    """A record whose length carries the right checksum, and in it the beginning of an event."""
    if len(head) < 13:
        return False
    length, checksum = struct.unpack_from("<QI", head)
    whole = _masked_crc32c(head[:8]) == checksum
    # Every writer begins with the version of the format; it tells an event file with a damaged length.
    return (whole and _protobuf.is_event(head[12 : 12 + length])) or b"\x1a\x0dbrain.Event:" in head[12:48]


def finish(store: Store, path: str) -> None:
    """Nothing is left to do: the core tells all that the file tells."""


def _masked_crc32c(data: bytes) -> int:
    """CRC-32C as it stands in TFRecord files."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 & -(crc & 1))
    crc ^= 0xFFFFFFFF
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF
