"""memory.ndjson of a capture folder: which variables of the program held arrays, look by look."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from stepscope.formats._fields import string, whole

NAME = "memory.ndjson"
HELD = "[held]"
"""Name of the instants that say what a variable held."""
_FITS = 2**62


class HeldRows(NamedTuple):
    """Instants without ids. odd: lines that could not be used; cut: looks that did not come to an end."""

    rows: list[dict[str, Any]]
    odd: int
    cut: int


class _HeldMoment(NamedTuple):
    """A look at all variables: what all of them hold is not the sum of those that are told."""

    ts_ps: int
    steps: int
    arrays_bytes: int
    available_bytes: int | None


def read(lines: Iterable[Mapping[str, Any]], time: Callable[[int | None], int | None]) -> HeldRows:
    """Reads the lines in order. time: picoseconds from the capture's origin, of Unix nanoseconds."""
    rows: list[dict[str, Any]] = []
    looks: dict[int, _HeldMoment] = {}
    odd = cut = 0
    for line in lines:
        number, size = _count(line, "look"), _count(line, "bytes")
        if number is None or size is None:
            odd += 1
        elif "holder" not in line:
            ts_ps, steps = time(whole(line, "unix_ns")), _count(line, "steps")
            if ts_ps is None or steps is None:
                odd += 1
                continue
            looks[number] = _HeldMoment(ts_ps, steps, size, _count(line, "available_bytes"))
            cut += line.get("cut") is True
        elif number not in looks or not string(line, "holder"):
            odd += 1
        else:
            rows.append(_row(line, number, looks[number], looks.get(number - 1)))
    return HeldRows(rows, odd, cut)


def _row(
    line: Mapping[str, Any], number: int, look: _HeldMoment, before: _HeldMoment | None
) -> dict[str, Any]:
    members = {
        "Look": number,
        "Steps": look.steps,
        "Holder": string(line, "holder"),
        "Kind": string(line, "kind") or "unknown",
        "Device": string(line, "device") or "",
        "Bytes": _count(line, "bytes"),
        "Arrays": _count(line, "arrays"),
        "Operations": _count(line, "operations"),
        "File": string(line, "file"),
        "Line": _count(line, "line"),
        "Function": string(line, "function"),
        "Puts": line.get("puts") is True,
        "All bytes": look.arrays_bytes,
        "Available": look.available_bytes,
    }
    if before is not None:
        members |= {
            "Was bytes": _count(line, "was_bytes"),
            "Was arrays": _count(line, "was_arrays"),
            "Was operations": _count(line, "was_operations"),
            "Was steps": before.steps,
        }
    return {
        "track_id": 0,
        "name": HELD,
        "category": "memory",
        "kind": "mark",
        "object_id": None,
        "ts_ps": look.ts_ps,
        "args_json": json.dumps({key: value for key, value in members.items() if value is not None}),
    }


def _count(line: Mapping[str, Any], key: str) -> int | None:
    value = whole(line, key)
    return value if value is not None and 0 <= value < _FITS else None
