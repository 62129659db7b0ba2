"""Runs a command so that it is recorded, and tells how that went: the launcher of `stepscope record`."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Iterator, Sequence

from .folder import write_whole
from .pace import why_no_steps
from .plan import Plan
from .quiet import write

START = Path(__file__).resolve().parent / "_start"
"""The folder that is put first on PYTHONPATH; it holds sitecustomize.py and nothing else."""


class Outcome:
    """How the program ended, and what is known of the recording. code: None when a signal ended it."""

    def __init__(self, returncode: int, state: Path, out: Path) -> None:
        self.code = returncode if returncode >= 0 else None
        self.signal = -returncode if returncode < 0 else None
        self.out = out
        self.pythons = _notes(state, "python-*")
        self.frameworks = _notes(state, "framework-*")
        self.seen = _notes(state, "seen-*")
        self.problems = _notes(state, "problem-*")
        self.failed = [path.read_text(encoding="utf-8") for path in state.glob("failed-*")]
        claim = state / "claim"
        owner = claim.read_text(encoding="utf-8") if claim.exists() else ""
        self.errors = _notes(state, f"error-{owner or '*'}")
        self.facts = _facts(out)

    @property
    def recorded(self) -> bool:
        """True when there is at least one recorded step."""
        return bool(self.facts and self.facts["recorded"]["steps"])


def launch(command: Sequence[str], plan: Plan) -> Outcome:
    """Runs the command and waits for it. Signals to this process are passed on. OSError when the command
    cannot be started."""
    with tempfile.TemporaryDirectory(prefix="stepscope-record-") as folder:
        state = Path(folder)
        plan.state = folder
        plan.out = str(Path(plan.out).absolute())
        plan.save(state / "plan.json")
        before = time.time_ns()
        returncode = _run(command, _environment(state / "plan.json"))
        for path in sorted(state.glob("stderr-*")):
            write(path.read_bytes())
        outcome = Outcome(returncode, state, Path(plan.out))
        _complete(outcome, before)
        return outcome


def _environment(plan: Path) -> dict[str, str]:
    environment = dict(os.environ)
    there = environment.get("PYTHONPATH")
    environment["PYTHONPATH"] = str(START) + (os.pathsep + there if there else "")
    environment["STEPSCOPE_RECORD"] = str(plan)
    return environment


def _run(command: Sequence[str], environment: dict[str, str]) -> int:
    with _passed_on() as passing:
        child = subprocess.Popen(list(command), env=environment)
        passing.append(child)
        while True:
            try:
                return child.wait()
            except KeyboardInterrupt:
                # A terminal has sent it to the program, too. What to do is the program's decision.
                if not sys.stdin or not sys.stdin.isatty():
                    child.send_signal(signal.SIGINT)


@contextlib.contextmanager
def _passed_on() -> Iterator[list[subprocess.Popen[bytes]]]:
    """While it lasts, signals to this process go to the child that is put into the list."""
    children: list[subprocess.Popen[bytes]] = []

    def pass_on(number: int, frame: Any) -> None:
        for child in children:
            child.send_signal(number)

    before = {}
    try:
        for name in ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2"):
            number = getattr(signal, name, None)
            if number is not None:
                before[number] = signal.signal(number, pass_on)
    except ValueError:  # not in the main thread: the caller handles signals
        before = {}
    try:
        yield children
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _complete(outcome: Outcome, started_unix_ns: int) -> None:
    """Adds to capture.json what only this side knows: how the program ended."""
    facts = outcome.facts
    if facts is None:
        return
    facts["exit"] = {
        "code": outcome.code,
        "signal": outcome.signal,
        "error": outcome.errors[0] if outcome.errors else None,
    }
    facts["program"] = {"started_unix_ns": started_unix_ns, "ended_unix_ns": time.time_ns()}
    if facts["ended_unix_ns"] is None:
        # The process was gone before the recording was complete.
        facts["ended_unix_ns"] = facts["program"]["ended_unix_ns"]
        facts["problems"].append(
            {
                "what": "the recording was cut off",
                "seen": f"the process ended with {ending(outcome)} while it was recorded",
                "todo": "what was written until then is here; record earlier steps with --warmup and --steps",
            }
        )
        facts["recorded"]["steps"] = max(facts["recorded"]["steps"], _steps(outcome.out))
        listed = {file["path"] for file in facts["files"]}
        for name, kind in (("steps.ndjson", "steps"), ("machine.ndjson", "machine")):
            if name not in listed and (outcome.out / name).exists():
                facts["files"].append({"path": name, "kind": kind})
    write_whole(
        outcome.out / "capture.json", json.dumps(facts, indent=1, ensure_ascii=False).encode("utf-8") + b"\n"
    )


def ending(outcome: Outcome) -> str:
    """exit code 1, signal SIGKILL."""
    if outcome.signal is None:
        return f"exit code {outcome.code}"
    try:
        return f"signal {signal.Signals(outcome.signal).name}"
    except ValueError:
        return f"signal {outcome.signal}"


def why_not(outcome: Outcome, plan: Plan) -> list[str]:
    """Why nothing was recorded: what was seen, and what to do, a sentence a line."""
    if outcome.problems:
        return [f"{what}: {seen}. {todo[:1].upper()}{todo[1:]}." for what, seen, todo in outcome.problems]
    if outcome.failed:
        return [f"the recorder could not start: {outcome.failed[0]}"]
    if not outcome.pythons:
        return [
            "no Python was started that reads PYTHONPATH.",
            "python -I and -E do not, a script may set PYTHONPATH anew, and a container or another machine "
            "gets no environment from here.",
        ]
    ended = "" if outcome.code == 0 else f"; it ended with {ending(outcome)}"
    if not outcome.frameworks:
        return [f"the program imported none of TensorFlow, JAX and Keras{ended}."]
    calls = [call for seen in outcome.seen for call in seen["calls"]]
    names = ", ".join(sorted({name for names in outcome.frameworks for name in names}))
    if not calls:
        todo = "Mark the steps of a loop of its own with stepscope.capture.step(i)."
    else:
        todo = "Let it run longer, or wait less: --warmup 0."
    return [f"{why_no_steps(calls, plan.warmup)}{ended} ({names} was imported).", todo]


def _steps(out: Path) -> int:
    path = out / "steps.ndjson"
    if not path.exists():
        return 0
    return sum(b'"recorded": true' in line for line in path.read_bytes().splitlines())


def _facts(out: Path) -> dict[str, Any] | None:
    path = out / "capture.json"
    if not path.exists():
        return None
    facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return facts


def _notes(state: Path, pattern: str) -> list[Any]:
    found = []
    for path in sorted(state.glob(pattern)):
        try:
            found.append(json.loads(path.read_text(encoding="utf-8")))
        except ValueError:  # the process was killed while it wrote
            print(f"stepscope: {path.name} was not written to its end", file=sys.stderr)
    return found
