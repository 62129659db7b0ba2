"""What a program that is watched does now, as the lines of a screen."""

import itertools
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stepscope import units
from stepscope.report import live_parts
from stepscope.report.live_state import LineShare, state
from stepscope.step_labels import LOOKS

_BARS = "▁▂▃▄▅▆▇█"
_MOST_SLOW = 5
_MOST_KEPT = 3
_MOST_PLACES = 5
"""Lines of the program that are shown, so that all fits 24 lines."""


def lines(
    record: Mapping[str, Any] | None, running: bool, width: int, now_unix_ns: int, folder: str = ""
) -> Iterator[str]:
    """The screen. record: live.json; None before there is one. running: whether the program runs on. folder:
    of the recording."""
    found = state(record, running, now_unix_ns, folder)
    if record is None:
        yield found.now
        return
    if found.sentence:
        yield from textwrap.wrap(
            found.sentence, max(width, 20), break_long_words=False, break_on_hyphens=False
        )
        yield ""
    yield found.now
    if found.recent_ps:
        shown = found.recent_ps[-max(width - 30, 10) :]
        yield f"Step      {found.pace}"
        yield f"          {_spark(shown)}  0 to {units.show(max(shown), 'ps')}"
    yield from _parts(found.parts, width)
    yield f"Process   {found.process}"
    for hang in found.hangs:
        yield f"Hang      {hang}"
    for command in found.kept[:_MOST_KEPT]:
        yield f"Kept      {command}"
    yield ""
    yield from _places("Lines of the last 10 s", found.lines)
    yield from _slow(found.slow)


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


def _places(title: str, found: Sequence[LineShare]) -> Iterator[str]:
    if not found:
        return
    yield title
    for place, share in found[:_MOST_PLACES]:
        percent = "      " if share is None else f"{100 * share:5.1f} %"
        yield f"  {percent}  {place}"
    yield ""


def _slow(found: Sequence[str]) -> Iterator[str]:
    if not found:
        return
    yield f"Slow steps, of {len(found)} the last" if len(found) > _MOST_SLOW else "Slow steps"
    for sentence in found[:_MOST_SLOW]:
        yield f"  {sentence}"
    yield ""


def _spark(values: Sequence[int]) -> str:
    most = max(*values, 1)
    return "".join(_BARS[min(value * len(_BARS) // most, len(_BARS) - 1)] for value in values)
