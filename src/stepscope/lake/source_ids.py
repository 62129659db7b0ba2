"""Numbers of sources and ids of their rows, in the 63 bits of a BIGINT.

Every row id is `first_id(source_id)` plus the row's place in its table, so ids of different sources must
never meet. Sources that are opened together are numbered 0, 1, 2 and have 2^36 ids each. In a lake nobody
knows what else there is or will be, so the number is a hash of the bytes, the run and the host: the same
source has the same ids in every lake, whatever was ingested before it.

A hash of 27 bits with 2^36 ids behind it would clash 43 times among 100,000 sources. So
each source reserves only as many ids as it needs, a power of two (2^16 at least), and the hash has all other
bits. Expected clashes, n * n / 2 / 2^(62 - bits of the ids):

    ids for each source            100,000 sources     1,000,000 sources
    2^16 (65,536)                  0.00007             0.007
    2^20 (1,048,576)               0.001               0.11
    2^24 (16,777,216)              0.02                1.8, with 16,000,000,000,000 ids in the lake

A clash is an error for the source that comes second, never another number: ids must not depend on the order
in which sources came.
"""

import hashlib
from collections.abc import Iterator

ID_BITS = 36
"""Ids of a source that is opened without a lake fit in so many bits."""
LEAST_BITS = 16
"""Every source of a lake reserves at least 2^16 ids: then a clash is found by looking at few names."""
MOST_BITS = 40
"""No table of a source has 2^40 rows."""
_MARK = 1 << 62
"""Set in the number of every source of a lake, and in no other."""


def first_id(source_id: int) -> int:
    """The id of a source's first row in each table."""
    return source_id if source_id & _MARK else source_id << ID_BITS


def bits_for(size: int) -> int:
    """How many bits the ids of a source of `size` bytes get: enough for one row a byte.

    Taken from the size, not from the rows, so that a decoder that finds more rows does not change the ids.
    Only a source that packs several rows in a byte needs more.
    """
    return min(max(size.bit_length(), LEAST_BITS), MOST_BITS)


def wanted(key: tuple[str, ...], bits: int) -> int:
    """The number of the source that `key` identifies, with 2^bits ids from there on."""
    digest = hashlib.blake2b("\0".join(key).encode(), digest_size=8).digest()
    number = int.from_bytes(digest, "big") >> 2 | _MARK
    return number >> bits << bits


def overlapping(source_id: int) -> Iterator[int]:
    """Numbers that a source with more ids would have if these included `source_id`."""
    for bits in range(LEAST_BITS + 1, MOST_BITS + 1):
        above = source_id >> bits << bits
        if above != source_id and above & _MARK:
            yield above


def contained(source_id: int, rows: int) -> Iterator[int]:
    """Numbers that sources could have among the ids of `rows` rows."""
    return iter(range(source_id + (1 << LEAST_BITS), source_id + rows, 1 << LEAST_BITS))
