"""What a program that is watched does now, in the sentences and numbers that a terminal and the page show."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

from stepscope import units
from stepscope.capture.ring import FOLDER as RING
from stepscope.report import live_parts

_NS = 1000
"""Picoseconds in a nanosecond."""
NOT_YET = "No step has been recorded yet: the program starts, or warms up."


class LineShare(NamedTuple):
    """A line of the program, and its share of the last seconds."""

    place: str
    share: float | None


@dataclass(frozen=True)
class LiveState:
    """A moment of a program that runs."""

    now: str
    """What runs, and how far it is."""
    sentence: str = ""
    """The largest part of the last seconds; empty if unknown."""
    pace: str = ""
    """How long steps take; empty where none has ended."""
    recent_ps: tuple[int, ...] = ()
    """Of the last steps."""
    parts: tuple[live_parts.LivePart, ...] = ()
    process: str = ""
    """Its memory, and what it takes of the cores."""
    recent_rss_bytes: tuple[int, ...] = ()
    """About one a second."""
    recent_rss_ps: int = 0
    """From the first of these to the last."""
    hangs: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    """Commands that read moments as recordings, the last first."""
    lines: tuple[LineShare, ...] = ()
    slow: tuple[str, ...] = ()
    """Steps that took far longer than others, the last first."""


def state(record: Mapping[str, Any] | None, running: bool, now_unix_ns: int, folder: str = "") -> LiveState:
    """What live.json says; record: None before there is one. running: whether the program runs on. folder: of
    the recording."""
    if record is None:
        is_there = running or not folder or Path(folder).is_dir()
        return LiveState(NOT_YET if is_there else f"There is no folder {folder} yet. {NOT_YET}")
    recent = tuple(_sizes(record, "recent_ns"))
    parts = live_parts.parts(record)
    return LiveState(
        sentence=live_parts.sentence(parts),
        now=f"{record.get('name') or 'step'}, process {record.get('pid')}: step {_whole(record, 'step'):,}"
        f"{_ago(record, running, now_unix_ns)}",
        pace=_pace(recent, _whole(record, "median_ns")),
        recent_ps=tuple(ns * _NS for ns in recent),
        parts=tuple(parts),
        process=_process(record),
        recent_rss_bytes=tuple(_sizes(record, "recent_rss_bytes")),
        recent_rss_ps=_whole(record, "recent_rss_ns") * _NS,
        hangs=tuple(
            f"no step ended for half a minute or more: stacks in {name}" for name in _list(record, "hangs")
        ),
        kept=tuple(
            f"stepscope {quote(f'{folder}/{RING}/{name}' if folder else name)}"
            for name in reversed(_list(record, "kept"))
            if isinstance(name, str)
        ),
        lines=tuple(
            LineShare(_place(line), share if isinstance(share := line.get("share"), (int, float)) else None)
            for line in _dicts(record, "lines")
        ),
        slow=tuple(_slow(step, now_unix_ns) for step in reversed(_dicts(record, "slow"))),
    )


def _pace(recent: Sequence[int], median: int) -> str:
    if not recent:
        return ""
    return f"{_time(recent[-1])}, the median of the last {len(recent)} is {_time(median)}"


def _process(record: Mapping[str, Any]) -> str:
    cores = record.get("cores")
    busy = f", {cores:.1f} cores busy" if isinstance(cores, (int, float)) else ""
    return f"{units.show(_whole(record, 'rss_bytes'), 'bytes')} of memory{busy}"


def _ago(record: Mapping[str, Any], running: bool, now_unix_ns: int) -> str:
    if not running:
        return ", the program has ended"
    late = max(now_unix_ns - _whole(record, "unix_ns"), 0)
    since = _whole(record, "since_step_ns") + late
    if since > max(5 * _whole(record, "median_ns"), 2_000_000_000):
        return f", which ended {_time(since)} ago"
    return ""


def _slow(step: Mapping[str, Any], now_unix_ns: int) -> str:
    ago = _time(max(now_unix_ns - _whole(step, "begin_unix_ns"), 0))
    places = _dicts(step, "lines")
    where = f", in {_place(places[0])}" if places else ""
    took = f"{_time(_whole(step, 'took_ns'))}, {step.get('times')} times the median, {ago} ago"
    return f"step {_whole(step, 'step'):,}: {took}{where}"


def _place(line: Mapping[str, Any]) -> str:
    if not line.get("file"):
        return "none of the program's"
    return f"{line['file']}:{line.get('line')} {line.get('function') or ''}".rstrip()


def _sizes(record: Mapping[str, Any], key: str) -> Iterator[int]:
    return (item for item in _list(record, key) if isinstance(item, int) and 0 <= item < 2**63)


def _dicts(record: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    return [item for item in _list(record, key) if isinstance(item, dict)]


def _list(record: Mapping[str, Any], key: str) -> list[Any]:
    value = record.get(key)
    return value if isinstance(value, list) else []


def _whole(record: Mapping[str, Any], key: str) -> int:
    value = record.get(key)
    return value if isinstance(value, int) and abs(value) < 2**63 else 0


def _time(value_ns: int) -> str:
    return units.show(value_ns * _NS, "ps")
