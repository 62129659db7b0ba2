"""One gzip member, packed by all cores.

Blocks are deflated on their own, each with the 32 KiB before it as dictionary, and end on a byte
boundary (RFC 1951, an empty stored block), so that they can be put one after another; the layout of the
member is RFC 1952. Files of several members would be simpler, but not every viewer reads past the first.
"""

from __future__ import annotations

import os
import zlib
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stepscope.exporters.staging import Sink

_BLOCK_BYTES = 1 << 20
_WINDOW_BYTES = 1 << 15
_LEVEL = 5


class Gzip:
    """Packs what is written to it into `sink`; leaving the context ends the member, not the sink."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._threads = os.cpu_count() or 1
        self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="stepscope-gzip")
        self._waiting: deque[Future[bytes]] = deque()
        self._block = bytearray()
        self._window = b""
        self._checksum = 0
        self._length = 0
        sink.write(b"\x1f\x8b\x08\x00" + bytes(4) + b"\x00\xff")  # no name, no time: same rows, same bytes

    def write(self, data: bytes, /) -> None:
        """Takes all of `data`."""
        self._block += data
        while len(self._block) >= _BLOCK_BYTES:
            self._submit(bytes(self._block[:_BLOCK_BYTES]), last=False)
            del self._block[:_BLOCK_BYTES]

    def __enter__(self) -> Gzip:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is None:
            self._finish()
        self._pool.shutdown(cancel_futures=True)

    def _finish(self) -> None:
        self._submit(bytes(self._block), last=True)
        while self._waiting:
            self._sink.write(self._waiting.popleft().result())
        self._sink.write(self._checksum.to_bytes(4, "little"))
        self._sink.write((self._length & 0xFFFFFFFF).to_bytes(4, "little"))

    def _submit(self, block: bytes, *, last: bool) -> None:
        self._checksum = zlib.crc32(block, self._checksum)
        self._length += len(block)
        self._waiting.append(self._pool.submit(_deflate, block, self._window, last))
        self._window = block[-_WINDOW_BYTES:]
        while len(self._waiting) > 2 * self._threads:
            self._sink.write(self._waiting.popleft().result())


def _deflate(block: bytes, window: bytes, last: bool) -> bytes:
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, -15, zdict=window)
    return packer.compress(block) + packer.flush(zlib.Z_FINISH if last else zlib.Z_SYNC_FLUSH)
