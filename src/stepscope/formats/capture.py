"""The folder that `stepscope record` writes: capture.json and the small files beside it.

Recordings in the folder (XPlane, run metadata, graphs) are sources of their own. What is left is read here
as one source: the models of the input pipeline, the chain of datasets that the user wrote, samples of the
machine and of stacks, and the times of steps where no XPlane could take them up. A file that is missing or
damaged costs its own rows and is noted.

Past 400 lines because each piece of the folder has its own few rows, and all share clock and counts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from stepscope import strict_json
from stepscope.formats import Damaged, Unreadable

if TYPE_CHECKING:
    from stepscope._core import Store
    from stepscope.formats import Pieces, Step, _model

NAME = "capture"
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
        told = strict_json.parse(text, lenient=True)
    except strict_json.OddJson as error:
        raise Damaged(f"it is damaged: {error}") from error
    if not isinstance(told, dict):
        raise Damaged("it is damaged: not a JSON object")
    beside = {one.name: partial(pieces.read_piece, one, MOST_PIECE_BYTES) for one in pieces.beside}
    # Where an XPlane of the capture reports the steps, it does so more exactly.
    traced = any(one.told_elsewhere for one in pieces.beside)
    capture = _Capture(told, beside, traced)
    capture.digest.update(text)
    capture.read()
    store = pieces.build()
    for table, rows in capture.tables.items():
        if rows:
            store.replace(table, {name: [row[name] for row in rows] for name in rows[0]})
    store.update_facts(capture.facts())
    return store


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
    Lines that are damaged are left out."""
    found = []
    for line in _lines(data):
        number, begin, end = (_whole(line, key) for key in ("step", "begin_unix_ns", "end_unix_ns"))
        if number is not None and begin is not None and end is not None and end >= begin:
            found.append((number, begin, end, bool(line.get("recorded", True))))
    return sorted(found, key=lambda one: one[1])


def _traced_alone(data: bytes) -> set[int | None]:
    """When the steps began that were traced for RunMetadata: neither in the XPlane nor untraced."""
    return {_whole(line, "begin_unix_ns") for line in _lines(data) if line.get("run_metadata")}


class _Capture:
    """A capture while it is read."""

    def __init__(self, told: Mapping[str, Any], pieces: Mapping[str, Piece], traced: bool) -> None:
        import hashlib

        self.told = told
        self._traced = traced
        self.tables: dict[str, list[dict[str, Any]]] = {}
        self.digest = hashlib.blake2b(digest_size=16)
        self._pieces = dict(sorted(pieces.items()))
        self._data: dict[str, bytes] = {}
        self._notes: dict[str, dict[str, Any]] = {}
        self._seen = self._stored = 0
        self._first: int | None = None
        self._last: int | None = None
        self._origin = _whole(told, "started_unix_ns")

    def read(self) -> None:
        for name, piece in self._pieces.items():
            if name == "op_log.pb":
                continue  # tfprof reads it
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
        self._compilations()
        self._steps()
        if _whole(self.told, "ended_unix_ns") is None:
            self._note(
                "unfinished-capture", "missing", "it was never ended: the program was killed or runs on"
            )
        for problem in self._listed("problems"):
            detail = ". ".join(str(problem[key]) for key in ("what", "seen", "todo") if problem.get(key))
            self._note("recorder-error", "recorder", detail or "no details")

    def facts(self) -> dict[str, Any]:
        """What the store says of its source."""
        ended = _whole(self.told, "ended_unix_ns")
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
            iterator, sample = _whole(line, "iterator"), _whole(line, "sample")
            if by_name is not None:
                iterator = int(by_name[1]) if iterator is None else iterator
                sample = int(by_name[2]) if sample is None else sample
            self._seen += 1
            try:
                model = _model.read(data)
            except _model.Damaged as error:
                self._note("damaged-piece", "lost", f"{name}: {error}")
                continue
            self._stored += 1
            ts_ps = self._time(_whole(line, "unix_ns"))
            rows += _model_rows(model, iterator or 0, sample or 0, ts_ps, _whole(line, "elements"))
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
        rows = []
        for chain in chains if isinstance(chains, list) else []:
            iterator = _whole(chain, "iterator") or 0
            stages = chain.get("chain") if isinstance(chain, dict) else None
            for place, stage in enumerate(stages if isinstance(stages, list) else []):
                self._seen += 1
                if not isinstance(stage, dict):
                    self._note("damaged-piece", "lost", "pipeline/datasets.json: a stage is not an object")
                    continue
                self._stored += 1
                position = _whole(stage, "position")
                inputs = stage.get("inputs")
                rows.append(
                    {
                        "iterator": iterator,
                        "position": place if position is None else position,
                        "transformation": _text(stage, "transformation") or "",
                        "dataset": _text(stage, "dataset"),
                        "file": _text(stage, "file"),
                        "line": _whole(stage, "line"),
                        "function": _text(stage, "function"),
                        "text": _text(stage, "text"),
                        "inputs_json": json.dumps(inputs if isinstance(inputs, list) else []),
                        "args_json": json.dumps(_arguments(stage)),
                    }
                )
        self._add("user_stage", rows)

    def _machine(self) -> None:
        rows: list[dict[str, Any]] = []
        before: Mapping[str, Any] = {}
        for line in self._told_lines("machine.ndjson"):
            ts_ps = self._time(_whole(line, "unix_ns"))
            if ts_ps is None:
                continue
            values: list[tuple[str, str, float | None]] = []
            cores = line.get("cores")
            for core, share in enumerate(cores if isinstance(cores, list) else []):
                values.append(("core busy", str(core), _number(share)))
            values.append(("process cpu", "cores", _cores(before, line)))
            for counter, series in _SERIES:
                values.append((counter, series, _number(line.get(series))))
            rows += [
                {"track_id": 0, "name": counter, "series": series, "ts_ps": ts_ps, "value": value}
                for counter, series, value in values
                if value is not None
            ]
            before = line
        for session in self._listed("sessions"):
            begin, end = _whole(session, "begin_unix_ns"), _whole(session, "end_unix_ns")
            if begin is None or end is None or end <= begin:
                continue
            shares = _shares(session, end - begin)
            rows += [
                {"track_id": 0, "name": _SHARES, "series": series, "ts_ps": ts_ps, "value": value}
                for ts_ps in (self._time(begin), self._time(end))
                for series, value in shares
                if ts_ps is not None
            ]
        traced_alone = _traced_alone(self._data.get(STEPS, b""))
        for _, begin, end, recorded in step_times(self._data.get(STEPS, b"")):
            ts_ps = self._time(begin)
            series = "traced_ns" if recorded else "untraced_ns"
            if ts_ps is not None and begin not in traced_alone:
                rows.append(
                    {"track_id": 0, "name": _STEP, "series": series, "ts_ps": ts_ps, "value": end - begin}
                )
        self._add("counter", rows)
        if rows:
            track = {"device_id": None, "kind": "counter", "records": "unknown", "process": "machine"}
            track |= {"name": "machine", "origin": "machine.ndjson", "sort_index": None}
            self._add("track", [track])

    def _stacks(self) -> None:
        from stepscope.formats import _stacks

        if _stacks.NAME not in self._data:
            return
        read = _stacks.Stacks().read(self._told_lines(_stacks.NAME), self._time)
        self._missed(_stacks.NAME, read.odd)
        if read.dropped:
            self._note(
                "stacks-capped", "info", f"{read.dropped:,} samples of stacks were not kept", read.dropped
            )
        self._add("frame", read.frames)
        self._add("stack", read.stacks)
        self._add("stack_sample", read.samples)

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
        if self._traced:
            return
        rows = []
        for number, begin, end, recorded in step_times(self._data.get(STEPS, b"")):
            ts_ps, end_ps = self._time(begin), self._time(end)
            self._seen += 1
            if ts_ps is None or end_ps is None:
                continue
            self._stored += 1
            rows.append(
                {
                    "step": number,
                    "name": "step",
                    "kind": "unknown",
                    "recovered_from": "recorder",
                    "ts_ps": ts_ps,
                    "dur_ps": end_ps - ts_ps,
                    "averaged": True,
                    "reason": "the recorder saw it"
                    if recorded
                    else "the recorder saw it, and did not trace it",
                }
            )
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
        if good < len(whole):
            self._note(
                "damaged-piece", "lost", f"{name}: {len(whole) - good:,} of {len(whole):,} lines are not JSON"
            )

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


_STEP = "duration of a step"
"""The counter of what steps took as the recorder saw them, at their begin: those of the warm-up, too."""
_SHARES = "threads during recording"
"""The counter that says how many threads ran, and how many waited for a core, on average over a recording:
at its begin, and again at its end. `program` are those that were there before the first iterator."""


def _shares(session: Mapping[str, Any], lasted_ns: int) -> list[tuple[str, float]]:
    found = []
    told = session.get("threads")
    for owner, sums in told.items() if isinstance(told, dict) else ():
        for key, what in (("cpu_ns", "running"), ("wait_ns", "waiting")):
            value = _whole(sums, key)
            if owner in ("program", "later", "all") and value is not None and value >= 0:
                found.append((f"{owner} {what}", value / lasted_ns))
    cpu = _whole(session, "cpu_ns")
    if cpu is not None and cpu >= 0:
        found.append(("process running", cpu / lasted_ns))
    return found


_SERIES = (
    ("process memory", "rss_bytes"),
    ("process threads", "threads"),
    ("process io", "read_bytes"),
    ("process io", "write_bytes"),
    ("machine memory", "available_bytes"),
    ("machine io", "disk_read_bytes"),
    ("machine io", "disk_write_bytes"),
)


def _arguments(stage: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a transformation, with the elements of the dataset that it made."""
    told = stage.get("arguments")
    count = _whole(stage, "cardinality")
    return {**(told if isinstance(told, dict) else {}), **({} if count is None else {"cardinality": count})}


def _model_rows(
    model: _model.Model, iterator: int, sample: int, ts_ps: int | None, elements: int | None
) -> list[dict[str, Any]]:
    rows = []
    gaps = model.gaps_us
    for node, above, name in model.walk():
        parallelism = next((one for one in node.parameters if one.name == "parallelism"), None)
        buffer = next((one for one in node.parameters if one.name == "buffer_size"), None)
        rows.append(
            {
                "iterator": iterator,
                "sample": sample,
                "ts_ps": ts_ps,
                "elements": elements,
                "node": node.id,
                "consumer_node": above,
                "inputs_json": json.dumps(node.inputs),
                "name": name,
                "node_class": node.node_class,
                "ratio": _number(node.ratio),
                "num_elements": node.num_elements,
                "bytes_produced": node.bytes_produced,
                "bytes_consumed": node.bytes_consumed,
                "buffered_elements": node.buffered_elements,
                "buffered_bytes": node.buffered_bytes,
                "processing_ps": max(min(node.processing_ns * _NS, _FITS), 0),
                "parallelism": None if parallelism is None else _number(parallelism.value),
                "parallelism_min": None if parallelism is None else _number(parallelism.low),
                "parallelism_max": None if parallelism is None else _number(parallelism.high),
                "autotuned": bool(parallelism is not None and parallelism.tunable),
                "buffer_size": None if buffer is None else _number(buffer.value),
                "gaps": len(gaps) if above is None else None,
                "gap_ps": min(sum(gaps) // len(gaps) * 1000 * _NS, _FITS) if gaps and above is None else None,
                "cpu_budget": model.cpu_budget,
                "ram_budget_bytes": model.ram_budget_bytes,
            }
        )
    return rows


def _lines(data: bytes) -> Iterator[Mapping[str, Any]]:
    for line in data.split(b"\n"):
        try:
            found = strict_json.parse(line, lenient=True) if line.strip() else None
        except strict_json.OddJson:
            continue  # counted where the number of lines is wanted
        if isinstance(found, dict):
            yield found


def _cores(before: Mapping[str, Any], now: Mapping[str, Any]) -> float | None:
    """Cores that the process kept busy between two samples."""
    times = [_whole(line, key) for line in (before, now) for key in ("unix_ns", "process_cpu_ns")]
    if any(time is None for time in times):
        return None
    then, then_cpu, at, cpu = (int(time) for time in times if time is not None)
    return (cpu - then_cpu) / (at - then) if at > then and cpu >= then_cpu else None


def _whole(told: Any, key: str) -> int | None:
    value = told.get(key) if isinstance(told, dict) else None
    good = isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _FITS
    return value if good else None


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if abs(value) < 2**1023 else None


def _text(told: Mapping[str, Any], key: str) -> str | None:
    value = told.get(key)
    return value if isinstance(value, str) else None
