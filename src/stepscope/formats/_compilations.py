"""compilations.ndjson of a capture folder: calls that traced or compiled something, row by row."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from stepscope.formats._fields import string, whole

NAME = "compilations.ndjson"
CHANGES = (
    "first", "new_function", "graph", "value", "shape", "dtype", "type", "structure", "function", "object",
    "unknown",
)  # fmt: skip
_FITS = 2**63 - 1
_MOST_NS = 1 << 49
"""Six days; ten times as many picoseconds still fit into 63 bits."""


class CompilationRows(NamedTuple):
    """Rows without ids. odd: lines that could not be used; dropped: compilations that were only counted."""

    rows: list[dict[str, Any]]
    odd: int
    dropped: int


def read(lines: Iterable[Mapping[str, Any]], time: Callable[[int | None], int | None]) -> CompilationRows:
    """Reads the lines in order. time: picoseconds from the capture's origin, of Unix nanoseconds."""
    rows: list[dict[str, Any]] = []
    odd = dropped = 0
    for line in lines:
        more = whole(line, "dropped")
        if more is not None and more >= 0:
            dropped = min(dropped + more, _FITS)
            continue
        row = _row(line, time)
        if row is None:
            odd += 1
        else:
            rows.append(row)
    return CompilationRows(rows, odd, dropped)


def _row(line: Mapping[str, Any], time: Callable[[int | None], int | None]) -> dict[str, Any] | None:
    function, what = string(line, "function"), string(line, "what")
    begin, end, number = (whole(line, key) for key in ("begin_unix_ns", "end_unix_ns", "number"))
    if function is None or begin is None or end is None or number is None or not 0 <= end - begin <= _MOST_NS:
        return None
    ts_ps, end_ps = time(begin), time(end)
    if ts_ps is None or end_ps is None:
        return None
    call = line.get("call")
    call = call if isinstance(call, dict) else {}
    changes = _changes(line.get("changes"))
    first: Mapping[str, str | None] = changes[0] if changes else {}
    return {
        "ts_ps": ts_ps,
        "dur_ps": end_ps - ts_ps,
        "framework": string(line, "framework") or "unknown",
        "function": function,
        "file": string(line, "file"),
        "line": _line(line),
        "call_file": string(call, "file"),
        "call_line": _line(call),
        "call_function": string(call, "function"),
        "number": number,
        "change": what if what in CHANGES else "unknown",
        "argument": first.get("argument"),
        "was": first.get("was"),
        "became": first.get("became"),
        "changes_json": json.dumps(changes),
    }


def _changes(listed: Any) -> list[dict[str, str | None]]:
    """The arguments that differed from the call before."""
    changes = [change for change in listed if isinstance(change, dict)] if isinstance(listed, list) else []
    return [{key: string(change, key) for key in ("argument", "what", "was", "became")} for change in changes]


def _line(record: Mapping[str, Any]) -> int | None:
    number = whole(record, "line")
    return number if number is not None and 0 < number < 2**31 else None
