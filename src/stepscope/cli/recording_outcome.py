"""What a recording came to: the lines on stderr, and the row of facts of --format."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepscope.capture.folder import MOVED, stood_still_ns
from stepscope.capture.launch import complete, why_not
from stepscope.cli.console import Console
from stepscope.presenters.plain import plain

if TYPE_CHECKING:
    from stepscope.capture.launch import ProgramEnd
    from stepscope.capture.plan import RecordingPlan

FACTS = (
    "out", "steps", "recordings", "name", "problems", "stood_still_ns", "profiled_ns", "exit_code", "signal",
)  # fmt: skip
"""What --format writes of a recording. Without a recording there are no steps, and no times."""


def summary(
    outcome: ProgramEnd, plan: RecordingPlan, out: str, state: Path, started_unix_ns: int
) -> tuple[list[str], str | None]:
    """What was recorded, or why that cannot be said; and where the recording is, if there is one."""
    try:
        complete(outcome, state, started_unix_ns)
        return _lines(outcome, plan, out), _place(outcome, out) if outcome.recorded else None
    except Exception as error:  # noqa: BLE001  the exit code is the program's, whatever is wrong with our files
        seen = f"{type(error).__name__}: {error}"
        return [
            "stepscope: the recording cannot be completed",
            f"  seen:  {plain(seen, 300)}",
            f"  to do: read what is in {out}, if it is there: stepscope {out}",
        ], None


def write_facts(outcome: ProgramEnd, out: str, options: argparse.Namespace, console: Console) -> None:
    """What was recorded as one row."""
    from stepscope.cli.rows_output import write_rows

    facts = outcome.facts or {}
    recorded, sessions = facts.get("recorded", {}), facts.get("sessions") or [{}]
    cost = facts.get("cost", {})
    row = (
        _place(outcome, out) if outcome.recorded else None,
        recorded.get("steps", 0),
        recorded.get("sessions", 0),
        sessions[0].get("name"),
        "; ".join(f"{problem['what']}: {problem['seen']}" for problem in facts.get("problems", ())) or None,
        stood_still_ns(cost) if facts else None,
        cost.get("profiled_ns", 0) if facts else None,
        outcome.code,
        outcome.signal,
    )
    try:
        write_rows(FACTS, [row], console, options.format, spreadsheet=options.spreadsheet)
        console.out.flush()
    except OSError as error:  # the exit code stays the one of the program
        console.say(f"stepscope: standard output could not be written: {error.strerror}")


def _lines(outcome: ProgramEnd, plan: RecordingPlan, out: str) -> list[str]:
    if not outcome.recorded or outcome.facts is None:
        return ["stepscope: nothing was recorded", *(f"  {line}" for line in why_not(outcome, plan))]
    facts = outcome.facts
    out = _place(outcome, out)
    lines = [f"stepscope: recorded {_recorded(facts)} to {out}"]
    moved = [problem["seen"] for problem in facts["problems"] if problem["what"] == MOVED]
    lines += [f"  moved:   {seen}; copy the recording from {out}" for seen in moved]
    if (before := facts.get("given_up")) is not None:
        lines.append(
            f"  dropped: {before['steps']} steps of {before['name']}, a loop that set up or evaluated"
        )
    lines.append(f"  kept:    {_files(facts['files'])}")
    lines.append(f"  cost:    {_cost(facts['cost'])}")
    lines += _sibling_lines(outcome)
    missing = [problem for problem in facts["problems"] if problem["what"] != MOVED]
    return lines + [f"  missing: {problem['what']}: {problem['seen']}" for problem in missing]


def _sibling_lines(outcome: ProgramEnd) -> list[str]:
    """The processes of the program that took steps as well."""
    if not outcome.beside:
        return []
    script, steps = outcome.beside[0]
    more = len(outcome.beside) - 1
    others = f", as did {more} more process{'es' * (more != 1)}," if more else ""
    took = f"{plain(script, 60) or 'a child'} took steps ({plain(steps, 60)})"
    return [f"  beside:  {took}{others} and was not recorded: the first process that warms up is"]


def _place(outcome: ProgramEnd, out: str) -> str:
    """Where the recording is: in the folder asked for, unless that could not be written any more."""
    return out if outcome.asked is None else str(outcome.out)


def _recorded(facts: dict[str, Any]) -> str:
    steps, sessions = facts["recorded"]["steps"], facts["recorded"]["sessions"]
    name = facts["sessions"][0]["name"] if facts["sessions"] else "the program"
    text = f"{steps} step{'s' * (steps != 1)} of {name}"
    return text + (f" in {sessions} recordings" if sessions > 1 else "")


def _files(files: list[dict[str, Any]]) -> str:
    counts = Counter(file["kind"] for file in files)
    return ", ".join(f"{many} x {kind}" if many > 1 else kind for kind, many in counts.items())


def _cost(cost: dict[str, int]) -> str:
    profiled = cost.get("profiled_ns", 0)
    return f"{stood_still_ns(cost) / 1e9:.2f} s standing still, {profiled / 1e9:.2f} s under the profiler"
