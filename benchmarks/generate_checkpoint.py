"""Writes a TensorFlow checkpoint (V2) of any size for benchmarks, without TensorFlow.

    python benchmarks/generate_checkpoint.py PREFIX --megabytes 2000

An index and one data file. Kernels of 4 MB with a bias and two slots of an optimizer each. All tensors of a
size hold the same bytes, so that their checksums are counted once.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

from generate_xspace import nested, number, varint

KERNEL, BIAS = (1024, 1024), (1024,)
BLOCK_BYTES = 4096
MAGIC = 0xDB4775248B80FB57
SLOTS = ("", "/Adam", "/Adam_1")


def _crc_table() -> list[int]:
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


_CRC = _crc_table()


def masked_crc32c(data: bytes) -> int:
    """The Castagnoli checksum as TensorFlow keeps it."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _CRC[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def _fixed(value: int, size: int = 4) -> bytes:
    return value.to_bytes(size, "little")


def table(entries: list[tuple[bytes, bytes]]) -> bytes:
    """A table of sorted keys: blocks, an index of them, a footer."""
    out = bytearray()

    def block(pairs: list[tuple[bytes, bytes]]) -> bytes:
        content = b"".join(
            varint(0) + varint(len(key)) + varint(len(value)) + key + value for key, value in pairs
        )
        content += _fixed(0) + _fixed(1)
        place = varint(len(out)) + varint(len(content))
        out.extend(content + b"\0" + _fixed(masked_crc32c(content + b"\0")))
        return place

    places, pending, size = [], [], 0
    for key, value in entries:
        pending.append((key, value))
        size += len(key) + len(value)
        if size >= BLOCK_BYTES:
            places.append((key, block(pending)))
            pending, size = [], 0
    if pending:
        places.append((pending[-1][0], block(pending)))
    about = block([])
    footer = about + block(places)
    out += footer.ljust(40, b"\0") + _fixed(MAGIC, 8)
    return bytes(out)


def entry(shape: tuple[int, ...], offset: int, size: int, crc: int) -> bytes:
    """Where a tensor of floats is."""
    dims = b"".join(nested(2, number(1, dim)) for dim in shape)
    return (
        number(1, 1)
        + nested(2, dims)
        + number(4, offset)
        + number(5, size)
        + varint(6 << 3 | 5)
        + _fixed(crc)
    )


def write(prefix: Path, megabytes: int, seed: int = 0) -> None:
    """Writes PREFIX.index and PREFIX.data-00000-of-00001."""
    dice = random.Random(seed)
    content = {shape: dice.randbytes(4 * shape[0] * (shape[1:] or (1,))[0]) for shape in (KERNEL, BIAS)}
    crc = {shape: masked_crc32c(data) for shape, data in content.items()}
    layer = sum(len(data) for data in content.values()) * len(SLOTS)
    names = [
        (f"layer_{index:03}/{name}{slot}", shape)
        for index in range(max(1, megabytes * 1_000_000 // layer))
        for name, shape in (("bias", BIAS), ("kernel", KERNEL))
        for slot in SLOTS
    ]
    header = number(1, 1) + nested(3, number(1, 1))
    entries, offset = [(b"", header)], 0
    prefix.parent.mkdir(parents=True, exist_ok=True)
    with prefix.with_name(f"{prefix.name}.data-00000-of-00001").open("wb") as data:
        for name, shape in sorted(names):
            entries.append((name.encode(), entry(shape, offset, len(content[shape]), crc[shape])))
            offset += data.write(content[shape])
    prefix.with_name(f"{prefix.name}.index").write_bytes(table(entries))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("prefix", type=Path)
    parser.add_argument("--megabytes", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    write(args.prefix, args.megabytes, args.seed)


if __name__ == "__main__":
    main()
