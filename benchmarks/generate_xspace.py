"""Writes an XSpace of any size for benchmarks: the same seed gives the same bytes.

    python benchmarks/generate_xspace.py OUT.xplane.pb --events 1000000

Eight threads of a host, four streams of a GPU, a Task Environment. Events nest three deep and carry
3.5 stats each on average: integers of both kinds, references, a double now and then, producers and
consumers on one event in twenty. Plain bytes, no protobuf library: ten million events take seconds.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

HOST_LINES = 8
DEVICE_LINES = 4
START_UNIX_NS = 1_795_000_000_000_000_000
BLOCK_EVENTS = 4096

# Two bytes of a varint that goes on: all values of 14 bits.
_PAIR = [bytes((value & 0x7F | 0x80, value >> 7 | 0x80)) for value in range(1 << 14)]

STATS = (
    "id", "parent_id", "name", "iter_num", "_pt", "_p", "_ct", "_c", "correlation_id", "hlo_op", "hlo_module",
    "program_id", "bytes_allocated", "allocator_name", "fragmentation", "device_ordinal", "step_num", "_r",
)  # fmt: skip
STAT_ID = {name: index + 1 for index, name in enumerate(STATS)}


def varint(value: int) -> bytes:
    """The number as protobuf writes it; negative ones in two's complement."""
    value &= 0xFFFF_FFFF_FFFF_FFFF
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field: int, value: int) -> bytes:
    """A varint field."""
    return varint(field << 3) + varint(value)


def nested(field: int, payload: bytes) -> bytes:
    """A string, bytes or message field."""
    return varint(field << 3 | 2) + varint(len(payload)) + payload


def stat(name: str, field: int, value: int) -> bytes:
    """A stat of an event: field 3 unsigned, 4 signed, 7 reference."""
    return nested(4, number(1, STAT_ID[name]) + number(field, value))


def metadata(field: int, key: int, name: str, display: str = "") -> bytes:
    """An entry of a plane's map of event kinds (4) or stat names (5)."""
    value = number(1, key) + nested(2, name.encode())
    if display:
        value += nested(4, display.encode())
    return nested(field, number(1, key) + nested(2, value))


def _host_stats(rng: random.Random, references: int) -> bytes:
    out = stat("id", 4 if rng.random() < 0.5 else 3, rng.getrandbits(62))
    out += stat("parent_id", 3, rng.getrandbits(64))
    if rng.random() < 0.9:
        out += stat("name", 7, 100 + rng.randrange(references))
    if rng.random() < 0.5:
        out += stat("iter_num", 4, rng.randrange(1000))
    if rng.random() < 0.05:
        side = ("_pt", "_p") if rng.random() < 0.5 else ("_ct", "_c")
        out += stat(side[0], 4, 2) + stat(side[1], 3, rng.getrandbits(40))
    return out


def _device_stats(rng: random.Random, references: int) -> bytes:
    out = stat("correlation_id", 3, rng.randrange(1 << 30))
    out += stat("hlo_op", 7, 100 + rng.randrange(references))
    out += stat("hlo_module", 7, 100)
    if rng.random() < 0.5:
        out += stat("program_id", 4, 14)
    return out


def _events(rng: random.Random, events: int, kinds: int, references: int, device: bool) -> Iterator[bytes]:
    """Events of a line in blocks: an outer one, one or two inside, one inside these."""
    patterns = []
    for _ in range(512):
        stats = (_device_stats if device else _host_stats)(rng, references)
        kind = number(1, 1 + int(kinds * rng.random() ** 3))
        patterns.append((kind + b"\x10", stats))
    offset = rng.randrange(1 << 20)
    done = 0
    while done < events:
        out = []
        for index in range(min(BLOCK_EVENTS, events - done)):
            depth = 0 if device else index & 3
            duration = (4_000_000, 2_500_000, 900_000, 700_000)[depth] + rng.randrange(100_000)
            offset += (800_000, 300_000, 200_000, 1_000_000)[depth] if not device else 4_200_000
            before, after = patterns[(index * 7919 + done) & 511]
            # A varint of six bytes or more, whatever the offset.
            body = b"".join((
                before, _PAIR[offset & 0x3FFF], _PAIR[offset >> 14 & 0x3FFF], _PAIR[offset >> 28 & 0x3FFF],
                varint(offset >> 42), b"\x18", varint(duration), after,
            ))  # fmt: skip
            out.append(b"\x22" + (_LENGTHS[len(body)] if len(body) < 512 else varint(len(body))) + body)
        done += len(out)
        yield b"".join(out)


_LENGTHS = [varint(length) for length in range(512)]


def _line(out: BinaryIO, header: bytes, blocks: Iterator[bytes]) -> tuple[int, int]:
    """Writes a line, its length afterwards in five bytes, and returns where it lies."""
    start = out.tell()
    out.write(b"\x1a" + bytes(5))
    out.write(header)
    for block in blocks:
        out.write(block)
    end = out.tell()
    out.seek(start + 1)
    out.write(_five(end - start - 6))
    out.seek(end)
    return start, end


def _five(length: int) -> bytes:
    """A length in five bytes: protobuf allows leading zeros."""
    return bytes(length >> 7 * place & 0x7F | (0x80 if place < 4 else 0) for place in range(5))


def write(path: Path, events: int, seed: int = 0) -> None:
    """Writes an XSpace with so many events."""
    rng = random.Random(seed)
    share = events // (HOST_LINES + DEVICE_LINES)
    with path.open("wb") as out:
        for device in (False, True):
            kinds, references = (4000, 3000) if device else (400, 2000)
            start = out.tell()
            out.write(b"\x0a" + bytes(5))
            out.write(number(1, int(device)) + nested(2, b"/device:GPU:0" if device else b"/host:CPU"))
            for index in range(DEVICE_LINES if device else HOST_LINES):
                name = (
                    f"Stream #{index + 7}(Compute)" if device else f"tf_Compute/{rng.getrandbits(63) - 2**62}"
                )
                header = (
                    number(1, rng.getrandbits(63) - 2**62)
                    + nested(2, name.encode())
                    + number(3, 5000 + index)
                )
                first = device is False and index == 0
                rest = events - share * (HOST_LINES + DEVICE_LINES) if first else 0
                _line(out, header, _events(rng, share + rest, kinds, references, device))
            for key in range(1, kinds + 1):
                if device:
                    out.write(
                        metadata(
                            4,
                            key,
                            f"%fusion.{key} = f32[64,{key}]{{1,0}} fusion(%p.{key})" + "x" * (key % 97),
                        )
                    )
                else:
                    op = f"Op{key % 37}"
                    out.write(metadata(4, key, f"StatefulPartitionedCall/model/layer_{key}:{op}", op))
            for name, key in STAT_ID.items():
                out.write(metadata(5, key, name))
            for key in range(references):
                out.write(metadata(5, 100 + key, f"fusion.{key}" if device else f"MapDataset:{key}"))
            end = out.tell()
            out.seek(start + 1)
            out.write(_five(end - start - 6))
            out.seek(end)
        environment = nested(2, b"Task Environment") + nested(6, number(1, 1) + number(3, START_UNIX_NS))
        out.write(nested(1, environment + metadata(5, 1, "profile_start_time")))
        out.write(nested(4, b"benchmark"))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    write(args.out, args.events, args.seed)


if __name__ == "__main__":
    main()
