"""The table hlo_instruction: what the programs in XPlanes tell of their instructions.

A slice of XLA names an instruction (`fusion.30`) and its program. The program tells which op of the framework
that was (`jit(f)/layer/dot_general`) and which calls of Python made it.
"""

from __future__ import annotations

import json
import mmap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stepscope.errors import LimitReached
from stepscope.lake.numbers import first_id
from stepscope.lake.rows import printable
from stepscope.sources.source import Source
from stepscope.sources.spool import Spool

_MOST_PACKED_BYTES = 1 << 30
"""A packed XPlane is unpacked into memory for this."""
_MOST_CALLS = 200
"""Calls of one stack; recursion of programs knows no end."""

Frame = tuple[str, int, str, int]
"""File, line, function, and the number of the call around it from 1, or 0."""


def rows(sources: Sequence[Source], spool: Spool) -> list[dict[str, Any]]:
    """The rows of the table, of all XPlanes. A program that is damaged has none, so that its instructions
    stay in the scope of their module; `tfprof` says how many do."""
    from stepscope import _core
    from stepscope.formats import _hlo, xplane

    found: list[dict[str, Any]] = []
    for number, source in enumerate(sources):
        if source.format != xplane.NAME:
            continue
        first = len(found)
        for program, proto in _hlo.programs(bytes_of(source, spool)):
            try:
                module, instructions, frames = _core.hlo_instructions(bytes(proto))
            except _core.CoreError:
                continue
            stacks = _Stacks(frames)
            place = {"run_id": source.run_id, "host_id": source.host_id, "source_id": number}
            for name, opcode, op_name, frame in instructions:
                file, line, function = stacks.innermost(frame)
                found.append(
                    {
                        "id": first_id(number) + len(found) - first,
                        **place,
                        "program_id": program,
                        "module": printable(module),
                        "name": printable(name),
                        "opcode": printable(opcode),
                        "op_name": printable(op_name) or None,
                        "file": printable(file) or None,
                        "line": line or None,
                        "function": printable(function) or None,
                        "stack_json": stacks.text(frame),
                    }
                )
    return found


def bytes_of(source: Source, spool: Spool) -> memoryview:
    """The bytes of a source; none when they are gone or too many, which leaves its programs untold."""
    try:
        place = source.spooled or spool.reach(source.bytes, source.path)
        if place.codec != "plain":
            return memoryview(spool.read(place, source.path, _MOST_PACKED_BYTES))
        with Path(place.path).open("rb") as file:
            mapped = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        return mapped[place.offset : None if place.length is None else place.offset + place.length]
    except (OSError, KeyError, ValueError, LimitReached):
        return memoryview(b"")


class _Stacks:
    """The calls of a program, each stack written once."""

    def __init__(self, frames: Sequence[Frame]) -> None:
        self._frames = frames
        self._texts: dict[int, str | None] = {}

    def innermost(self, number: int) -> tuple[str, int, str]:
        """File, line and function of the innermost call."""
        return self._frames[number - 1][:3] if 0 < number <= len(self._frames) else ("", 0, "")

    def text(self, number: int) -> str | None:
        """The stack as a JSON array of [file, line, function], outermost first; None without a call."""
        if number not in self._texts:
            stack: list[tuple[str, int, str]] = []
            at = number
            while 0 < at <= len(self._frames) and len(stack) < _MOST_CALLS:
                file, line, function, parent = self._frames[at - 1]
                stack.append((printable(file), line, printable(function)))
                at = parent
            self._texts[number] = json.dumps(stack[::-1], ensure_ascii=False) if stack else None
        return self._texts[number]
