"""Reads what exporters wrote with other people's code: Python's json and exact decimals."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

from stepscope import exporters
from tests.draw import Tables
from tests.fakes import drawn_trace

Event = dict[str, Any]


def chrome(tables: Tables, folder: Path) -> tuple[dict[str, Any], list[Event]]:
    """The fields beside the events, and the events, of tables exported as a Chrome trace."""
    trace = drawn_trace(tables)
    try:
        exporters.write(trace, folder / "out.json", force=True)
    finally:
        trace.close()
    return load(folder / "out.json")


def load(path: Path) -> tuple[dict[str, Any], list[Event]]:
    """A Chrome trace as one object; numbers with a point as decimals."""
    document = json.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)
    return document, document.pop("traceEvents")


def ps(us: int | Decimal) -> int:
    """Microseconds of a file in picoseconds; fails when they are not whole."""
    exact = Decimal(us) * 1_000_000
    assert exact == int(exact)
    return int(exact)


def phase(events: list[Event], *phases: str) -> list[Event]:
    """Events of some phases."""
    return [event for event in events if event["ph"] in phases]


def names(events: list[Event], what: str) -> dict[Any, str]:
    """Names of processes by pid, or of threads by (pid, tid)."""
    key = (lambda e: e["pid"]) if what == "process_name" else (lambda e: (e["pid"], e["tid"]))
    return {key(event): event["args"]["name"] for event in phase(events, "M") if event["name"] == what}
