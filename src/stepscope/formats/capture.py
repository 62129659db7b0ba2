"""The folder that `stepscope record` writes: capture.json and the small files beside it.

Recordings in the folder (XPlane, run metadata, graphs) are sources of their own. What is left is read here
as one source: the models of the input pipeline, the chain of datasets that the user wrote, samples of the
machine and of stacks, and the times of steps where no XPlane could take them up. A file that is missing or
damaged costs its own rows and is noted.
"""

from __future__ import annotations

import codecs
import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from stepscope import protobuf, strict_json, units
from stepscope.formats import Damaged, Unreadable
from stepscope.formats._fields import string, whole
from stepscope.sources.source import Traits

if TYPE_CHECKING:
    from stepscope._core import Store
    from stepscope.formats import Pieces, Step

NAME = "capture"
TRAITS = Traits(kind="capture")
CACHED = False
"""A capture is several files, all of them small."""
STEPS = "steps.ndjson"
"""The piece with the times of steps; it is given to the XPlane of the capture as well, where there is one."""

Piece = Callable[[], bytes]
"""Reads a file; Unreadable when it cannot be had."""

MOST_PIECE_BYTES = 256 << 20
"""A piece that is larger is not read."""
_NS = 1000
"""Picoseconds in a nanosecond."""
_FITS = 2**63 - 1
_RECORDER = re.compile(rb'"recorder"\s*:\s*"stepscope')


def sniff(head: bytes, name: str) -> bool:
    """A JSON object that names stepscope as its recorder."""
    return head.lstrip()[:1] == b"{" and _RECORDER.search(head) is not None


def build(pieces: Pieces) -> Store:
    """The tables of a capture: capture.json and the files beside it.

    CoreError when the folder cannot be written; Unreadable when capture.json cannot be read; Damaged when it
    is not a JSON object.
    """
    text = pieces.read(MOST_PIECE_BYTES)
    try:
        record = strict_json.parse(text.removeprefix(codecs.BOM_UTF8), lenient=True)
    except strict_json.OddJson as error:
        raise Damaged(f"it is damaged: {error}") from error
    if not isinstance(record, dict):
        raise Damaged("it is damaged: not a JSON object")
    beside = {piece.name: partial(pieces.read_piece, piece, MOST_PIECE_BYTES) for piece in pieces.beside}
    # Where an XPlane of the capture has the steps, it does so more exactly.
    capture = _Capture(record, beside, any(piece.told_elsewhere for piece in pieces.beside))
    capture.digest.update(text)
    capture.read()
    store = pieces.build()
    for table, rows in capture.tables.items():
        if rows:
            store.replace(table, {name: [row[name] for row in rows] for name in rows[0]})
    store.update_facts(capture.facts())
    return store


def _step_row(number: int, ts_ps: int, end_ps: int, recorded: bool, odd: bool) -> dict[str, Any]:
    """A row of step_stored. odd: the capture is about a moment out of the ordinary."""
    beside = "kept beside the one that was out of the ordinary"
    unrecorded = beside if odd else "the recorder saw it, and did not trace it"
    return {
        "step": number,
        "name": "step",
        "kind": "unknown",
        "recovered_from": "recorder",
        "ts_ps": ts_ps,
        "dur_ps": end_ps - ts_ps,
        "averaged": recorded or not odd,
        "reason": "the recorder saw it" if recorded else unrecorded,
    }


def _has(record: Mapping[str, Any], kind: str) -> bool:
    """Whether a capture says that it has a file of a kind."""
    files = record.get("files")
    return isinstance(files, list) and any(
        isinstance(file, dict) and file.get("kind") == kind for file in files
    )


def steps(pieces: Pieces) -> None:
    """build() has stored the steps."""
    return None


def timed_steps(pieces: Pieces) -> list[Step]:
    """The steps in steps.ndjson beside another source of the capture. Empty when the file cannot be read: the
    steps are then recovered as without a recorder, and the capture itself reports the damage."""
    for piece in pieces.beside:
        if piece.name == STEPS:
            try:
                return step_times(pieces.read_piece(piece, MOST_PIECE_BYTES))
            except Unreadable:
                return []
    return []


def step_times(data: bytes) -> list[Step]:
    """Number, begin and end in Unix nanoseconds, and whether it was recorded, of each step of steps.ndjson.
    One that was traced for RunMetadata is a recording of its own. Lines that are damaged are left out."""
    found = []
    for line in _lines(data):
        number, begin, end = (whole(line, key) for key in ("step", "begin_unix_ns", "end_unix_ns"))
        if number is not None and begin is not None and end is not None and end >= begin:
            recorded = line.get("recorded", True) and not line.get("run_metadata")
            found.append((number, begin, end, bool(recorded)))
    return sorted(found, key=lambda one: one[1])


def _traced_alone(data: bytes) -> set[int | None]:
    """When the steps began that were traced for RunMetadata: neither in the XPlane nor untraced."""
    return {whole(line, "begin_unix_ns") for line in _lines(data) if line.get("run_metadata")}


class _Capture:
    """A capture while it is read."""

    def __init__(self, record: Mapping[str, Any], pieces: Mapping[str, Piece], traced: bool) -> None:
        import hashlib

        self.told = record
        self._traced = traced
        self.tables: dict[str, list[dict[str, Any]]] = {}
        self.digest = hashlib.blake2b(digest_size=16)
        self._pieces = dict(sorted(pieces.items()))
        self._data: dict[str, bytes] = {}
        self._notes: dict[str, dict[str, Any]] = {}
        self._seen = self._stored = 0
        self._first: int | None = None
        self._last: int | None = None
        self._origin = whole(record, "started_unix_ns")

    def read(self) -> None:
        for name, piece in self._pieces.items():
            if name in ("op_log.pb", "live.json", "stacks-on-signal.txt") or name.startswith("ring/"):
                continue  # tfprof reads the first, people the others; a moment of the ring is read by itself
            try:
                self._data[name] = piece()
            except Unreadable as error:
                self._note("damaged-piece", "lost", f"{name}: {error}")
                continue
            self.digest.update(name.encode() + b"\0" + self._data[name])
        self._models()
        self._datasets()
        self._machine()
        self._stacks()
        self._held()
        self._compilations()
        self._steps()
        for name in self._data:
            if name.startswith("hang-"):
                first = self._data[name][:200].decode("utf-8", "replace").partition("\n")[0]
                self._note("program-hung", "info", f"{first} {name} has the stacks of all threads.")
        self._kept()
        if program := _program(self.told):
            self._note("recorded-program", "info", program, 0)
        if whole(self.told, "ended_unix_ns") is None:
            self._note(
                "unfinished-capture", "missing", "it was never ended: the program was killed or runs on"
            )
        for problem in self._listed("problems"):
            detail = ". ".join(str(problem[key]) for key in ("what", "seen", "todo") if problem.get(key))
            self._note("recorder-error", "recorder", detail or "no details")

    def _kept(self) -> None:
        """What the recorder kept of single moments; or which of them this is."""
        kept = self.told.get("kept")
        if isinstance(kept, dict):
            self._note("kept-moment", "info", string(kept, "why") or "it is not told why", 0)
        elif isinstance(kept, list) and (names := [one for one in kept if isinstance(one, str)]):
            self._note("kept-moments", "info", ", ".join(names), len(names))

    def facts(self) -> dict[str, Any]:
        """What the store says of its source."""
        ended = whole(self.told, "ended_unix_ns")
        start = 0 if self._origin is not None else None
        end = None
        if self._origin is not None:
            end = min(max((ended or self._origin) - self._origin, 0) * _NS, _FITS)
            end = max(end, self._last or 0)
            start = min(0, self._first or 0)
        meta = {"cores": self.told.get("cores"), "memory_bytes": self.told.get("memory_bytes")}
        meta["host"] = self.told.get("host")
        return {
            "producer": "stepscope",
            "content_hash": self.digest.hexdigest(),
            "origin_unix_ns": self._origin,
            "start_ps": start,
            "end_ps": end,
            "events_seen": self._seen,
            "events_stored": self._stored,
            "events_lost": self._seen - self._stored,
            "events_repaired": 0,
            "events_capped": 0,
            "notes": list(self._notes.values()),
            "meta": {key: str(value) for key, value in meta.items() if value is not None},
        }

    def _models(self) -> None:
        from stepscope.formats import _model

        samples: dict[str, Mapping[str, Any]] = {}
        for line in self._told_lines("pipeline/models.ndjson"):
            file = line.get("file")
            if isinstance(file, str):
                samples[file.rpartition("/")[2]] = line
        rows = []
        for name, data in self._data.items():
            base = name.rpartition("/")[2]
            if not name.startswith("pipeline/") or not base.endswith(".pb"):
                continue
            line = samples.pop(base, {})
            by_name = re.fullmatch(r"model_(\d{1,9})_(\d{1,9})\.pb", base)
            iterator, sample = whole(line, "iterator"), whole(line, "sample")
            if by_name is not None:
                iterator = int(by_name[1]) if iterator is None else iterator
                sample = int(by_name[2]) if sample is None else sample
            self._seen += 1
            try:
                model = _model.read(data)
            except protobuf.DamagedMessage as error:
                self._note("damaged-piece", "lost", f"{name}: {error}")
                continue
            self._stored += 1
            ts_ps = self._time(whole(line, "unix_ns"))
            elements = whole(line, "elements")
            rows += _model.rows(model, iterator or 0, sample or 0, ts_ps, elements)
        for base in samples:
            self._note(
                "damaged-piece", "missing", f"pipeline/{base}: the list of models names it, it is not there"
            )
        self._add("iterator_model", rows)

    def _datasets(self) -> None:
        data = self._data.get("pipeline/datasets.json")
        if data is None:
            return
        try:
            chains = strict_json.parse(data, lenient=True)
        except strict_json.OddJson as error:
            self._seen += 1
            self._note("damaged-piece", "lost", f"pipeline/datasets.json: {error}")
            return
        if not isinstance(chains, list):
            self._seen += 1
            self._note("damaged-piece", "lost", "pipeline/datasets.json: it is not a list of chains")
            return
        rows = []
        for chain in chains:
            iterator = whole(chain, "iterator") or 0
            stages = chain.get("chain") if isinstance(chain, dict) else None
            if not isinstance(stages, list):
                self._seen += 1
                self._note("damaged-piece", "lost", "pipeline/datasets.json: a chain has no list of stages")
                continue
            for place, stage in enumerate(stages):
                self._seen += 1
                if not isinstance(stage, dict):
                    self._note("damaged-piece", "lost", "pipeline/datasets.json: a stage is not an object")
                    continue
                self._stored += 1
                position = whole(stage, "position")
                inputs = stage.get("inputs")
                rows.append(
                    {
                        "iterator": iterator,
                        "position": place if position is None else position,
                        "transformation": string(stage, "transformation") or "",
                        "dataset": string(stage, "dataset"),
                        "file": string(stage, "file"),
                        "line": whole(stage, "line"),
                        "function": string(stage, "function"),
                        "text": string(stage, "text"),
                        "inputs_json": json.dumps(inputs if isinstance(inputs, list) else []),
                        "args_json": json.dumps(_arguments(stage)),
                    }
                )
        self._add("user_stage", rows)

    def _machine(self) -> None:
        from stepscope.formats import _machine

        steps = self._data.get(STEPS, b"")
        alone = _traced_alone(steps)
        timed = [time for time in step_times(steps) if time[1] not in alone]
        rows = [
            *_machine.samples(self._told_lines("machine.ndjson"), self._time),
            *_machine.threads(self._listed("sessions"), self._time),
            *_machine.durations(timed, self._time),
            *_machine.calls(_lines(steps), self._time),
        ]
        self._add("counter", rows)
        if rows or "memory.ndjson" in self._data:
            self._add("track", [_machine.TRACK])

    def _stacks(self) -> None:
        from stepscope.formats import _stacks

        if _stacks.NAME not in self._data:
            return
        read = _stacks.StackRows().read(self._told_lines(_stacks.NAME), self._time)
        self._missed(_stacks.NAME, read.odd)
        if read.dropped:
            was = units.agree(read.dropped, "was", "were")
            detail = f"{units.count(read.dropped, 'sample')} of stacks {was} not kept"
            self._note("stacks-capped", "info", detail, read.dropped)
        self._add("frame", read.frames)
        self._add("stack", read.stacks)
        self._add("stack_sample", read.samples)

    def _held(self) -> None:
        from stepscope.formats import _held_arrays

        if _held_arrays.NAME not in self._data:
            return
        read = _held_arrays.read(self._told_lines(_held_arrays.NAME), self._time)
        self._missed(_held_arrays.NAME, read.odd)
        if read.cut:
            self._note("held-arrays-cut", "info", "it had more objects than were looked at", read.cut)
        self._add("instant", read.rows)

    def _compilations(self) -> None:
        from stepscope.formats import _compilations

        if _compilations.NAME not in self._data:
            return
        read = _compilations.read(self._told_lines(_compilations.NAME), self._time)
        self._missed(_compilations.NAME, read.odd)
        if read.dropped:
            self._note(
                "compilations-capped",
                "info",
                f"{read.dropped:,} compilations were only counted",
                read.dropped,
            )
        self._add("compilation", read.rows)

    def _steps(self) -> None:
        data = self._data.get(STEPS, b"")
        steps = step_times(data)
        lines = sum(1 for line in data.split(b"\n") if line.strip())
        if odd := lines - len(steps):
            self._seen += odd
            tell = units.agree(odd, "tells", "tell")
            detail = f"{odd:,} of {units.count(lines, 'line')} {tell} no step"
            self._note("damaged-piece", "lost", f"{STEPS}: {detail}", odd)
        if self._traced:
            return
        if _has(self.told, "run_metadata"):
            # Runs that were traced in full are steps by themselves, unless others ran as ever and were
            # sampled.
            steps = [step for step in steps if step[3]] if "stacks.ndjson" in self._data else []
        # A moment that was kept may be about one step, beside those that ran as ever.
        kept = self.told.get("kept")
        odd = isinstance(kept, dict) and whole(kept, "step") is not None
        rows = []
        for number, begin, end, recorded in steps:
            ts_ps, end_ps = self._time(begin), self._time(end)
            self._seen += 1
            if ts_ps is None or end_ps is None:
                self._note(
                    "damaged-piece", "lost", f"{STEPS}: a step is too far from the start of the capture"
                )
                continue
            self._stored += 1
            rows.append(_step_row(number, ts_ps, end_ps, recorded, odd))
        self._add("step_stored", rows)

    def _told_lines(self, name: str) -> Iterator[Mapping[str, Any]]:
        """The lines of a file; what is not a JSON object is lost."""
        data = self._data.get(name, b"")
        good = 0
        whole = [line for line in data.split(b"\n") if line.strip()]
        for line in _lines(data):
            good += 1
            yield line
        self._seen += len(whole)
        self._stored += good
        if bad := len(whole) - good:
            lines = f"{bad:,} of {units.count(len(whole), 'line')} {units.agree(bad, 'is', 'are')} not JSON"
            self._note("damaged-piece", "lost", f"{name}: {lines}")

    def _time(self, unix_ns: int | None) -> int | None:
        """Picoseconds from the start of the capture."""
        if unix_ns is None or self._origin is None or abs(unix_ns - self._origin) * _NS > _FITS:
            return None
        at = (unix_ns - self._origin) * _NS
        self._first = at if self._first is None else min(self._first, at)
        self._last = at if self._last is None else max(self._last, at)
        return at

    def _listed(self, key: str) -> list[Mapping[str, Any]]:
        value = self.told.get(key)
        return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []

    def _add(self, table: str, rows: list[dict[str, Any]]) -> None:
        self.tables[table] = [{"id": number, **row} for number, row in enumerate(rows)]

    def _missed(self, name: str, odd: int) -> None:
        """Lines of a file that are JSON and could not be used all the same."""
        self._stored -= odd
        if odd:
            self._note("damaged-piece", "lost", f"{name}: {odd:,} of its lines could not be used")

    def _note(self, slug: str, effect: str, detail: str, events: int = 1) -> None:
        note = self._notes.setdefault(
            slug, {"slug": slug, "effect": effect, "events": 0, "first_offset": None, "detail": detail}
        )
        note["events"] += events


_PACKAGES = {
    "tensorflow": "TensorFlow", "keras": "Keras", "jax": "JAX", "jaxlib": "jaxlib", "torch": "PyTorch",
    "python": "Python",
}  # fmt: skip
"""Whose version is told, in this order."""
_MOST_COMMAND = 300
"""Characters of a command that are told."""


def _program(record: Mapping[str, Any]) -> str:
    """What was recorded: the command, versions, cores; "" where the recorder told nothing of them."""
    argv, versions, cores = record.get("argv"), record.get("versions"), whole(record, "cores")
    parts = []
    if isinstance(argv, list) and argv and all(isinstance(word, str) for word in argv):
        command = shlex.join(argv).replace("`", "'")
        parts.append(f"`{command[:_MOST_COMMAND]}{'…' if len(command) > _MOST_COMMAND else ''}`")
    known = versions if isinstance(versions, dict) else {}
    parts += [
        f"{name} {known[key][:40]}" for key, name in _PACKAGES.items() if isinstance(known.get(key), str)
    ]
    if cores is not None and cores > 0:
        parts.append(units.count(cores, "core"))
    return ", ".join(parts)


def _arguments(stage: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a transformation, with the elements of the dataset that it made."""
    arguments = stage.get("arguments")
    count = whole(stage, "cardinality")
    return {
        **(arguments if isinstance(arguments, dict) else {}),
        **({} if count is None else {"cardinality": count}),
    }


def _lines(data: bytes) -> Iterator[Mapping[str, Any]]:
    for line in data.split(b"\n"):
        try:
            found = strict_json.parse(line, lenient=True) if line.strip() else None
        except strict_json.OddJson:
            continue  # counted where the number of lines is wanted
        if isinstance(found, dict):
            yield found
