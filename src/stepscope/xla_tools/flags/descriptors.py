"""Descriptors of protocol buffers, read from the bytes of a shared library.

Generated code keeps the description of each .proto file inside the library, as a serialised
FileDescriptorProto. It begins with the name of the file, so it can be found and read without loading the
library.
"""

import mmap
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from stepscope import protobuf
from stepscope.protobuf import fields, varint

_TOP = frozenset((1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 15))
"""Fields of a FileDescriptorProto; what follows the message in the library is none, or out of order."""
_MOST_BYTES = 16 << 20
_MOST_DEPTH = 16

TYPES = {
    1: "double", 2: "float", 3: "int64", 4: "uint64", 5: "int32", 6: "fixed64", 7: "fixed32", 8: "bool",
    9: "string", 11: "message", 12: "bytes", 13: "uint32", 14: "enum", 15: "sfixed32", 16: "sfixed64",
    17: "sint32", 18: "sint64",
}  # fmt: skip


@dataclass(frozen=True)
class MessageField:
    """A field of a message. of: the full name of its enum or message, else empty. optional: whether an
    absent value differs from zero."""

    name: str
    number: int
    type: str
    of: str
    optional: bool
    repeated: bool


@dataclass
class ProtoMessage:
    """A message: its fields, and the names that once were fields."""

    name: str
    fields: list[MessageField] = field(default_factory=list)
    reserved: list[str] = field(default_factory=list)


@dataclass
class ProtoFile:
    """A .proto file: its messages and enums by full name. An enum is its values by number."""

    name: str = ""
    package: str = ""
    messages: dict[str, ProtoMessage] = field(default_factory=dict)
    enums: dict[str, dict[int, str]] = field(default_factory=dict)


def find(library: Path, proto: str) -> ProtoFile | None:
    """The description of a .proto file, such as xla/xla.proto, in a library; None when it has none.

    A library of an older build may keep it in another folder (tensorflow/compiler/xla/xla.proto).
    OSError when the library cannot be read.
    """
    with library.open("rb") as file:
        try:
            held = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError:  # an empty file
            return None
        with held:
            for begin in _begins(held, proto.encode()):
                found = _file(bytes(_cut(held[begin : begin + _MOST_BYTES])))
                if found is not None and found.name.endswith(proto) and found.messages:
                    return found
    return None


def _begins(held: mmap.mmap, name: bytes) -> Iterator[int]:
    """Where messages begin whose first field is a text that ends with `name` and that have a package."""
    at = -1
    while (at := held.find(name + b"\x12", at + 1)) >= 0:
        for before in range(100):
            begin = at - before - 2
            if begin < 0:
                break
            if held[begin] == 0x0A and held[begin + 1] == before + len(name):
                yield begin
                break


def _cut(data: bytes) -> memoryview:
    """The part of the bytes that is one FileDescriptorProto."""
    view = memoryview(data)
    at = last = 0
    while at < len(view):
        tag, after = varint(view, at)
        if tag is None or tag & 7 not in (0, 2) or tag >> 3 not in _TOP or tag >> 3 < last:
            break
        value, end = varint(view, after)
        if value is None:
            break
        if tag & 7 == 2:
            end += value
            if end > len(view):
                break
        last, at = tag >> 3, end
    return view[:at]


def _file(data: bytes) -> ProtoFile | None:
    found = ProtoFile()
    messages, enums = [], []
    for number, _, body, cut in fields(memoryview(data)):
        if cut or number == 0:
            return None
        if number == 1:
            found.name = protobuf.text(body)
        elif number == 2:
            found.package = protobuf.text(body)
        elif number == 4:
            messages.append(body)
        elif number == 5:
            enums.append(body)
    scope = f".{found.package}" if found.package else ""
    for body in enums:
        _enum(found, body, scope)
    for body in messages:
        _message(found, body, scope, 0)
    return found


def _message(found: ProtoFile, data: memoryview, scope: str, depth: int) -> None:
    parts = [(number, body) for number, _, body, cut in fields(data) if number and not cut]
    name = scope + "." + next((protobuf.text(body) for number, body in parts if number == 1), "")
    made = found.messages[name] = ProtoMessage(name)
    for number, body in parts:
        if number == 2:
            made.fields.append(_field(body))
        elif number == 3 and depth < _MOST_DEPTH:
            _message(found, body, name, depth + 1)
        elif number == 4:
            _enum(found, body, name)
        elif number == 10:
            made.reserved.append(protobuf.text(body))


def _field(data: memoryview) -> MessageField:
    name = of = ""
    numbers: dict[int, int] = {}
    for number, wire, body, _ in fields(data):
        if number == 1:
            name = protobuf.text(body)
        elif number == 6:
            of = protobuf.text(body)
        elif wire == 0:
            numbers[number] = protobuf.number(body)
    return MessageField(
        name,
        numbers.get(3, 0),
        TYPES.get(numbers.get(5, 0), "unknown"),
        of,
        bool(numbers.get(17)),
        numbers.get(4) == 3,
    )


def _enum(found: ProtoFile, data: memoryview, scope: str) -> None:
    name, values = "", {}
    for number, _, body, _ in fields(data):
        if number == 1:
            name = protobuf.text(body)
        elif number == 2:
            label, value = "", 0
            for inner, wire, part, _ in fields(body):
                if inner == 1:
                    label = protobuf.text(part)
                elif inner == 2 and wire == 0:
                    value = protobuf.number(part)
            values[value] = label
    found.enums[f"{scope}.{name}"] = values
