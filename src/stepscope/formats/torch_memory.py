"""PyTorch's snapshots of its CUDA memory (`torch.cuda.memory._dump_snapshot`): what the caching allocator
held, what it gave and took back before, and the stacks that asked for it.

Format: a pickle of plain values, as torch/csrc/cuda/memory_snapshot.cpp and torch/cuda/_memory_viz.py of
<https://github.com/pytorch/pytorch> write and read it. Nothing in it is run: names of Python objects, which
pickles may hold, are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from stepscope import _core, units
from stepscope._core import Store
from stepscope.code_lines import CodeLine, innermost, parts
from stepscope.formats import Damaged, Pieces, Writer
from stepscope.formats._fields import whole
from stepscope.formats._profile_events import MOST_BYTES, Events, listed, member
from stepscope.sources.source import Traits

NAME = "torch_memory"
TRAITS = Traits(kind="memory", endings=(".pickle", ".pkl"))
WRITERS = {NAME: Writer("pytorch")}
"""PyTorch's allocator itself writes them, without its profiler."""
_PROTOCOLS = b"\x02\x03\x04\x05"
_KEY_BYTES = 256
"""`segments` is the first key: it lies behind some bytes of opcodes."""
_CUDA = 1
"""PyTorch's number of the kind of device."""
_HELD = ("active_allocated", "active_awaiting_free", "active_pending_free")
"""States of blocks that the program has, or that a stream still works on."""
_KEYS = ("Device Type", "Device Id", "Addr", "Bytes", "Total Allocated")
"""What Kineto tells of each change."""
_US, _NS = 10**6, 10**3
_MOST_AT_ONCE = 999
"""Changes within a microsecond that are told apart, a nanosecond each."""
_CHANGES = ("alloc", "free_completed")
_TIME = "time_us"
_CALL = re.compile(r"(.+)\((\d{1,9})\): (.*)", re.DOTALL)
"""A call of Python as Kineto names it: its file, line and function."""


class _Change(NamedTuple):
    """Bytes given (positive) or taken back (negative), and the stack that did it, the outermost first."""

    at_us: int
    address: int
    delta_bytes: int
    stack: Sequence[str]


def sniff(head: bytes, name: str) -> bool:
    """A pickle whose first key is `segments`."""
    return head[:1] == b"\x80" and head[1:2] in _PROTOCOLS and b"segments" in head[:_KEY_BYTES]


def build(pieces: Pieces) -> Store:
    """Memory events as Kineto writes them, in the calls that asked for the memory."""
    data = pieces.read(MOST_BYTES)
    try:
        snapshot = _core.unpickle(data)
    except _core.CoreError as error:
        place = "" if error.offset is None else f" (byte {error.offset:,})"
        raise Damaged(f"it is no pickle of plain values: {error.seen}{place}") from error
    traces = listed(member(snapshot, "device_traces"))
    segments = [segment for segment in listed(member(snapshot, "segments")) if isinstance(segment, dict)]
    events = Events()
    frames = _Frames()
    is_timed = any(whole(entry, _TIME) is not None for trace in traces for entry in listed(trace))
    numbers = {number for segment in segments if (number := whole(segment, "device")) is not None}
    for number in sorted({*numbers, *range(len(traces))}):
        trace = listed(traces[number]) if number < len(traces) else []
        _SnapshotDevice(number, events, frames, is_timed).read(
            trace, [segment for segment in segments if segment.get("device") == number]
        )
    if not events.any:
        raise Damaged("it holds no blocks, and nothing that was given or taken back")
    return events.store(pieces, data, NAME)


class _SnapshotDevice:
    """The memory of one GPU, as it is read into events."""

    def __init__(self, number: int, events: Events, frames: _Frames, is_timed: bool) -> None:
        """is_timed: PyTorch before 2.1 writes no times."""
        self.number = number
        self.events = events
        self.frames = frames
        self.is_timed = is_timed
        self.process = f"GPU {number}"

    def read(self, trace: Sequence[Any], segments: Sequence[Any]) -> None:
        """Adds what was held at first, then each change."""
        self._note_failure([entry for entry in trace if member(entry, "action") == "oom"])
        changes = list(self._changes(trace))
        held = list(self._held_at_first(changes, segments))
        if not changes and not held:
            return
        self.events.thread(self.process, 1, f"allocator of {self.process}", "calls that asked for memory")
        if held:
            self.events.note(
                "memory-before",
                "info",
                len(held),
                f"{self.process} held {units.count(len(held), 'block')} before the first change that was "
                f"recorded; {units.agree(len(held), 'it is', 'they are')} shown as given at that moment",
            )
        if changes and not self.is_timed:
            self.events.note(
                "memory-without-times",
                "missing",
                len(changes),
                f"{units.count(len(changes), 'change')} of {self.process} without times: shown 1 µs apart, "
                "in their order",
            )
        if not changes:
            self.events.note(
                "memory-without-times",
                "missing",
                len(held),
                f"{units.count(len(held), 'block')} of {self.process} when the snapshot was taken, and "
                "nothing of what came before: torch.cuda.memory._record_memory_history was not called",
            )
        self._write([*held, *changes])

    def _note_failure(self, failed: Sequence[Any]) -> None:
        """Notes the first allocation that failed as the GPU had no more memory, if any did."""
        sizes = [(size, entry) for entry in failed if (size := whole(entry, "size")) is not None]
        if not sizes:
            return
        size, entry = sizes[0]
        calls = [_CALL.fullmatch(call) for call in self.frames.stack(member(entry, "frames"))]
        place = innermost([CodeLine(found[1], int(found[2]), found[3]) for found in calls if found])
        free = whole(entry, "device_free")
        detail = f"{units.show(size, 'bytes')} were asked of cuda:{self.number}"
        detail += "" if free is None else f", which had {units.show(free, 'bytes')} left"
        detail += "" if place is None else f", in {parts(place.file)[-1]}:{place.line} `{place.function}`"
        detail += f"; the first of {len(failed):,} times" if len(failed) > 1 else ""
        self.events.note("out-of-memory", "info", len(failed), detail)

    def _changes(self, trace: Sequence[Any]) -> Iterator[_Change]:
        entries = [entry for entry in trace if member(entry, "action") in _CHANGES]
        for number, entry in enumerate(entries, 1):
            size, address = whole(entry, "size"), whole(entry, "addr")
            at_us = whole(entry, _TIME) if self.is_timed else number
            if size is None or size < 0 or address is None or at_us is None:
                self.events.miss()
                continue
            is_given = member(entry, "action") == "alloc"
            stack = self.frames.stack(member(entry, "frames")) if is_given else ()
            yield _Change(at_us, address, size if is_given else -size, stack)

    def _held_at_first(self, changes: Sequence[_Change], segments: Sequence[Any]) -> Iterator[_Change]:
        """Blocks that the allocator held before the first change: what it holds in the end and did not give
        meanwhile, and what it took back without having given it."""
        begin_us = min((change.at_us for change in changes), default=0) if self.is_timed else 0
        given: set[int] = set()
        for change in changes:
            if change.delta_bytes > 0:
                given.add(change.address)
            elif change.address not in given:
                yield _Change(begin_us, change.address, -change.delta_bytes, ())
            else:
                given.discard(change.address)
        for segment in segments:
            address = whole(segment, "address") or 0
            for block in listed(member(segment, "blocks")):
                size = whole(block, "size") or 0
                # What was asked for, as changes tell it; the block may be larger.
                held = whole(block, "requested_size")
                at = whole(block, "address")
                at = address if at is None else at
                if member(block, "state") in _HELD and at not in given:
                    stack = self.frames.stack(_frames_of(block))
                    yield _Change(begin_us, at, size if held is None else held, stack)
                address += size

    def _write(self, changes: Sequence[_Change]) -> None:
        """One change after the other, those of a microsecond a nanosecond apart, each in the calls that asked
        for it."""
        times: list[int] = []
        last_us, behind = -1, 0
        for change in changes:
            behind = min(behind + 1, _MOST_AT_ONCE) if change.at_us == last_us else 0
            last_us = change.at_us
            times.append(change.at_us * _US + behind * _NS)
        samples = [
            (change.stack, at, at + 1) for change, at in zip(changes, times, strict=True) if change.stack
        ]
        if self.events.origin_ps is None:
            self.events.origin_ps = min(times) if self.is_timed else 0
        self.events.stacks(samples, self.process, 1)
        self.events.instants("[memory]", self.process, 1, _KEYS, self._moments(changes, times))

    def _moments(self, changes: Sequence[_Change], times: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """When each change was, and the numbers of _KEYS."""
        total = 0
        for change, at in zip(changes, times, strict=True):
            total += change.delta_bytes
            yield at, _CUDA, self.number, change.address, change.delta_bytes, total


class _Frames:
    """Names of calls, each made once: a snapshot has the same frames many thousand times."""

    def __init__(self) -> None:
        self._names: dict[tuple[Any, Any, Any], str] = {}
        self._stacks: dict[int, tuple[Any, Sequence[str]]] = {}
        """By the identity of a list of frames, which is kept with them, so that no other one gets it: PyTorch
        writes a stack once, and then refers to it."""

    def stack(self, frames: Any) -> Sequence[str]:
        """Python's calls, the outermost first, as Kineto names them; none where only C++ was followed."""
        known = self._stacks.get(id(frames))
        if known is None:
            known = self._stacks[id(frames)] = (frames, self._stack(frames))
        return known[1]

    def _stack(self, frames: Any) -> Sequence[str]:
        found = []
        for frame in reversed(listed(frames)):
            if isinstance(frame, dict):
                key = (frame.get("filename"), frame.get("line"), frame.get("name"))
                if str(key[0]).endswith(".py") and all(isinstance(part, str | int) for part in key):
                    if key not in self._names:
                        self._names[key] = f"{key[0]}({key[1]}): {key[2]}"
                    found.append(self._names[key])
        return found


def _frames_of(block: Any) -> Any:
    """Frames of a block; PyTorch before 2.1 keeps them in a history, the newest first."""
    if frames := listed(member(block, "frames")):
        return frames
    history = listed(member(block, "history"))
    return member(history[0], "frames") if history else None
