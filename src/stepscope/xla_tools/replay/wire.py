"""Protocol buffers taken apart into fields and put together again, unknown ones as they were."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from stepscope.errors import UnreadableSource
from stepscope.formats._protobuf import fields, varint


class Field(NamedTuple):
    """A field. wire: 0 a varint, 1 eight bytes, 2 bytes, 5 four bytes. body: as in the file, without its
    length."""

    number: int
    wire: int
    body: bytes


def read(data: bytes | memoryview) -> list[Field]:
    """The fields of a message. UnreadableSource when it is damaged or cut."""
    found = []
    for number, wire, body, cut in fields(memoryview(data)):
        if number == 0 or cut:
            raise UnreadableSource(
                "The module is damaged",
                seen="a field that is cut or contradicts itself",
                todo="dump it again",
            )
        found.append(Field(number, wire, bytes(body)))
    return found


def write(message: Iterable[Field]) -> bytes:
    """The bytes of a message."""
    parts = []
    for number, wire, body in message:
        parts.append(encoded(number << 3 | wire))
        if wire == 2:
            parts.append(encoded(len(body)))
        parts.append(body)
    return b"".join(parts)


def encoded(value: int) -> bytes:
    """A number as a varint; a negative one takes ten bytes."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*out, value))


def number(field: int, value: int) -> Field:
    """A field with a number."""
    return Field(field, 0, encoded(value))


def text(field: int, value: str | bytes) -> Field:
    """A field with text, bytes or a message."""
    return Field(field, 2, value if isinstance(value, bytes) else value.encode())


def packed(field: int, values: Iterable[int]) -> Field:
    """A field with many numbers."""
    return Field(field, 2, b"".join(map(encoded, values)))


def numbers(message: Iterable[Field], field: int) -> list[int]:
    """The numbers of a field, packed or not, as signed ones of 64 bits."""
    return [value for one in message if one.number == field for value in _numbers(one)]


def _numbers(one: Field) -> Iterator[int]:
    at, data = 0, memoryview(one.body)
    while at < len(data):
        value, at = varint(data, at)
        if value is None:
            return
        yield value - (1 << 64) if value >> 63 else value


def first(message: Iterable[Field], field: int) -> bytes:
    """The bytes of the last field of that number, which counts; empty where there is none."""
    return next((one.body for one in reversed(list(message)) if one.number == field), b"")


def name(message: Iterable[Field], field: int = 1) -> str:
    """Text of a field."""
    return first(message, field).decode("utf-8", "replace")
