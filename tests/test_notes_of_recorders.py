"""Notes on the files that recorders write (protos, event files, captures), each with the smallest file that
produces it; and where the others are produced."""

import gzip
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from stepscope.messages import NOTES
from tests import test_notes
from tests.asked import ask
from tests.crc import masked_crc32c
from tests.formats.pprof_reference import wire

ROOT = Path(__file__).parent


def plane(*parts: bytes, events: tuple[bytes, ...] = (), at_ns: int = 0) -> bytes:
    """An XSpace with a plane of one line. Events of kind 1 are called `a`; stats 1 and 2 name an arrow."""
    line = wire(1, 1) + wire(2, b"python") + wire(3, at_ns)
    return wire(1, _names() + wire(3, line + b"".join(wire(4, one) for one in events)) + b"".join(parts))


ARROW = {1: b"_pt", 2: b"_p"}
"""Stats that say what an event makes happen elsewhere: its kind and its number."""


def _names() -> bytes:
    """The plane's name, and those of its kinds."""
    kinds = wire(4, wire(1, 1) + wire(2, wire(1, 1) + wire(2, b"a")))
    stats = (wire(5, wire(1, key) + wire(2, wire(1, key) + wire(2, name))) for key, name in ARROW.items())
    return wire(2, b"/host:CPU") + kinds + b"".join(stats)


def happens(*more: bytes, at: int = 5) -> bytes:
    """An XEvent."""
    return wire(1, 1) + wire(2, at) + wire(3, 7) + b"".join(more)


BROKEN = b"\xff\xff"
"""No field: a number that does not end."""
EXECUTION = wire(1, b"a") + wire(2, 10) + wire(5, 3)
"""A NodeExecStats."""


def run(*parts: bytes, executions: bytes = b"") -> bytes:
    """A RunMetadata with one execution on a device."""
    device = wire(1, b"/device:CPU:0") + wire(2, EXECUTION) + executions
    return wire(1, wire(1, device)) + b"".join(parts)


def node(name: bytes) -> bytes:
    """A GraphDef's node."""
    return wire(1, wire(1, name) + wire(2, b"NoOp"))


def record(data: bytes, length: int | None = None) -> bytes:
    """A record of an event file. length: what it claims."""
    frame = struct.pack("<Q", len(data) if length is None else length)
    return frame + struct.pack("<I", masked_crc32c(frame)) + data + struct.pack("<I", masked_crc32c(data))


HEAD = record(wire(3, b"brain.Event:2"))
SAVED = record(wire(2, 7) + wire(8, wire(1, b"step7") + wire(2, run())))
"""The event that a FileWriter makes of a RunMetadata."""

RECORDINGS: dict[str, bytes | Callable[[], bytes]] = {
    "aggregated-events": plane(events=(wire(1, 1) + wire(5, 900) + wire(3, 7), happens())),
    "broken-event": HEAD + SAVED + record(BROKEN),
    "broken-execution": run(executions=wire(2, BROKEN)),
    "broken-graph-part": run(wire(3, node(b"a") + wire(1, BROKEN))),
    "broken-profile-node": wire(1, wire(1, 1) + wire(2, wire(1, b"a") + wire(9, b"NoOp"))) * 9
    + wire(1, BROKEN),
    "clock-unaligned": wire(
        1,
        _names()
        + wire(3, wire(1, 1) + wire(2, b"x") + wire(3, 1_700_000_000 * 10**9) + wire(4, happens()))
        + wire(3, wire(1, 2) + wire(2, b"y") + wire(3, 5) + wire(4, happens())),
    ),
    "damaged-args": plane(events=(happens(wire(4, BROKEN)),)),
    "damaged-event": plane(events=(happens(), BROKEN)),
    "damaged-head": b'{"schema": {{, "traceEvents": [' + test_notes.STEP.encode() + b"]}",
    "damaged-metadata": plane(wire(4, BROKEN), events=(happens(),)),
    "damaged-structure": wire(1, _names() + wire(3, wire(2, b"x") + wire(4, happens()) + b"\x22\x7f")),
    "damaged-tail": node(b"a") + node(b"b") + BROKEN,
    "dangling-cost-edges": run(wire(2, wire(1, wire(1, b"a") + wire(3, 1) + wire(4, wire(1, 9))))),
    "event-too-long": lambda: test_notes.events(test_notes.event(name="b" * (65 << 20))),
    "one-sided-links": plane(
        events=(happens(wire(4, wire(1, 1) + wire(4, 4)), wire(4, wire(1, 2) + wire(4, 9))),)
    ),
    "record-cut": HEAD + SAVED + record(b"x" * 99)[:-50],
    "record-too-large": HEAD + SAVED + record(b"x" * 99, 1 << 60),
    "truncated-input": lambda: gzip.compress(
        test_notes.events(*(test_notes.event(ts=n) for n in range(999)))
    )[:-300],
    # Behind what tells which format it is.
    "unknown-fields": run(executions=wire(2, EXECUTION) * 9000) + wire(77, 1),
    "value-too-long": test_notes.events()[:-1] + b', "note": "' + b"n" * (70 << 10) + b'"}',
}

ELSEWHERE = {
    "allocation-out-of-range": "formats/test_run_metadata.py",
    "busy-machine": "test_judged.py",
    "compilations-capped": "formats/test_compilations.py",
    "damaged-archive": "sources/test_archives.py",
    "damaged-module": "formats/test_xla_dump.py",
    "damaged-piece": "formats/test_capture.py",
    "debugging-switches": "formats/test_capture.py",
    "doubtful-module": "formats/test_xla_dump.py",
    "fake-thread-ids": "formats/test_run_metadata.py",
    "few-samples": "test_judged.py",
    "free-threaded": "formats/test_capture.py",
    "held-arrays-cut": "formats/test_capture.py",
    "kept-moment": "capture/test_ring.py",
    "kept-moments": "capture/test_ring.py",
    "known-copy": "session/test_plan.py",
    "log-unread": "formats/test_xla_program_log.py",
    "memory-before": "formats/test_torch_memory.py",
    "memory-without-times": "formats/test_torch_memory.py",
    "merged-devices": "formats/test_run_metadata.py",
    "missing-values": "formats/test_checkpoint.py",
    "module-input-only": "formats/test_xla_dump.py",
    "moment-out-of-range": "formats/test_run_metadata.py",
    "nested-archive": "sources/test_archives.py",
    "no-access": "sources/test_find.py",
    "no-cuda": "formats/test_nsys.py",
    "no-start-time": "formats/test_run_metadata.py",
    "no-steps": "formats/test_profiles.py",
    "no-trace-in-events": "formats/test_event_file.py",
    "not-read": "formats/test_nsys.py",
    "op-log-unread": "instruments/test_memory_code.py",
    "out-of-memory": "formats/test_torch_memory.py",
    "program-hung": "formats/test_capture.py",
    "programs-not-searched": "formats/test_xla_dump.py",
    "programs-unread": "formats/test_hostile.py",
    "repeated-executions": "formats/test_run_metadata.py",
    "repeated-runs": "instruments/test_merged_sessions.py",
    "summaries-unread": "formats/test_event_file.py",
    "record-checksum": "formats/test_event_file.py",
    "recorded-program": "formats/test_capture.py",
    "recorder-dropped-events": "formats/test_xplane_drawn.py",
    "recorder-error": "formats/test_xplane_drawn.py",
    "recorder-warning": "formats/test_xplane_drawn.py",
    "same-capture": "sources/test_find.py",
    "shared-values": "formats/test_torch_checkpoint.py",
    "size-unknown": "formats/test_pprof.py",
    "stacks-capped": "formats/test_stacks.py",
    "storage-kept-whole": "formats/test_torch_checkpoint.py",
    "time-out-of-range": "formats/test_xplane_drawn.py",
    "unfinished-capture": "formats/test_capture.py",
    "value-shortened": "formats/test_xplane_drawn.py",
}
"""Notes whose recordings are folders, archives, lakes or large: the test that makes them."""
IMPOSSIBLE = {
    "args-too-long": "one event needs 2 GiB of named values: too much for a machine of tests",
    "events-unaccounted": "only a mistake of a decoder makes it; the core tests the sum by itself",
}


@pytest.mark.parametrize("slug", sorted(RECORDINGS))
def test_the_smallest_recording_with_a_note(slug: str, tmp_path: Path) -> None:
    path = tmp_path / "recording"
    recording = RECORDINGS[slug]
    path.write_bytes(recording() if callable(recording) else recording)
    told = dict(ask(path, "SELECT slug, detail FROM source_note"))
    assert slug in told
    assert told[slug].strip()


def test_every_note_has_its_recording() -> None:
    known = [*RECORDINGS, *test_notes.RECORDINGS, *ELSEWHERE, *IMPOSSIBLE]
    assert sorted(known) == sorted(NOTES)
    for slug, path in ELSEWHERE.items():
        assert slug in (ROOT / path).read_text(encoding="utf-8"), slug
