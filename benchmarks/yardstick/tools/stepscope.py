"""stepscope: the answer of `stepscope PATH --format json`."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from benchmarks.yardstick.answer import Answer, Gain, Place
from benchmarks.yardstick.tools import Made, last
from benchmarks.yardstick.truth import LIMITS

NAME = "stepscope"
PACKAGE = "stepscope"
KINDS = ("kineto", "xplane", "nsys")
ABOUT = (
    "`answer` of `stepscope PATH --format json`: one cause, one place and the place where its time is spent, "
    "the line that calls it where the sentence names that, one op or stage. The limit of a trace is the "
    "largest of compute, communication, copy, and all other `causes` together. Busy time: "
    "`@busy_of_recording`, the union of all executions. Ops: names of `rollup_op` on devices by their sum."
)
READS_PROGRAMS = True
_KERNELS = """
SELECT r.name FROM rollup_op AS r JOIN track_place AS p USING (track_id)
WHERE p.place = 'device' AND r.is_op AND r.class <> 'copy'
GROUP BY r.name ORDER BY sum(r.total_ps) DESC LIMIT 3
"""

_GAIN = ("step_if_removed_ps", "low", "high", "saved_ps", "saved_low", "saved_high")
"""Keys of the answer, in the order of Gain."""


def program(made: Made, python: Path) -> Answer:
    """The first answer about a recorded program."""
    told, problem = _asked(python, str(made.recording))
    return Answer(problem=problem) if told is None else _answer(told)


def trace(path: Path, python: Path) -> Answer:
    """The first answer about a trace, and two of its tables."""
    told, problem = _asked(python, str(path))
    if told is None:
        return Answer(problem=problem)
    answer = _answer(told)
    devices = _rows(python, path, "@busy_of_recording")
    kernels = _rows(python, path, _KERNELS)
    return answer._replace(
        busy_ms={row["device"].lstrip("/"): row["busy_ps"] / 1e9 for row in devices},
        ops=[row["name"] for row in kernels],
    )


def _asked(python: Path, *arguments: str) -> tuple[dict[str, Any] | None, str]:
    """JSON of the summary, or why there is none."""
    command = [str(python), "-m", "stepscope", *arguments, "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return (None, last(done.stderr)) if done.returncode else (json.loads(done.stdout), "")


def _rows(python: Path, path: Path, analysis: str) -> list[dict[str, Any]]:
    told, _ = _asked(python, "query", str(path), analysis)
    return [] if told is None else list(told["rows"])


def _answer(told: dict[str, Any]) -> Answer:
    said = told["answer"] or {}
    cause = said.get("cause")
    sentence = " ".join(told["headline"][:1])
    places = [said[key] for key in ("place", "spent_in") if said.get(key)]
    caller = said.get("called_from")
    if caller and f"called in {Path(caller['file']).name}:{caller['line']} " in sentence:
        places.append(caller)
    gain = None
    if said.get("step_ps"):
        told_ps = [said[key] for key in _GAIN]
        gain = Gain(said["step_ps"] / 1e9, *(None if one is None else one / 1e9 for one in told_ps))
    return Answer(
        cause=cause,
        limit=_limit(told["causes"]) if cause else None,
        places=[Place(one["file"], one["line"], one["function"]) for one in places],
        ops=[said[key] for key in ("op_type", "op", "stage") if said.get(key)],
        gain=gain,
        high=[one["slug"] for one in told["findings"] if one["severity"] == "high"],
        step_ms=gain.step_ms if gain else None,
        said=sentence,
    )


def _limit(causes: list[dict[str, Any]]) -> str | None:
    """The largest share of a step. All that is not work of the device counts as idle time."""
    shares: dict[str, float] = {}
    for one in causes:
        kind = one["cause"] if one["cause"] in LIMITS else "idle"
        shares[kind] = shares.get(kind, 0.0) + (one["share"] or 0.0)
    return max(shares, key=lambda kind: shares[kind]) if shares else None
