"""Gzip written by several threads."""

import gzip
import io
import random
import subprocess
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope.exporters.packing import Gzip


def pack(pieces: list[bytes]) -> bytes:
    out = io.BytesIO()
    with Gzip(out) as packer:
        for piece in pieces:
            packer.write(piece)
    return out.getvalue()


@given(st.lists(st.binary(max_size=100), max_size=20))
def test_small_pieces(pieces: list[bytes]) -> None:
    assert gzip.decompress(pack(pieces)) == b"".join(pieces)


def test_many_blocks_are_one_member_as_gzip_reads_it(tmp_path: Path) -> None:
    chance = random.Random(7)
    words = [chance.randbytes(chance.randrange(1, 60)) for _ in range(500)]
    text = b"".join(chance.choice(words) for _ in range(200_000))
    pieces = [text[i : i + 77_777] for i in range(0, len(text), 77_777)]
    packed = pack(pieces)
    reader = zlib.decompressobj(31)  # stops after the first member
    assert reader.decompress(packed) == text
    assert reader.unused_data == b""
    file = tmp_path / "text.gz"
    file.write_bytes(packed)
    assert subprocess.run(["gzip", "-dc", file], capture_output=True, check=True).stdout == text
    assert len(packed) < 1.02 * len(gzip.compress(text, 5)), "blocks know what stood before them"
    assert pack(pieces) == packed, "the same bytes every time"


def test_a_sink_that_fails_is_told() -> None:
    class Full:
        def write(self, data: bytes, /) -> None:
            if len(data) > 1000:
                raise OSError(28, "No space left on device")

    def pack_noise() -> None:
        with Gzip(Full()) as packer:
            packer.write(random.Random(1).randbytes(1 << 23))

    with pytest.raises(OSError, match="No space"):
        pack_noise()
