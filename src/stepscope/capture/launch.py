"""The launcher of `stepscope record`: runs a command with recording on, and reports the result."""

import contextlib
import json
import os
import signal
import sys
import threading
from pathlib import Path
from shlex import quote
from typing import Any, Callable, Dict, List, Optional, Sequence, Set, Tuple

from . import clocks
from .folder import write_whole
from .log_filter import write
from .pace import unsettled, why_no_steps
from .plan import RecordingPlan
from .scratch import prepared, uses
from .signals import Passing

__all__ = ["START", "ProgramEnd", "Telling", "complete", "launch", "prepared", "why_not"]

START = Path(__file__).resolve().parent / "_start"
"""The folder that comes first on PYTHONPATH; it contains only sitecustomize.py."""


class ProgramEnd:
    """How the program ended. code: None when a signal ended it; signal: None when none did."""

    def __init__(self, returncode: int, out: Path) -> None:
        self.code = returncode if returncode >= 0 else None
        self.signal = -returncode if returncode < 0 else None
        self.out = out
        self.asked: Optional[Path] = None
        """The requested folder, when that could not be written and the recording is elsewhere."""
        self.facts: Optional[Dict[str, Any]] = None
        """The content of capture.json, after read()."""
        self.pythons: List[Path] = []
        self.frameworks: List[Any] = []
        self.seen: List[Any] = []
        self.problems: List[Any] = []
        self.errors: List[Any] = []
        self.beside: List[Any] = []
        """Other processes that took steps: the script, and the kind of its steps."""
        self.failed: List[str] = []
        self.unfit: List[str] = []

    def read(self, state: Path) -> None:
        """Reads the notes of the processes, and capture.json. OSError, ValueError, LookupError or TypeError
        when these are damaged."""
        self.pythons = list(state.glob("python-*"))
        self.frameworks = _notes(state, "framework-*")
        self.seen = _notes(state, "seen-*")
        self.problems = _notes(state, "problem-*")
        self.beside = _notes(state, "beside-*")
        self.failed, self.unfit = (
            sorted({path.read_text(encoding="utf-8", errors="replace") for path in state.glob(f"{kind}-*")})
            for kind in ("failed", "unfit")
        )
        claim = state / "claim"
        owner = claim.read_text(encoding="utf-8") if claim.exists() else ""
        self.errors = _notes(state, f"error-{owner or '*'}")
        moved = _notes(state, f"moved-{owner or '*'}")
        if moved:
            self.asked, self.out = self.out, Path(moved[-1])
        self.facts = _facts(self.out)

    @property
    def recorded(self) -> bool:
        """True when there is at least one recorded step."""
        return bool(self.facts and self.facts["recorded"]["steps"])


class Telling:
    """Reports while the program runs that a recording begins, and when it is complete. say: takes a line for
    people. shown: the folder as typed; asked: the folder as processes name it. started_unix_ns: start of the
    program."""

    def __init__(
        self, state: Path, say: Callable[[str], None], asked: str, shown: str, started_unix_ns: int
    ) -> None:
        self._state = state
        self._say = say
        self._asked = asked
        self._shown = shown
        self._started_unix_ns = started_unix_ns
        self._announced: Set[Tuple[str, str]] = set()
        """Steps that were reported; of repeated recordings, only the first is."""
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="stepscope-telling", daemon=True)

    def __enter__(self) -> "Telling":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        self._thread.join(2.0)

    def look(self) -> None:
        """Reports what has happened since the last look."""
        for kind, sentence in (("recording", self._begun), ("recorded", self._ended), ("kept", self._kept)):
            for path in sorted(self._state.glob(f"{kind}-*")):
                try:
                    name, steps, unix_ns, out = json.loads(path.read_text(encoding="utf-8"))
                except ValueError:  # it is being written
                    continue
                if (kind, name) not in self._announced:
                    self._announced.add((kind, name))
                    inside = out[len(self._asked) :] if f"{out}/".startswith(f"{self._asked}/") else None
                    place = quote(out if inside is None else self._shown + inside)
                    self._say(f"stepscope: {sentence(name, steps, self._elapsed(unix_ns), place)}")

    def _begun(self, name: str, first: int, after: str, place: str) -> str:
        return f"recording {name} from step {first + 1} on, {after} after the start, to {place}"

    def _ended(self, name: str, steps: int, after: str, place: str) -> str:
        return (
            f"recorded {steps} step{'s' * (steps != 1)} after {after}; look while it runs: stepscope {place}"
        )

    def _kept(self, why: str, steps: int, after: str, place: str) -> str:
        return f"{why}; the last steps are kept: stepscope {place}"

    def _elapsed(self, unix_ns: int) -> str:
        """41 s, 12 min, 3 h 5 min."""
        seconds = max(0, round((unix_ns - self._started_unix_ns) / 1e9))
        if seconds < 120:
            return f"{seconds} s"
        hours, minutes = divmod(seconds // 60, 60)
        return f"{hours} h {minutes} min" if hours else f"{minutes} min"

    def _run(self) -> None:
        with contextlib.suppress(OSError):  # stderr is closed, or the folder gone: reported at the end
            while not self._stop.wait(0.2):
                self.look()


def launch(
    command: Sequence[str],
    plan: RecordingPlan,
    state: Path,
    passing: Passing,
    say: Callable[[str], None] = lambda line: None,
    shown: Optional[str] = None,
) -> ProgramEnd:
    """Runs the command and waits for it. OSError when the command cannot be started. shown: plan.out as
    typed."""
    started_unix_ns = clocks.time_ns()
    child = passing.start(command, _environment(state / "plan.json"))
    with contextlib.suppress(OSError):  # then the folder is removed when this process ends
        uses(state, child.pid)
    with Telling(state, say, plan.out, shown or plan.out, started_unix_ns):
        return ProgramEnd(child.wait(), Path(plan.out))


def complete(outcome: ProgramEnd, state: Path, started_unix_ns: int) -> None:
    """Reads the facts about the recording, and completes capture.json. OSError, ValueError, LookupError or
    TypeError when that fails: a full disk, a damaged file. The program has ended by then, and its exit code
    is not affected."""
    for path in sorted(state.glob("stderr-*")):
        write(path.read_bytes())
    outcome.read(state)
    _complete(outcome, started_unix_ns)


def _environment(plan: Path) -> Dict[str, str]:
    environment = dict(os.environ)
    python_path = environment.get("PYTHONPATH")
    environment["PYTHONPATH"] = str(START) + (os.pathsep + python_path if python_path else "")
    environment["STEPSCOPE_RECORD"] = str(plan)
    return environment


def _complete(outcome: ProgramEnd, started_unix_ns: int) -> None:
    """Adds to capture.json how the program ended, which only the launcher knows."""
    facts = outcome.facts
    if facts is None:
        return
    facts["exit"] = {
        "code": outcome.code,
        "signal": outcome.signal,
        "error": outcome.errors[0] if outcome.errors else None,
    }
    facts["program"] = {"started_unix_ns": started_unix_ns, "ended_unix_ns": clocks.time_ns()}
    if facts["ended_unix_ns"] is None:
        # The process ended before the recording was complete.
        facts["ended_unix_ns"] = facts["program"]["ended_unix_ns"]
        facts["problems"].append(
            {
                "what": "the recording was cut off",
                "seen": f"the process ended with {ending(outcome)} while it was recorded",
                "todo": "what was written until then is here; record earlier steps with --warmup and --steps",
            }
        )
        steps = _steps(outcome.out, "recorded") or _steps(outcome.out, "run_metadata")
        facts["recorded"]["steps"] = max(facts["recorded"]["steps"], steps)
        listed = {file["path"] for file in facts["files"]}
        for kind in ("steps", "machine", "garbage", "stacks", "memory", "compilations"):
            name = f"{kind}.ndjson"
            if name not in listed and (outcome.out / name).exists():
                facts["files"].append({"path": name, "kind": kind})
    write_whole(
        outcome.out / "capture.json", json.dumps(facts, indent=1, ensure_ascii=False).encode("utf-8") + b"\n"
    )


def ending(outcome: ProgramEnd) -> str:
    """exit code 1, signal SIGKILL."""
    if outcome.signal is None:
        return f"exit code {outcome.code}"
    try:
        return f"signal {signal.Signals(outcome.signal).name}"
    except ValueError:
        return f"signal {outcome.signal}"


def why_not(outcome: ProgramEnd, plan: RecordingPlan) -> List[str]:
    """Why nothing was recorded: facts and advice, a sentence per line."""
    if outcome.problems:
        return [f"{what}: {seen}. {todo[:1].upper()}{todo[1:]}." for what, seen, todo in outcome.problems]
    if outcome.failed:
        return [f"the recorder could not start: {outcome.failed[0]}"]
    if outcome.unfit and not outcome.frameworks:
        return [f"{'; '.join(outcome.unfit)}. The program ran without it.", "Record with another Python."]
    if not outcome.pythons:
        return [
            "no Python was started that reads PYTHONPATH.",
            "python -I and -E do not, a script may replace PYTHONPATH, and a container or another machine "
            "gets no environment from here.",
        ]
    ended = "" if outcome.code == 0 else f"; it ended with {ending(outcome)}"
    if not outcome.frameworks:
        return [f"the program imported none of TensorFlow, JAX, Keras and PyTorch{ended}."]
    calls = [call for seen in outcome.seen for call in seen["calls"]]
    names = ", ".join(sorted({name for names in outcome.frameworks for name in names}))
    if not calls:
        todo = "Mark the steps of a loop of its own with stepscope.capture.step(i)."
    elif unsettled(calls):
        todo = (
            "Let it run longer. Where each step calls the same function object, --warmup 0 records at once."
        )
    else:
        todo = "Let it run longer, or wait less: --warmup 0."
    return [f"{why_no_steps(calls, plan.warmup)}{ended} ({names} was imported).", todo]


def _steps(out: Path, how: str) -> int:
    """The number of steps marked as `how` in steps.ndjson."""
    path = out / "steps.ndjson"
    if not path.exists():
        return 0
    return sum(f'"{how}": true'.encode("ascii") in line for line in path.read_bytes().splitlines())


def _facts(out: Path) -> Optional[Dict[str, Any]]:
    path = out / "capture.json"
    if not path.exists():
        return None
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except RecursionError as error:
        raise ValueError("capture.json nests too deep") from error
    if not isinstance(facts, dict):
        raise ValueError("capture.json holds no object")
    return facts


def _notes(state: Path, pattern: str) -> List[Any]:
    found = []
    for path in sorted(state.glob(pattern)):
        try:
            found.append(json.loads(path.read_text(encoding="utf-8")))
        except ValueError:  # the process was killed while it wrote
            print(f"stepscope: {path.name} was not written to its end", file=sys.stderr)
    return found
