"""JSON with one odd value: every field of a document times every value that a file may hold instead."""

import contextlib
import json
import random
from collections.abc import Iterator
from typing import Any

ODD = [
    b"null", b"true", b"false", b"0", b"-1", b"1", b"1.5", b"-0.0", b"1e400", b"-1e400", b"1e-400", b"NaN",
    b"Infinity", b"-Infinity", b"9223372036854775807", b"9223372036854775808", b"18446744073709551616",
    b"-9223372036854775809", b"9" * 400, b"9" * 5000, b'""', b'"x"', b'"0"', b'"\\u0000"', b'"\\ud800"',
    b'"\\udc80"', b'"\\udfff\\ud800"', b'"\\ud83d\\ude00"', b'"../../victim"', b'"/etc/passwd"', b'"s3://b/k"',
    b'"' + b"x" * 70_000 + b'"', b"[]", b"{}", b"[[]]", b'[{}, null, 7, "x"]', b'{"": null}',
    b'{"a": {"a": 1}}', b"[" * 100_000 + b"]" * 100_000, b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    b'"\xff\xfe"', b'"\xed\xa0\x80"', b"\xef\xbb\xbf1", b"",
    b"1 2", b'"x', b'{"a": 1, "a": 2}', b"'x'", b"1,", b"0x10", b"\x00",
]  # fmt: skip
"""Values as they stand in a file; some are not JSON."""

WHOLE = [
    b"",
    b"\n",
    b"\x00" * 100,
    b"\xef\xbb\xbf{}",
    "{}".encode("utf-16"),
    b"[" * 200_000,
    b"{" * 200_000,
    b"{}",
]
"""Whole files."""

_HERE = "\u0001here\u0001"


def documents(data: bytes, count: int, seed: int = 20_261_122) -> Iterator[tuple[str, bytes]]:
    """`count` documents with odd values in the place of one or two values of `data`, or without these, and
    what was done; whole files first. Chosen at random, the same for the same seed."""
    for at, whole in enumerate(WHOLE):
        yield f"whole file {at}", whole
    value = json.loads(data)
    every = [(place, odd) for place in _places(value) for odd in [*ODD, None]]
    chance = random.Random(seed)
    for place, odd in chance.sample(every, min(count, len(every))):
        yield f"{place}: {'dropped' if odd is None else odd[:40]!r}", _changed(value, place, odd)
    values = [(place, odd) for place, odd in every if odd is not None and _is_json(odd)]
    for _ in range(count - len(every)):
        (first, odd), (place, other) = chance.choice(values), chance.choice(every)
        with contextlib.suppress(
            KeyError, IndexError, TypeError, ValueError
        ):  # the second is not there any more
            again = json.loads(_changed(value, first, odd))
            yield f"{first}: {odd[:40]!r}, {place}: {other!r:.40}", _changed(again, place, other)


def _is_json(odd: bytes) -> bool:
    try:
        json.loads(odd)
    except (ValueError, RecursionError):
        return False
    return len(odd) < 1000


def lines(data: bytes, count: int, seed: int = 20_261_122) -> Iterator[tuple[str, bytes]]:
    """documents() of each line of a file of lines, which has the others around it."""
    every = data.splitlines()
    for at, line in enumerate(every):
        for what, changed in documents(line, count // len(every) + 1, seed + at):
            rest = [*every[:at], changed, *every[at + 1 :]]
            yield f"line {at}, {what}", b"\n".join(rest) + b"\n"


def _places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield above
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from _places(one, (*above, key))


def _changed(value: Any, place: tuple[Any, ...], odd: bytes | None) -> bytes:
    if not place:
        return odd or b""
    copy = json.loads(json.dumps(value))
    parent = copy
    for key in place[:-1]:
        parent = parent[key]
    if odd is None:
        del parent[place[-1]]
        return json.dumps(copy).encode()
    parent[place[-1]] = _HERE
    return json.dumps(copy).encode().replace(json.dumps(_HERE).encode(), odd)
