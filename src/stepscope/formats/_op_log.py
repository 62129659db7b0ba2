"""Lines of the program that made ops: the code traces of an op log or a profile (OpLogProto and ProfileProto
of tensorflow.tfprof).

`OpLogProto.log_entries` (1) hold `name` (1) and `code_def` (4), whose `traces` (1) go from the outermost call
inwards; their texts are numbers of the map `id_to_string` (2), in old files the texts themselves.
`ProfileProto.nodes` (1) is a map by number (1) of nodes (2) with `name` (1) and `trace` (10); its texts are
in field 4.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from stepscope import _core, protobuf
from stepscope.code_lines import CodeLine, innermost, is_framework

NAMES = re.compile(r"(tfprof_log|op_?log)([._-].*)?")
"""Names of op logs: what write_op_log and the recorder call them."""
MOST_BYTES = 64 << 20
"""An op log that is larger is not read: it is gone through in Python."""


@dataclass(frozen=True)
class OpOrigin:
    """Where an op was made: the innermost line of the program, and the program's call of its function."""

    line: CodeLine
    caller: CodeLine | None


def read(data: bytes) -> dict[str, OpOrigin]:
    """Where each op that has a trace was made. Reading ends at the first damage."""
    texts, traces = _entries(data)
    known: dict[bytes, CodeLine] = {}
    found = {}
    for name, frames in traces:
        if not name or not frames:
            continue
        lines = [known.get(frame) or known.setdefault(frame, _line(frame, texts)) for frame in frames]
        line = innermost(lines)
        if line is not None and line.file:
            program_frames = [frame for frame in lines if not is_framework(frame.file)]
            found[name] = OpOrigin(line, program_frames[-2] if len(program_frames) > 1 else None)
    return found


def damage(data: bytes) -> tuple[int | None, str] | None:
    """Where an op log is damaged, and how; None where it is whole, and for a profile, which is decoded as a
    recording."""
    if _core.sniff("tfprof_profile", data[:65536], ""):
        return None
    try:
        entries = _core.Tfprof().add_op_log(_core.Input.bytes(data))
    except _core.CoreError as error:
        return error.offset, f"it is damaged, or no op log: {error.seen}"
    return None if entries else (None, "no op in it")


def _entries(data: bytes) -> tuple[dict[int, str], list[tuple[str, list[bytes]]]]:
    """Texts by their number, and the frames of each op."""
    texts: dict[int, str] = {}
    traces: list[tuple[str, list[bytes]]] = []
    for number, value in _fields(data):
        if not isinstance(value, bytes):
            continue
        if number == 1:
            traces.append(_trace(value))
        elif number in (2, 4):
            entry = dict(_fields(value))
            key, text = entry.get(1, 0), entry.get(2, b"")
            if isinstance(key, int) and isinstance(text, bytes):
                texts[key] = text.decode("utf-8", "replace")
    return texts, traces


def _trace(entry: bytes) -> tuple[str, list[bytes]]:
    """Name (1) and frames of an op: `traces` (1) of its `code_def` (4), of a profile's node `trace` (10)."""
    name, frames, code = "", [], 4
    fields = list(_fields(entry))
    if fields and isinstance(fields[0][1], int):  # the number of a profile's node
        nodes = [value for number, value in fields if number == 2 and isinstance(value, bytes)]
        fields, code = [field for node in nodes for field in _fields(node)], 10
    for number, value in fields:
        if number == 1 and isinstance(value, bytes):
            name = value.decode("utf-8", "replace")
        elif number == code and isinstance(value, bytes):
            frames += [frame for at, frame in _fields(value) if at == 1 and isinstance(frame, bytes)]
    return name, frames


def _line(frame: bytes, texts: dict[int, str]) -> CodeLine:
    """`file` (1) or `file_id` (6), `lineno` (2), `function` (3) or `function_id` (7)."""
    fields = dict(_fields(frame))

    def text_of(plain: int, by_number: int) -> str:
        text, number = fields.get(plain, b""), fields.get(by_number, 0)
        if isinstance(text, bytes) and text:
            return text.decode("utf-8", "replace")
        return texts.get(number, "") if isinstance(number, int) else ""

    line = fields.get(2, 0)
    at = line & 0x7FFFFFFF if isinstance(line, int) else 0
    return CodeLine(text_of(1, 6), at, text_of(3, 7) or None)


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Fields of a message: numbers and bytes. Ends where the bytes make no sense."""
    for number, wire, body, cut in protobuf.fields(memoryview(data)):
        if cut:
            return
        if wire == 0:
            yield number, protobuf.number(body)
        elif wire == 2:
            yield number, bytes(body)
