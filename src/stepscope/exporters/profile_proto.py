"""A Profile of the pprof project as bytes: what `go tool pprof`, speedscope and others open.

Format: profile.proto of the pprof project. A location is a function: there are no addresses.

All that stepscope itself writes goes through here. crates/tfprof writes tfprof's own `-output pprof`, because
that has to have the bytes of TensorFlow's file: tables in its order, one sample per recorded call. A test
holds the totals of both to each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

Sample = tuple[int, Sequence[int], Sequence[tuple[str, str]]]
"""Number of a stack, a value of each kind, and labels: key and text."""


def profile(
    kinds: Sequence[tuple[str, str]],
    names: Mapping[str, int] | Mapping[tuple[str, str, int], int],
    stacks: Iterable[tuple[int, int]],
    samples: Iterable[Sample],
    *,
    default: str,
    start_unix_ns: int = 0,
    span_ns: int = 0,
) -> Iterator[bytes]:
    """The fields of a Profile, piece by piece.

    kinds: what the values of a sample are, with their units; `default` is the one shown first. names: those
    of the frames, or their functions, files and lines, to their numbers from 0. stacks: number of the stack
    below it (-1 for none) and of the name of its frame, in the order of their own numbers.
    """
    texts: dict[str, int] = {"": 0}

    def text(value: str) -> int:
        return texts.setdefault(value, len(texts))

    for kind, unit in kinds:
        yield _message(1, _number(1, text(kind)) + _number(2, text(unit)))
    parents, frames = [], []
    for parent, frame in stacks:
        parents.append(parent)
        frames.append(frame)
    for at, values, labels in samples:
        locations = []
        while at >= 0:
            locations.append(frames[at] + 1)
            at = parents[at]
        body = _message(1, b"".join(map(_varint, locations))) + _message(2, b"".join(map(_varint, values)))
        for key, value in labels:
            if value:
                body += _message(3, _number(1, text(key)) + _number(2, text(value)))
        yield _message(2, body)
    functions: dict[tuple[str, str], int] = {}
    for named, number in names.items():
        name, file, line = (named, "", 0) if isinstance(named, str) else named
        is_new = (name, file) not in functions
        function = functions.setdefault((name, file), len(functions) + 1)
        told = _number(1, function) + (_number(2, line) if line else b"")
        yield _message(4, _number(1, number + 1) + _message(4, told))
        if is_new:
            told = _number(1, function) + _number(2, text(name)) + _number(3, text(name))
            yield _message(5, told + (_number(4, text(file)) if file else b""))
    first = text(default)
    for value in texts:
        yield _message(6, value.encode("utf-8", "replace"))
    if start_unix_ns > 0:
        yield _number(9, start_unix_ns)
    yield _number(10, span_ns) + _number(14, first)


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1  # numbers below zero are ten bytes long
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _message(field: int, body: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(body)) + body
