"""The folder that `stepscope record` writes: capture.json and the small files beside it.

Recordings in the folder (XPlane, run metadata, graphs) are sources of their own. What is left is read here
as one source: the models of the input pipeline, the chain of datasets that the user wrote, samples of the
machine and of stacks, and the times of steps where no XPlane could take them up. A file that is missing or
damaged costs its own rows and is noted.
"""

import codecs
import re
import shlex
from collections.abc import Mapping
from functools import partial
from typing import Any

from stepscope import strict_json, units
from stepscope._core import Store
from stepscope.formats import (
    Damaged,
    Pieces,
    _capture_pipeline,
    _capture_steps,
    _compilations,
    _held_arrays,
    _machine,
    _stacks,
)
from stepscope.formats._capture_files import CaptureFiles, json_lines
from stepscope.formats._capture_steps import MOST_PIECE_BYTES
from stepscope.formats._fields import string, whole
from stepscope.sources.source import Traits
from stepscope.store_rows import put

NAME = "capture"
TRAITS = Traits(kind="capture")
CACHED = False
"""A capture is several files, all of them small."""

_RECORDER = re.compile(rb'"recorder"\s*:\s*"stepscope')
_READ_ELSEWHERE = ("op_log.pb", "live.json", "stacks-on-signal.txt")
"""tfprof reads the first, people the others."""
_RING = "ring/"
"""Moments that were kept, each of which is read by itself."""
_PACKAGES = {
    "tensorflow": "TensorFlow", "keras": "Keras", "jax": "JAX", "jaxlib": "jaxlib", "torch": "PyTorch",
    "python": "Python",
}  # fmt: skip
"""Whose version is said, in this order."""
_MOST_COMMAND = 300
"""Characters of a command that are said."""


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
    files = CaptureFiles(
        text,
        record,
        {
            piece.name: partial(pieces.read_piece, piece, MOST_PIECE_BYTES)
            for piece in pieces.beside
            if piece.name not in _READ_ELSEWHERE and not piece.name.startswith(_RING)
        },
    )
    # Where an XPlane of the capture has the steps, it does so more exactly.
    _read(files, traced=any(piece.told_elsewhere for piece in pieces.beside))
    store = pieces.build()
    for table, rows in files.tables.items():
        put(store, table, rows)
    store.update_facts(files.facts())
    return store


def steps(pieces: Pieces) -> None:
    """build() has stored the steps."""
    return None


def _read(files: CaptureFiles, traced: bool) -> None:
    """Adds the rows of all files, and notes what they and capture.json say of the recording."""
    _capture_pipeline.read_models(files)
    _capture_pipeline.read_chains(files)
    _read_machine(files)
    _read_stacks(files)
    _read_held_arrays(files)
    _read_compilations(files)
    _capture_steps.read(files, traced)
    for name, data in files.data.items():
        if name.startswith("hang-"):
            first = data[:200].decode("utf-8", "replace").partition("\n")[0]
            files.note("program-hung", "info", f"{first} {name} has the stacks of all threads.")
    _note_kept_moments(files)
    if program := _program(files.record):
        files.note("recorded-program", "info", program, 0)
    if on := _switches(files.record):
        files.note("debugging-switches", "info", ", ".join(on), len(on))
    if files.record.get("free_threaded") is True:
        files.note("free-threaded", "info", "the interpreter's lock was off", 0)
    if whole(files.record, "ended_unix_ns") is None:
        detail = "it was never ended: the program was killed or runs on"
        files.note("unfinished-capture", "missing", detail)
    for problem in files.listed("problems"):
        detail = ". ".join(str(problem[key]) for key in ("what", "seen", "todo") if problem.get(key))
        files.note("recorder-error", "recorder", detail or "no details")


def _read_machine(files: CaptureFiles) -> None:
    steps = files.data.get(_capture_steps.NAME, b"")
    lines = list(json_lines(steps))
    rows = [
        *_machine.samples(files.lines("machine.ndjson"), files.time),
        *_machine.collections(files.lines("garbage.ndjson"), files.time),
        *_machine.threads(files.listed("sessions"), files.time),
        *_machine.durations(_capture_steps.timed(steps), files.time),
        *_machine.calls(lines, files.time),
        *_machine.program(files.record, lines),
    ]
    files.add("counter", rows)
    if rows or _held_arrays.NAME in files.data:
        files.add("track", [_machine.TRACK])


def _read_stacks(files: CaptureFiles) -> None:
    if _stacks.NAME not in files.data:
        return
    steps = _capture_steps.timed(files.data.get(_capture_steps.NAME, b""))
    untraced_steps = [(begin, end) for _, begin, end, recorded in steps if not recorded]
    read = _stacks.StackRows(untraced_steps).read(files.lines(_stacks.NAME), files.time)
    files.unused(_stacks.NAME, read.odd)
    if read.dropped:
        was = units.agree(read.dropped, "was", "were")
        detail = f"{units.count(read.dropped, 'sample')} of stacks {was} not kept"
        files.note("stacks-capped", "info", detail, read.dropped)
    files.add("frame", read.frames)
    files.add("stack", read.stacks)
    files.add("stack_sample", read.samples)
    files.add("untraced_stack", list(read.untraced.values()))


def _read_held_arrays(files: CaptureFiles) -> None:
    if _held_arrays.NAME not in files.data:
        return
    read = _held_arrays.read(files.lines(_held_arrays.NAME), files.time)
    files.unused(_held_arrays.NAME, read.odd)
    if read.cut:
        files.note("held-arrays-cut", "info", "it had more objects than were looked at", read.cut)
    files.add("instant", read.rows)


def _read_compilations(files: CaptureFiles) -> None:
    if _compilations.NAME not in files.data:
        return
    read = _compilations.read(files.lines(_compilations.NAME), files.time)
    files.unused(_compilations.NAME, read.odd)
    if read.dropped:
        detail = f"{read.dropped:,} compilations were only counted"
        files.note("compilations-capped", "info", detail, read.dropped)
    files.add("compilation", read.rows)


def _note_kept_moments(files: CaptureFiles) -> None:
    """What the recorder kept of single moments; or which of them this is."""
    kept = files.record.get("kept")
    if isinstance(kept, dict):
        files.note("kept-moment", "info", string(kept, "why") or "it is not told why", 0)
    elif isinstance(kept, list) and (names := [name for name in kept if isinstance(name, str)]):
        files.note("kept-moments", "info", ", ".join(names), len(names))


def _switches(record: Mapping[str, Any]) -> list[str]:
    """Switches for debugging that were on."""
    found = record.get("switches")
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []


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
