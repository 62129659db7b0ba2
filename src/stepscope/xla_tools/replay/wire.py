"""Protocol buffers taken apart into fields and put together again, unknown ones as they were."""

from collections.abc import Iterable
from typing import NamedTuple

from stepscope import protobuf
from stepscope.errors import UnreadableSource
from stepscope.protobuf import encoded


class WireField(NamedTuple):
    """A field. wire: 0 a varint, 1 eight bytes, 2 bytes, 5 four bytes. body: as in the file, without its
    length."""

    number: int
    wire: int
    body: bytes


def read(data: bytes | memoryview) -> list[WireField]:
    """The fields of a message. UnreadableSource when it is damaged or cut."""
    try:
        return [WireField(number, wire, bytes(body)) for number, wire, body in protobuf.whole(data)]
    except protobuf.DamagedMessage as damage:
        raise UnreadableSource("The module is damaged", seen=str(damage), todo="dump it again") from damage


def write(message: Iterable[WireField]) -> bytes:
    """The bytes of a message."""
    parts = []
    for number, wire, body in message:
        parts.append(encoded(number << 3 | wire))
        if wire == 2:
            parts.append(encoded(len(body)))
        parts.append(body)
    return b"".join(parts)


def number(field: int, value: int) -> WireField:
    """A field with a number."""
    return WireField(field, 0, encoded(value))


def text(field: int, value: str | bytes) -> WireField:
    """A field with text, bytes or a message."""
    return WireField(field, 2, value if isinstance(value, bytes) else value.encode())


def packed(field: int, values: Iterable[int]) -> WireField:
    """A field with many numbers."""
    return WireField(field, 2, b"".join(map(encoded, values)))


def numbers(message: Iterable[WireField], field: int) -> list[int]:
    """The numbers of a field, packed or not, as signed ones of 64 bits."""
    return [
        protobuf.sign(value)
        for wire_field in message
        if wire_field.number == field
        for value in protobuf.numbers(memoryview(wire_field.body))
    ]


def first(message: Iterable[WireField], field: int) -> bytes:
    """The bytes of the last field of that number, which counts; empty where there is none."""
    return next(
        (wire_field.body for wire_field in reversed(list(message)) if wire_field.number == field), b""
    )


def name(message: Iterable[WireField], field: int = 1) -> str:
    """Text of a field."""
    return first(message, field).decode("utf-8", "replace")
