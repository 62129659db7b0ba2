"""PyTorch's memory timeline: how many bytes of a device hold parameters, activations, gradients and so on, as
torch.profiler's export_memory_timeline() writes it to `.json` (sizes over time) or `.raw.json.gz` (changes).

Format: torch/profiler/_memory_profiler.py of <https://github.com/pytorch/pytorch>; nothing in it says which
device it is about.
"""

import re
from typing import Any

from stepscope import units
from stepscope._core import Store
from stepscope.formats import Damaged, Pieces
from stepscope.formats._profile_events import MOST_BYTES, Events, listed, parse
from stepscope.sources.source import Traits

NAME = "memory_timeline"
TRAITS = Traits(kind="memory", endings=(".raw.json", ".json", ".raw"))
CATEGORIES = (
    "parameter", "optimizer state", "input", "temporary", "activation", "gradient", "autograd detail",
    "unknown",
)  # fmt: skip
"""In the order in which PyTorch numbers them."""
_US, _NS = 10**6, 10**3
_WHOLE = rb"-?\d{1,19}"
_RAW = re.compile(
    rb"\[\s*(\[\s*%b\s*,\s*[1-4]\s*,\s*%b\s*,\s*[0-7]\s*\]\s*(,\s*|\]\s*\Z))+" % (_WHOLE, _WHOLE)
)
_SIZES = re.compile(
    rb"\[\s*\[\s*%b(\s*,\s*%b)*\s*\]\s*,\s*\[\s*\[\s*0(\s*,\s*%b){8}\s*[,\]]" % (_WHOLE, _WHOLE, _WHOLE)
)
_TIMES = re.compile(rb"\[\s*\[\s*-?\d{13,19}(\s*,\s*-?\d{13,19}){1000,}[\s,]*\d*\Z")
"""A head that ends before the sizes begin."""


Held = tuple[int, list[int]]
"""A moment, and the bytes of each category from then on."""


def sniff(head: bytes, name: str) -> bool:
    """A list of times and a list of sizes; or changes, each of four numbers."""
    head = head.lstrip()
    if head[:1] != b"[":
        return False
    raw = _RAW.match(head)
    changes = raw is not None and (raw[2][:1] == b"]" or len(raw[0]) > 60)
    return changes or bool(_SIZES.match(head) or _TIMES.match(head))


def build(pieces: Pieces) -> Store:
    """A counter with a series for each category."""
    data = pieces.read(MOST_BYTES)
    events = Events()
    held, odd = _held_sizes(listed(parse(data)))
    if not held:
        raise Damaged("it holds no times with their sizes")
    for at_ps, sizes in held:
        events.counter("memory", at_ps, dict(zip(CATEGORIES, sizes, strict=True)))
    if odd:
        events.seen += odd
        lack = units.agree(odd, "lacks a number", "lack numbers")
        events.note("damaged-line", "lost", odd, f"{units.count(odd, 'entry', 'entries')} {lack}")
    return events.store(pieces, data, "kineto", lost=odd)


def _held_sizes(rows: list[Any]) -> tuple[list[Held], int]:
    """What is held, moment by moment, and how many entries are not of the format."""
    if len(rows) == 2 and _is_sizes(listed(rows[1])):
        return _sizes(listed(rows[0]), listed(rows[1]))
    return _changes(rows)


def _is_sizes(rows: list[Any]) -> bool:
    return bool(rows) and len(listed(rows[0])) == len(CATEGORIES) + 1


def _sizes(times: list[Any], sizes: list[Any]) -> tuple[list[Held], int]:
    """Of microseconds, and of sizes whose first column PyTorch leaves empty."""
    held = [
        (at * _US, row[1:])
        for at, row in zip(times, map(listed, sizes), strict=False)
        if _fits(at) and len(row) == len(CATEGORIES) + 1 and all(map(_fits, row))
    ]
    return held, max(len(times), len(sizes)) - len(held)


def _changes(rows: list[Any]) -> tuple[list[Held], int]:
    """Of changes: nanoseconds (-1 for what was there before), what was done, bytes, category."""
    known = [row for row in map(listed, rows) if len(row) == 4 and all(map(_fits, row))]
    known = [row for row in known if 0 <= row[3] < len(CATEGORIES)]
    began = min((row[0] for row in known if row[0] >= 0), default=0)
    sums = [0] * len(CATEGORIES)
    found: list[Held] = []
    changes = sorted(((max(row[0], began), row[2], row[3]) for row in known), key=lambda row: row[0])
    for number, (at, size, category) in enumerate(changes):
        sums[category] += size
        if number + 1 == len(changes) or changes[number + 1][0] != at:
            found.append((at * _NS, list(sums)))
    return found, len(rows) - len(known)


def _fits(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**62
