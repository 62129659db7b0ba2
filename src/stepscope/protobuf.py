"""Protocol buffers field by field: the small messages beside recordings, which the core does not read."""

from collections.abc import Iterator

_WORD = 1 << 64


class DamagedMessage(ValueError):
    """The bytes are not such a message, or were cut."""


def fields(data: memoryview) -> Iterator[tuple[int, int, memoryview, bool]]:
    """Number, wire type, bytes and whether these are cut, of each field. A contradiction is field 0,
    and so is a field whose number is cut."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag is None:
            yield 0, 0, data[:0], at >= len(data)  # else it is too long
            return
        number, wire = tag >> 3, tag & 7
        end, cut = at, False
        if wire == 0:
            value, end = varint(data, at)
            if value is None:
                yield number, wire, data[:0], True
                return
        elif wire == 2:
            length, at = varint(data, at)
            if length is None:
                yield number, wire, data[:0], True
                return
            end, cut = min(at + length, len(data)), at + length > len(data)
        elif wire in (1, 5):
            end = at + (8 if wire == 1 else 4)
            cut = end > len(data)
        else:
            yield 0, wire, data[:0], False
            return
        yield number, wire, data[at:end], cut
        at = end


def varint(data: memoryview, at: int) -> tuple[int | None, int]:
    """The number at `at`, unsigned, and where it ends; None when it is cut or too long."""
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            return None, at
        value |= (data[at] & 0x7F) << shift
        at += 1
        if data[at - 1] < 0x80:
            return value, at
    return None, at


def whole(data: bytes | memoryview) -> Iterator[tuple[int, int, memoryview]]:
    """Number, wire type and bytes of each field. Damaged at a contradiction or a cut."""
    for number, wire, body, cut in fields(memoryview(data)):
        if number == 0 or cut:
            raise DamagedMessage(f"cut or no such message, of {len(data):,} bytes")
        yield number, wire, body


def number(body: memoryview) -> int:
    """The unsigned number of 64 bits in a varint's bytes; 0 where it is cut."""
    return (varint(body, 0)[0] or 0) % _WORD


def signed(body: memoryview) -> int:
    """The signed number of 64 bits in a varint's bytes; 0 where it is cut."""
    return sign(number(body))


def sign(value: int) -> int:
    """A number of 64 bits as a signed one."""
    return value - _WORD if value >> 63 else value


def numbers(body: memoryview) -> Iterator[int]:
    """The unsigned numbers in the bytes of a field, one or many packed together, up to a cut."""
    at = 0
    while at < len(body):
        value, at = varint(body, at)
        if value is None:
            return
        yield value % _WORD


def text(body: memoryview) -> str:
    """The text in the bytes of a field."""
    return bytes(body).decode("utf-8", "replace")


def encoded(value: int) -> bytes:
    """A number as a varint; a negative one takes ten bytes."""
    value %= _WORD
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*out, value))


def record(number: int, value: int | bytes) -> bytes:
    """A field: of a whole number, or of bytes, text or a message."""
    if isinstance(value, int):
        return encoded(number << 3) + encoded(value)
    return encoded(number << 3 | 2) + encoded(len(value)) + value
