"""An independent reading of Chrome traces: Python's json, exact decimals, and the simplest algorithms.

It knows the format from its description alone and shares nothing with the decoder under test. It reads
whole, valid files only; what damaged files give is tested by properties.
"""

import gzip
import json
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal, localcontext
from pathlib import Path
from typing import Any

Event = dict[str, Any]


def picoseconds(value: Any) -> int:
    """Microseconds, as a number or its text, to picoseconds, rounded half away from zero."""
    with localcontext() as context:
        context.prec = 60
        return int((Decimal(str(value)) * 1_000_000).quantize(Decimal(1), rounding=ROUND_HALF_UP))


@dataclass
class Reading:
    """What a file holds. Times are picoseconds as the file counts them."""

    seen: int = 0
    lost: int = 0
    # (pid, tid, name, category, start, duration, arguments); threads only
    slices: Counter[tuple[Any, ...]] = field(default_factory=Counter)
    # (name, category, start, duration) of asynchronous sequences
    sequences: Counter[tuple[Any, ...]] = field(default_factory=Counter)
    instants: Counter[tuple[Any, ...]] = field(default_factory=Counter)
    counters: Counter[tuple[Any, ...]] = field(default_factory=Counter)
    # stations of each arrow, one multiset of (phase, ts) per (category, id)
    flows: Counter[frozenset[tuple[tuple[str, int], int]]] = field(default_factory=Counter)
    process_names: dict[str, str] = field(default_factory=dict)
    thread_names: dict[tuple[str, str], str] = field(default_factory=dict)


def load(path: Path) -> Any:
    """The file as JSON with decimals kept as text."""
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    text = data.decode("utf-8-sig").rstrip()
    if text.startswith("[") and not text.endswith("]"):
        text = text.rstrip(",") + "]"  # an array may lawfully lack its end
    return json.loads(text, parse_float=Exact)


class Exact(str):
    """A number that is no integer, as the file writes it."""


def read(path: Path) -> Reading:
    """Everything that a file holds."""
    whole = load(path)
    return read_events(whole if isinstance(whole, list) else whole["traceEvents"])


def read_events(events: list[Any]) -> Reading:
    reading = Reading(seen=len(events))
    stacks: dict[Any, list[Event]] = defaultdict(list)
    arrows: dict[Any, list[Counter[tuple[str, int]]]] = defaultdict(list)
    for event in events:
        if not isinstance(event, dict):
            reading.lost += 1
            continue
        if not event:
            continue  # It holds nothing that could be lost.
        _take(event, reading, stacks, arrows)
    for stations in arrows.values():
        for one in stations:
            reading.flows[frozenset(one.items())] += 1
    return reading


def _take(event: Event, reading: Reading, stacks: dict[Any, list[Event]], arrows: dict[Any, Any]) -> None:
    phase, category = event["ph"], event.get("cat")
    thread = (_id(event.get("pid")), _id(event.get("tid")))
    if phase == "M":
        _metadata(event, thread, reading)
        return
    ts, name = picoseconds(event["ts"]), event.get("name", "")
    if phase == "X":
        dur = picoseconds(event["dur"])
        reading.slices[(*thread, name, category, ts, dur, arguments(event.get("args")))] += 1
        if "bind_id" in event:
            out, into = event.get("flow_out"), event.get("flow_in")
            station = "step" if out and into else "start" if out else "end"
            _arrow(
                arrows[("bound", category, event["bind_id"])], station, ts + dur if station == "start" else ts
            )
    elif phase == "B":
        stacks[thread].append(event)
    elif phase == "E":
        begin = stacks[thread].pop()
        args = {**begin.get("args", {}), **event.get("args", {})}
        start = picoseconds(begin["ts"])
        key = (*thread, begin["name"], begin.get("cat"), start, ts - start, arguments(args))
        reading.slices[key] += 1
    elif phase in "bS":
        stacks[_sequence(event)].append(event)
    elif phase in "eF":
        begin = stacks[_sequence(event)].pop()
        start = picoseconds(begin["ts"])
        reading.sequences[(begin["name"], category, start, ts - start)] += 1
    elif phase in "stf":
        station = {"s": "start", "t": "step", "f": "end"}[phase]
        _arrow(arrows[(category, _id(event["id"]))], station, ts)
    elif phase == "C":
        for series, value in event["args"].items():
            reading.counters[(name, series, ts, float(value))] += 1
    else:
        reading.instants[(name, category, ts)] += 1


def _arrow(arrows: list[Counter[tuple[str, int]]], station: str, ts: int) -> None:
    started = arrows and any(phase == "start" for phase, _ in arrows[-1])
    if not arrows or (station == "start" and started):
        arrows.append(Counter())
    arrows[-1][(station, ts)] += 1


def _sequence(event: Event) -> tuple[Any, ...]:
    local = event.get("id2", {}).get("local")
    scope = _id(event.get("pid")) if local is not None else None
    return ("sequence", event.get("cat"), scope, _id(event.get("id", local)))


def _metadata(event: Event, thread: tuple[str, str], reading: Reading) -> None:
    if event["name"] == "process_name" and "name" in event["args"]:
        reading.process_names[thread[0]] = event["args"]["name"]
    elif event["name"] == "thread_name":
        reading.thread_names[thread] = event["args"]["name"]


def _id(value: Any) -> str:
    return "" if value is None else str(value)


def arguments(args: Any) -> str | None:
    """Arguments in one spelling; None when there are none."""
    return json.dumps(args, sort_keys=True) if args else None
