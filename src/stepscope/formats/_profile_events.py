"""Profiles of other tools as slices: their formats give spans or samples, which are written down as
Chrome's events and decoded by the core like any other trace."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from stepscope import _core, strict_json, units
from stepscope._core import Store
from stepscope.errors import LimitReached
from stepscope.formats import Damaged, Pieces
from stepscope.store_rows import DEVICE, TRACK, note, put

MOST_BYTES = 512 << 20
"""Size of the largest profile that is read: Python holds it whole."""
MOST_DEPTH = 2000
"""Frames of a stack that are kept, the outermost; recursion knows no end."""
MOST_EVENTS = 20_000_000
_FITS = 2**62
_MOST_TEXTS = 1 << 17
"""Beginnings of slices that are kept: more than a program has calls, fewer than names made one by one."""
_AT_ONCE = 10_000
"""Events from one packing to the next."""


def parse(data: bytes) -> Any:
    """The JSON in a profile. Damaged when it is none."""
    try:
        return strict_json.foreign(data)
    except strict_json.OddJson as error:
        raise Damaged(f"it is damaged: {error}") from error


def exact(value: Any) -> int | Fraction | None:
    """A finite number of the profile, exactly; None for anything else. Nearly all are whole, and fractions
    take ten times as long to add up."""
    if type(value) is int:
        return value if abs(value) <= 2**80 else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if value != value or value in (float("inf"), float("-inf")) or abs(value) > 2**80:
        return None
    return value if isinstance(value, int) else Fraction(value)


def number(value: Any) -> Fraction | None:
    """The same, always as a fraction: quotients of them are exact."""
    found = exact(value)
    return None if found is None else Fraction(found)


def listed(value: Any) -> list[Any]:
    """A list of the profile; empty for anything else."""
    return value if isinstance(value, list) else []


def member(value: Any, key: str) -> Any:
    """A member of an object of the profile; None where there is none."""
    return value.get(key) if isinstance(value, dict) else None


@dataclass
class Events:
    """Slices as they are found, and what was wrong with others."""

    origin_ps: int | None = None
    """When ts_ps = 0 is in the profile's own clock: the first slice's start, unless set before."""
    seen: int = 0
    lost: int = 0
    """Spans that end before they begin."""
    far: int = 0
    """What lies too far from the start."""
    odd: int = 0
    """Entries that gave nothing, because they lack what an entry has."""
    threads: dict[tuple[Any, Any], tuple[str, str]] = field(default_factory=dict)
    devices: list[dict[str, Any]] = field(default_factory=list)
    """What accelerators are, as Kineto's `deviceProperties` say it."""
    notes: list[dict[str, Any]] = field(default_factory=list)
    _texts: dict[tuple[Any, ...], str] = field(default_factory=dict)
    _lines: list[str] = field(default_factory=list)
    """Those that are not packed yet."""
    _packed: bytearray = field(default_factory=bytearray)
    """The others, each with a comma before it: a third of what they take as strings."""

    @property
    def any(self) -> bool:
        """Whether anything was added."""
        return bool(self._lines or self._packed)

    def _write(self, line: str) -> None:
        self._lines.append(line)
        if len(self._lines) >= _AT_ONCE:
            self._pack()

    def _pack(self) -> None:
        if self._lines:
            self._packed += (",\n" + ",\n".join(self._lines)).encode()
            self._lines.clear()

    def thread(self, pid: Any, tid: Any, process: str, name: str) -> None:
        """Names a row."""
        self.threads[pid, tid] = (process, name)

    def slice(
        self,
        name: str,
        start_ps: int,
        end_ps: int,
        pid: Any = 0,
        tid: Any = 0,
        category: str | None = None,
        args: dict[str, Any] | None = None,
    ) -> None:
        """Adds a slice; one that ends before it begins, or lies too far away, is counted as lost.

        category: as PyTorch writes it. `cpu_op` makes it an op of a thread; `kernel`, `gpu_memcpy` and
        `gpu_memset` put it on a stream of the GPU whose number is `device` among the args.
        """
        text = self._begun(name, pid, tid, category)
        if args:
            text += f', "args": {json.dumps(args, ensure_ascii=True)}'
        self._span(text, start_ps, end_ps)

    def _span(self, text: str, start_ps: int, end_ps: int) -> None:
        """Adds a slice that is written up to its times."""
        self._count()
        if self.origin_ps is None:
            self.origin_ps = start_ps
        start_ps, length = start_ps - self.origin_ps, end_ps - start_ps
        if length < 0:
            self.lost += 1
            return
        if abs(start_ps) + length > _FITS:
            self.far += 1
            return
        self._write(f'{text}, "ts": {_signed_us(start_ps)}, "dur": {_us(length)}}}')

    def _begun(self, name: str, pid: Any, tid: Any, category: str | None) -> str:
        """How a slice is written up to its times, made once for all that are called alike: a profile has a
        call again for each sample."""
        key = (name, type(pid), pid, type(tid), tid, category)  # True is 1, and written otherwise
        text = self._texts.get(key)
        if text is None:
            event = {"ph": "X", "name": name, "pid": pid, "tid": tid}
            if category is not None:
                event["cat"] = category
            text = json.dumps(event, ensure_ascii=True)[:-1]
            if len(self._texts) < _MOST_TEXTS:
                self._texts[key] = text
        return text

    def instant(self, name: str, at_ps: int, pid: Any, tid: Any, args: dict[str, Any]) -> None:
        """Adds a moment with what is to be said of it, such as a block of memory: `[memory]`, which
        instruments/memory/reads/memory_instants.sql reads."""
        self._count()
        event = {"ph": "i", "s": "t", "name": name, "pid": pid, "tid": tid, "args": args}
        text = json.dumps(event, ensure_ascii=True)[:-1]
        self._write(f'{text}, "ts": {_signed_us(at_ps - (self.origin_ps or 0))}}}')

    def instants(
        self, name: str, pid: Any, tid: Any, keys: Sequence[str], moments: Iterable[tuple[int, ...]]
    ) -> None:
        """Adds moments of one name, each with as many whole numbers: (when, the number of each key)."""
        event = {"ph": "i", "s": "t", "name": name, "pid": pid, "tid": tid}
        # Ten times as fast as to write each anew.
        quoted = (json.dumps(key, ensure_ascii=True).replace("%", "%%") for key in keys)
        args = ", ".join(f"{key}: %d" for key in quoted)
        begun = json.dumps(event, ensure_ascii=True)[:-1].replace("%", "%%")
        text = f'{begun}, "args": {{{args}}}, "ts": %s}}'
        origin_ps = self.origin_ps or 0
        for at_ps, *numbers in moments:
            self._count()
            self._write(text % (*numbers, _signed_us(at_ps - origin_ps)))

    def counter(self, name: str, at_ps: int, values: Mapping[str, int], pid: Any = 0) -> None:
        """Adds what a counter is from a moment on, by series."""
        self._count()
        if self.origin_ps is None:
            self.origin_ps = at_ps
        at_ps -= self.origin_ps
        if abs(at_ps) > _FITS:
            self.far += 1
            return
        text = json.dumps({"ph": "C", "name": name, "pid": pid, "args": values}, ensure_ascii=True)[:-1]
        self._write(f'{text}, "ts": {_signed_us(at_ps)}}}')

    def miss(self, entries: int = 1) -> None:
        """Counts entries of the profile that lack what an entry has, and are left out."""
        self.seen += entries
        self.odd += entries

    def add(self, lines: Iterable[str]) -> None:
        """Adds events that are written down already, one by one, in this trace's own time."""
        for line in lines:
            self._count()
            self._write(line)

    def _count(self, events: int = 1) -> None:
        self.seen += events
        if self.seen > MOST_EVENTS:
            raise LimitReached(
                "The profile has too many entries.",
                seen=f"more than {MOST_EVENTS:,}",
                todo="record for a shorter time, or at a lower rate",
            )

    def stacks(
        self,
        samples: Iterable[tuple[Sequence[str], int, int]],
        pid: Any = 0,
        tid: Any = 0,
        category: str | None = None,
    ) -> None:
        """Adds samples as slices: (stack from the outermost frame, start, end), in order of time. What
        successive samples share is one slice."""
        self._pack()
        slices, lost, far, self.origin_ps = _core.stack_slices(
            samples,
            lambda name: self._begun(name, pid, tid, category),
            self._packed.extend,
            self.origin_ps,
            MOST_DEPTH,
            MOST_EVENTS - self.seen,
        )
        self.lost += lost
        self.far += far
        self._count(slices)

    def note(self, slug: str, effect: str, events: int, detail: str) -> None:
        """Notes something for the reader of the source."""
        self.notes.append(note(slug, effect, detail, events))

    def store(self, pieces: Pieces, data: bytes | Path, producer: str, *, lost: int = 0) -> Store:
        """The slices as a store. Rows are threads unless their slices say what they are. data: the profile,
        or where it lies. lost: what was seen and noted, and gave no slice."""
        from stepscope.formats import _chrome_rows

        names = (
            json.dumps({"ph": "M", "name": f"{what}_name", "pid": pid, "tid": tid, "args": {"name": name}})
            for (pid, tid), named in self.threads.items()
            for what, name in zip(("process", "thread"), named, strict=True)
        )
        self._pack()
        properties = f'"deviceProperties": {json.dumps(self.devices)}, ' if self.devices else ""
        begin = f'{{{properties}"traceEvents": [\n' + ",\n".join(names)
        rest = self._packed if self.threads else self._packed.removeprefix(b",\n")
        text = b"".join((begin.encode(), rest, b"\n]}"))
        self._packed.clear()
        store = _core.decode(
            "chrome_trace", _core.Input.bytes(text), pieces.folder, needs=pieces.needs, threads=pieces.threads
        )
        _chrome_rows.classify(store)
        _make_threads(store)
        self._notes()
        lost += self.lost + self.far + self.odd
        store.update_facts(
            {
                "producer": producer,
                "content_hash": _core.hash_file(str(data))
                if isinstance(data, Path)
                else _core.hash_bytes(data),
                "bytes_in": data.stat().st_size if isinstance(data, Path) else len(data),
                "events_seen": self.seen,
                "events_stored": self.seen - lost,
                "events_lost": lost,
                "events_repaired": 0,
                "events_capped": 0,
                "notes": self.notes,
                "meta": {},
                "origin_unix_ns": None,
            }
        )
        return store

    def _notes(self) -> None:
        """Says what of the profile is lost."""
        if self.lost:
            end = units.agree(self.lost, "ends before it begins", "end before they begin")
            self.note("negative-duration", "lost", self.lost, f"{units.count(self.lost, 'span')} {end}")
        if self.far:
            lie = units.agree(self.far, "lies", "lie")
            detail = f"{units.count(self.far, 'event')} {lie} more than 53 days from the start"
            self.note("time-out-of-range", "lost", self.far, detail)
        if self.odd:
            lack = units.agree(self.odd, "lacks", "lack")
            detail = f"{units.count(self.odd, 'entry', 'entries')} {lack} a time, a weight or a call"
            self.note("damaged-line", "lost", self.odd, detail)


def _us(ps: int) -> str:
    return "%d.%06d" % divmod(ps, 1_000_000)  # noqa: UP031 - half the time of an f-string


def _signed_us(ps: int) -> str:
    return _us(ps) if ps >= 0 else f"-{_us(-ps)}"


def _make_threads(store: Store) -> None:
    tracks = store.rows("track") if "track" in store.tables() else []
    if not any(track["kind"] == "unknown" for track in tracks):
        return
    devices = store.rows("device") if "device" in store.tables() else []
    if "CPU" not in [device["name"] for device in devices]:
        devices.append({"name": "CPU", "kind": "cpu", "args_json": None})
    cpu = [device["name"] for device in devices].index("CPU")
    for track in tracks:
        if track["kind"] == "unknown" and (track["name"] or " tid " in track["origin"]):
            track.update(kind="thread", records="execution", device_id=cpu)
    put(store, "track", tracks, TRACK)
    put(store, "device", devices, DEVICE)


def spans(opened: Iterable[tuple[str, int, bool]], events: Events) -> list[tuple[str, int, int]]:
    """From begins and ends in order of time, (name, when, whether it begins), to (name, start, end). An end
    closes the innermost open span of its name, or is counted as odd; what stays open ends with the last
    event. They are in the order in which they began: of spans that cover the same time, the first is the
    outer one."""
    begun: list[tuple[str, int, int | None]] = []
    open_: list[int] = []
    last = 0
    for name, at, begins in opened:
        last = at
        if begins:
            open_.append(len(begun))
            begun.append((name, at, None))
            continue
        place = next((i for i in range(len(open_) - 1, -1, -1) if begun[open_[i]][0] == name), None)
        if place is None:
            events.miss()
        else:
            row = open_.pop(place)
            begun[row] = (name, begun[row][1], at)
    return [(name, since, last if end is None else end) for name, since, end in begun]
