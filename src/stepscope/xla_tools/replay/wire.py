"""Protocol buffers taken apart into fields and put together again, unknown ones as they were."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from stepscope import protobuf
from stepscope.errors import UnreadableSource
from stepscope.protobuf import encoded


class Field(NamedTuple):
    """A field. wire: 0 a varint, 1 eight bytes, 2 bytes, 5 four bytes. body: as in the file, without its
    length."""

    number: int
    wire: int
    body: bytes


def read(data: bytes | memoryview) -> list[Field]:
    """The fields of a message. UnreadableSource when it is damaged or cut."""
    try:
        return [Field(number, wire, bytes(body)) for number, wire, body in protobuf.whole(data)]
    except protobuf.Damaged as damage:
        raise UnreadableSource("The module is damaged", seen=str(damage), todo="dump it again") from damage


def write(message: Iterable[Field]) -> bytes:
    """The bytes of a message."""
    parts = []
    for number, wire, body in message:
        parts.append(encoded(number << 3 | wire))
        if wire == 2:
            parts.append(encoded(len(body)))
        parts.append(body)
    return b"".join(parts)


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
    return [
        protobuf.sign(value)
        for one in message
        if one.number == field
        for value in protobuf.numbers(memoryview(one.body))
    ]


def first(message: Iterable[Field], field: int) -> bytes:
    """The bytes of the last field of that number, which counts; empty where there is none."""
    return next((one.body for one in reversed(list(message)) if one.number == field), b"")


def name(message: Iterable[Field], field: int = 1) -> str:
    """Text of a field."""
    return first(message, field).decode("utf-8", "replace")
