"""What a program that is watched does now, as the lines of a screen."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import Any

from stepscope import units
from stepscope.capture.ring import FOLDER as RING
from stepscope.report import live_parts
from stepscope.step_labels import LOOKS

_BARS = "▁▂▃▄▅▆▇█"
_NS = 1000
"""Picoseconds in a nanosecond."""
_MOST_SLOW = 5
_MOST_KEPT = 3
_MOST_PLACES = 5
"""Lines of the program that are shown, so that all fits 24 lines."""


def lines(
    record: Mapping[str, Any] | None, running: bool, width: int, now_unix_ns: int, folder: str = ""
) -> Iterator[str]:
    """The screen. record: live.json; None before there is one. running: whether the program runs on. folder:
    of the recording."""
    if record is None:
        there = not folder or Path(folder).is_dir()
        before = "" if there else f"There is no folder {folder} yet. "
        yield f"{before}No step has been recorded yet: the program starts, or warms up."
        return
    recent = [one for one in _list(record, "recent_ns") if isinstance(one, int) and one >= 0]
    median = _whole(record, "median_ns")
    ago = _ago(record, running, now_unix_ns)
    parts = live_parts.parts(record)
    if sentence := live_parts.sentence(parts):
        yield from textwrap.wrap(sentence, max(width, 20), break_long_words=False, break_on_hyphens=False)
        yield ""
    yield f"{record.get('name') or 'step'}, process {record.get('pid')}: step {_whole(record, 'step'):,}{ago}"
    if recent:
        shown = recent[-max(width - 30, 10) :]
        yield f"Step      {_time(recent[-1])}, the median of the last {len(recent)} is {_time(median)}"
        yield f"          {_spark(shown)}  0 to {_time(max(shown))}"
    yield from _parts(parts, width)
    memory = units.show(_whole(record, "rss_bytes"), "bytes")
    cores = record.get("cores")
    busy = f", {cores:.1f} cores busy" if isinstance(cores, (int, float)) else ""
    yield f"Process   {memory} of memory{busy}"
    for name in _list(record, "hangs"):
        yield f"Hang      no step ended for half a minute or more: stacks in {name}"
    kept = [one for one in _list(record, "kept") if isinstance(one, str)]
    for name in kept[: -_MOST_KEPT - 1 : -1]:
        yield f"Kept      stepscope {quote(f'{folder}/{RING}/{name}' if folder else name)}"
    yield ""
    yield from _places("Lines of the last 10 s", _list(record, "lines"))
    yield from _slow(_list(record, "slow"), median, now_unix_ns)


def _parts(parts: Sequence[live_parts.LivePart], width: int) -> Iterator[str]:
    """A bar, and what its parts are, as in the answer of a recording."""
    if not parts:
        return
    room = max(min(width - 12, 60), 10)
    ends = [0, *itertools.accumulate(part.share for part in parts)]
    marks = (LOOKS[part.label].mark for part in parts)
    bar = "".join(
        mark * (round(to * room) - round(begin * room))
        for mark, (begin, to) in zip(marks, itertools.pairwise(ends), strict=True)
    )
    yield f"Parts     {bar}"
    shares = [f"{LOOKS[part.label].mark} {part.label} {100 * part.share:.0f} %" for part in parts]
    yield from textwrap.wrap(
        "   ".join(shares), max(width, 30), initial_indent=" " * 10, subsequent_indent=" " * 10
    )


def _ago(record: Mapping[str, Any], running: bool, now_unix_ns: int) -> str:
    if not running:
        return ", the program has ended"
    late = max(now_unix_ns - _whole(record, "unix_ns"), 0)
    since = _whole(record, "since_step_ns") + late
    if since > max(5 * _whole(record, "median_ns"), 2_000_000_000):
        return f", which ended {_time(since)} ago"
    return ""


def _places(title: str, found: Sequence[Any]) -> Iterator[str]:
    known = [one for one in found if isinstance(one, dict)]
    if not known:
        return
    yield title
    for one in known[:_MOST_PLACES]:
        share = one.get("share")
        percent = f"{100 * share:5.1f} %" if isinstance(share, (int, float)) else "      "
        yield f"  {percent}  {_place(one)}"
    yield ""


def _slow(found: Sequence[Any], median: int, now_unix_ns: int) -> Iterator[str]:
    known = [one for one in found if isinstance(one, dict)]
    if not known:
        return
    yield f"Slow steps, of {len(known)} the last" if len(known) > _MOST_SLOW else "Slow steps"
    for one in known[: -_MOST_SLOW - 1 : -1]:
        ago = units.show(max(now_unix_ns - _whole(one, "begin_unix_ns"), 0) * _NS, "ps")
        places = [place for place in _list(one, "lines") if isinstance(place, dict)]
        where = f", in {_place(places[0])}" if places else ""
        took = f"{_time(_whole(one, 'took_ns'))}, {one.get('times')} times the median, {ago} ago"
        yield f"  step {_whole(one, 'step'):,}: {took}{where}"
    yield ""


def _place(one: Mapping[str, Any]) -> str:
    if not one.get("file"):
        return "none of the program's"
    return f"{one['file']}:{one.get('line')} {one.get('function') or ''}".rstrip()


def _spark(values: Sequence[int]) -> str:
    most = max(*values, 1)
    return "".join(_BARS[min(value * len(_BARS) // most, len(_BARS) - 1)] for value in values)


def _list(record: Mapping[str, Any], key: str) -> list[Any]:
    value = record.get(key)
    return value if isinstance(value, list) else []


def _whole(record: Mapping[str, Any], key: str) -> int:
    value = record.get(key)
    return value if isinstance(value, int) and abs(value) < 2**63 else 0


def _time(value_ns: int) -> str:
    return units.show(value_ns * _NS, "ps")
