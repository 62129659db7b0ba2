"""Collapsed stacks, a line for each: `main;step;matmul 42`, as flame graphs are made of. They tell how many
samples a stack had, not when: samples of 1 ms each are laid out one after the other, and a note says so.
PyTorch's export_stacks() writes microseconds instead.

Formats: Brendan Gregg's FlameGraph, <https://github.com/brendangregg/FlameGraph>, and torch.profiler.
"""

import codecs
import re

from stepscope import units
from stepscope._core import Store
from stepscope.formats import Damaged, Pieces
from stepscope.formats._profile_events import MOST_BYTES, Events
from stepscope.sources.source import Traits

NAME = "collapsed"
TRAITS = Traits(kind="profile", endings=(".collapsed", ".folded", ".stacks", ".txt"))
_COUNT_DIGITS = 15
_NOWHERE = b"(no function)"
"""The stack of a line without one: py-spy writes a blank and a count for a thread that is in no function."""
_BINARY = re.compile(rb"[\x00-\x08\x0a-\x1f]")
_SAMPLE_PS = 10**9
_US = 10**6
_OF_TORCH = re.compile(r"(\.py\(\d+\)):_")
"""Behind the line of a frame. PyTorch writes an underscore for a blank, and calls are named as Kineto names
them: `train.py(12): step`."""
_MOST_PS = 2**61


def sniff(head: bytes, name: str) -> bool:
    """Lines that end with a count; most of them name calls between semicolons."""
    if head[:1] in (b"{", b"[", b""):
        return False
    lines = head.split(b"\n")[:50]
    if len(head) >= 4096 and len(lines) > 1:
        lines.pop()  # it may be cut
    lines = [line for line in lines if line.strip()]
    stacks = sum(b";" in line for line in lines)
    return stacks * 2 > len(lines) and all(_is_stack(line) for line in lines)


def _is_stack(line: bytes) -> bool:
    stack, _ = _counted(line)
    return stack == _NOWHERE or (bool(stack.translate(None, b" \t;")) and not _BINARY.search(stack))


def _counted(line: bytes) -> tuple[bytes, int]:
    """A line's stack and how often it was seen; no stack when the line does not end with a count."""
    stack, blank, count = line.rstrip(b"\r").rpartition(b" ")
    if blank and not stack:
        stack = _NOWHERE
    return (stack, int(count)) if count.isdigit() and len(count) <= _COUNT_DIGITS else (b"", 0)


def build(pieces: Pieces) -> Store:
    """Stacks in alphabetical order, so that what they share is one slice."""
    data = pieces.read(MOST_BYTES)
    lines = data.removeprefix(codecs.BOM_UTF8).split(b"\n")
    counts: dict[tuple[str, ...], int] = {}
    bad = 0
    for line in lines:
        if not line.strip():
            continue
        stack, count = _counted(line)
        if not stack:
            bad += 1
            continue
        frames = tuple(stack.decode("utf-8", "replace").split(";"))
        counts[frames] = counts.get(frames, 0) + count
    total = sum(counts.values())
    if not total:
        raise Damaged("no line has a count")
    is_of_torch = all(any(_OF_TORCH.search(frame) for frame in frames) for frames in counts)
    unit = min(_US if is_of_torch else _SAMPLE_PS, max(1, _MOST_PS // total))
    events = Events(origin_ps=0)
    events.thread(1, 1, "profile", "samples")
    at, samples = 0, []
    for frames, times in sorted(counts.items()):
        calls = tuple(_OF_TORCH.sub(r"\1: ", frame) for frame in frames) if is_of_torch else frames
        samples.append((calls, at, at + times * unit))
        at += times * unit
    events.stacks(samples, 1, 1)
    what, number = ("stack", len(counts)) if is_of_torch else ("sample", total)
    length = "as long as its ops took" if is_of_torch else f"as {unit / 10**9:g} ms"
    sentence = f"{units.count(number, what)} {units.agree(number, 'has no time', 'have no times')}"
    detail = f"{sentence}: each is shown {length}, in alphabetical order"
    events.note("samples-without-times", "missing", number, detail)
    if bad:
        events.seen += bad
        events.note(
            "damaged-line",
            "lost",
            bad,
            f"{units.count(bad, 'line')} {units.agree(bad, 'does', 'do')} not end with a count",
        )
    return events.store(pieces, data, "unknown", lost=bad)
