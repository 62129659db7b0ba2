"""steps.ndjson of a capture folder: when steps began and ended, as the recorder saw them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stepscope import units
from stepscope.formats import Pieces, Step, Unreadable
from stepscope.formats._capture_files import CaptureFiles, json_lines, number_of_lines
from stepscope.formats._fields import whole

NAME = "steps.ndjson"
"""It is given to the XPlane of the capture as well, where there is one."""
PHASES = "phases.ndjson"
_KINDS = ("train", "eval", "predict", "export")
"""What an Estimator makes a run for."""
MOST_PIECE_BYTES = 256 << 20
"""A piece that is larger is not read."""


def recorder_steps(pieces: Pieces) -> list[Step]:
    """The steps in steps.ndjson beside another source of the capture. Empty when the file cannot be read: the
    steps are then recovered as without a recorder, and the capture itself reports the damage."""
    for piece in pieces.beside:
        if piece.name == NAME:
            try:
                return times(pieces.read_piece(piece, MOST_PIECE_BYTES))
            except Unreadable:
                return []
    return []


def times(data: bytes) -> list[Step]:
    """Number, begin and end in Unix nanoseconds, and whether it was recorded, of each step of steps.ndjson.
    One that was traced for RunMetadata is a recording of its own. Lines that are damaged are left out."""
    return [step for step, _ in _steps_and_kinds(data)]


def _steps_and_kinds(data: bytes) -> list[tuple[Step, str]]:
    """The same, each with the kind of the step."""
    found = []
    for line in json_lines(data):
        number, begin, end = (whole(line, key) for key in ("step", "begin_unix_ns", "end_unix_ns"))
        if number is not None and begin is not None and end is not None and end >= begin:
            recorded = line.get("recorded", True) and not line.get("run_metadata")
            found.append(((number, begin, end, bool(recorded)), _kind(line)))
    return sorted(found, key=lambda found: found[0][1])


def timed(data: bytes) -> list[Step]:
    """The same without those that were traced for RunMetadata: neither in the XPlane nor untraced."""
    traced = {whole(line, "begin_unix_ns") for line in json_lines(data) if line.get("run_metadata")}
    return [step for step in times(data) if step[1] not in traced]


def read(files: CaptureFiles, traced: bool) -> None:
    """Adds the rows of step_stored. traced: an XPlane of the capture has the steps, more exactly."""
    data = files.data.get(NAME, b"")
    steps = _steps_and_kinds(data)
    lines = number_of_lines(data)
    if odd := lines - len(steps):
        files.seen += odd
        tell = units.agree(odd, "tells", "tell")
        files.damaged(f"{NAME}: {odd:,} of {units.count(lines, 'line')} {tell} no step", odd)
    if traced:
        return
    if _has_run_metadata(files.record):
        # Runs that were traced in full are steps by themselves, unless others ran as ever and were sampled.
        steps = [found for found in steps if found[0][3]] if "stacks.ndjson" in files.data else []
    # A moment that was kept may be about one step, beside those that ran as ever.
    kept = files.record.get("kept")
    unrecorded = "the recorder saw it, and did not trace it"
    if isinstance(kept, dict) and whole(kept, "step") is not None:
        left_out = "kept beside the one that was out of the ordinary"
    else:
        # Nothing shows where the others spend their time, and the first of them set everything up.
        sampled = "stacks.ndjson" in files.data and any(step[3] for step, _ in steps)
        left_out = unrecorded if sampled else ""
    rows = []
    for (number, begin, end, recorded), kind in steps:
        ts_ps, end_ps = files.time(begin), files.time(end)
        files.seen += 1
        if ts_ps is None or end_ps is None:
            files.damaged(f"{NAME}: a step is too far from the start of the capture")
            continue
        files.stored += 1
        reason = "the recorder saw it" if recorded else left_out or unrecorded
        rows.append(_row(number, kind, ts_ps, end_ps, reason, averaged=recorded or not left_out))
    rows += _phases(files, rows)
    files.add("step_stored", rows)


def _phases(files: CaptureFiles, steps: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Rows for what an Estimator did between steps, numbered after all of these."""
    number, odd = max((row["step"] for row in steps), default=-1), 0
    for line in files.lines(PHASES):
        kind, runs = _kind(line), whole(line, "runs")
        ts_ps, end_ps = files.time(whole(line, "begin_unix_ns")), files.time(whole(line, "end_unix_ns"))
        if kind == "unknown" or runs is None or ts_ps is None or end_ps is None or end_ps < ts_ps:
            odd += 1
            continue
        number += 1
        reason = f"an Estimator ran sessions {units.count(runs, 'time')} for it, between two steps"
        yield _row(number, kind, ts_ps, end_ps, reason, averaged=False, recovered_from="estimator")
    files.unused(PHASES, odd)


def _kind(line: Mapping[str, Any]) -> str:
    """The kind of a step, or of what lies between two, as the recorder saw it."""
    return str(line["phase"]) if line.get("phase") in _KINDS else "unknown"


def _has_run_metadata(record: Mapping[str, Any]) -> bool:
    """Whether a capture says that it has such files."""
    files = record.get("files")
    return isinstance(files, list) and any(
        isinstance(file, dict) and file.get("kind") == "run_metadata" for file in files
    )


def _row(
    number: int,
    kind: str,
    ts_ps: int,
    end_ps: int,
    reason: str,
    averaged: bool,
    recovered_from: str = "recorder",
) -> dict[str, Any]:
    """A row of step_stored."""
    return {
        "step": number,
        "name": "step",
        "kind": kind,
        "recovered_from": recovered_from,
        "ts_ps": ts_ps,
        "dur_ps": end_ps - ts_ps,
        "averaged": averaged,
        "reason": reason,
        "work": None,
    }
