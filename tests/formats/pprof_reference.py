"""pprof's profiles read and written a second time, plainly: every field of a message at once, no bounds."""

import gzip
from collections import Counter
from collections.abc import Iterable
from typing import Any

Message = dict[int, list[Any]]


def message(data: bytes) -> Message:
    """Fields by number; bytes are not looked into."""
    found: Message = {}
    while data:
        tag, data = number(data)
        value: Any
        if tag & 7 == 0:
            value, data = number(data)
        else:
            assert tag & 7 == 2
            length, data = number(data)
            value, data = data[:length], data[length:]
        found.setdefault(tag >> 3, []).append(value)
    return found


def number(data: bytes) -> tuple[int, bytes]:
    end = next(at for at, byte in enumerate(data) if byte < 128) + 1
    return sum((byte & 127) << 7 * at for at, byte in enumerate(data[:end])), data[end:]


def numbers(parts: list[Any]) -> list[int]:
    found = []
    for part in parts:
        rest = part
        while isinstance(rest, bytes) and rest:
            value, rest = number(rest)
            found.append(value)
        found += [part] if isinstance(part, int) else []
    return found


def stacks(data: bytes, value: int) -> Counter[tuple[str, ...]]:
    """The sum of a value by stack, functions from the outermost on."""
    whole = message(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    texts = [text.decode() for text in whole[6]]
    names = {one[1][0]: texts[one[2][0]] for one in map(message, whole.get(5, []))}
    places = {
        one[1][0]: [names[message(line)[1][0]] for line in one.get(4, [])]
        for one in map(message, whole.get(4, []))
    }
    found: Counter[tuple[str, ...]] = Counter()
    for sample in map(message, whole[2]):
        frames = [name for place in numbers(sample.get(1, [])) for name in places[place]]
        found[tuple(reversed(frames))] += numbers(sample[2])[value]
    return found


def varint(value: int) -> bytes:
    value &= 2**64 - 1
    found = b""
    while value > 127:
        found, value = found + bytes([value & 127 | 128]), value >> 7
    return found + bytes([value])


def wire(at: int, value: int | str | bytes | list[int]) -> bytes:
    """A field."""
    if isinstance(value, int):
        return varint(at << 3) + varint(value)
    if isinstance(value, list):
        value = b"".join(map(varint, value))
    body = value.encode() if isinstance(value, str) else value
    return varint(at << 3 | 2) + varint(len(body)) + body


Drawn = tuple[str, list[int], dict[str, str]]
"""A stack as main;step, its values, and its labels."""


def write(types: list[tuple[str, str]], samples: Iterable[Drawn], more: bytes = b"") -> bytes:
    """A profile. Functions are in the file train.py, at the line of their number."""
    texts = [""]

    def text(of: str) -> int:
        if of not in texts:
            texts.append(of)
        return texts.index(of)

    kinds = b"".join(wire(1, wire(1, text(kind)) + wire(2, text(unit))) for kind, unit in types)
    functions: dict[str, int] = {}
    body = b""
    for stack, values, labels in samples:
        places = [functions.setdefault(name, len(functions) + 1) for name in stack.split(";")]
        told = b"".join(wire(3, wire(1, text(key)) + wire(2, text(value))) for key, value in labels.items())
        body += wire(2, wire(1, places[::-1]) + wire(2, values) + told)
    for name, at in functions.items():
        body += wire(4, wire(1, at) + wire(4, wire(1, at) + wire(2, at)))
        body += wire(5, wire(1, at) + wire(2, text(name)) + wire(4, text("train.py")))
    return kinds + body + b"".join(wire(6, one) for one in texts) + more
