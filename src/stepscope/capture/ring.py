"""The last steps of a program in full: what `record --ring N` keeps in memory, and writes when it matters.

Kept are the times of the last steps, what the stacks of all threads were in them, and memory and processor
time of the process. A moment that is kept becomes a capture folder of its own, which is read like any other.
What is held is bounded: steps by their number, looks by their size, stacks by how many different there are.
"""

from collections import Counter, deque
from pathlib import Path
from typing import Any, Deque, Dict, List, NamedTuple, Optional, Sequence, Tuple

from . import clocks
from .folder import FORMAT, text, write_whole
from .looker import Look, Looker

FOLDER = "ring"
"""Within the capture folder: a capture for each saved moment."""
STEPS = 100
MOST_THREADS = 32
MOST_BYTES = 8 << 20
"""Of looks."""
MOST_STACKS = 20_000
"""With more different stacks, all samples so far are dropped."""
LEAST_NS = 10_000_000_000
"""Samples of this period are always kept."""
MOST_SAMPLES = 600
"""Of the process, one a second."""

Place = Tuple[str, int, str]
"""File, line and function; no file where none of the program's ran."""
_COPIED = (
    "recorder", "mode", "argv", "cwd_name", "flags", "cores", "memory_bytes", "host", "pid", "versions",
    "framework", "devices", "plan",
)  # fmt: skip
"""What capture.json of a moment has in common with that of the whole recording."""


class StepTimes(NamedTuple):
    """A step. Times are Unix nanoseconds."""

    number: int
    begin_ns: int
    call_ns: int
    end_ns: int


class SeenLooks(NamedTuple):
    """Samples, and the stacks of their numbers."""

    looks: List[Look]
    stacks: "_Stacks"

    def places(self) -> "Counter[Place]":
        """The innermost lines of the program in which the thread of the steps was, and how often."""
        return Counter(self.stacks.place(look.driver) for look in self.looks)

    def longest_stacks(self, most: int) -> Dict[str, Any]:
        """The stacks in which the thread of the steps was most: `frames`, and of each of `stacks` its share,
        the part of that time in which the thread ran, where that is known, and its frames from the outermost
        on."""
        ran = _ran(self.looks)
        numbers: Dict[int, int] = {}
        frames: List[List[Any]] = []
        stack_lines = []
        for stack, looks in Counter(look.driver for look in self.looks).most_common(most):
            known = ran.get(stack, [])
            on = []
            for frame in self.stacks.frames_of(stack):
                number = numbers.setdefault(frame["frame"], len(frames))
                if number == len(frames):
                    frames.append([frame.get(key) for key in ("function", "file", "line", "code")])
                on.append(number)
            stack_lines.append(
                {
                    "share": round(looks / len(self.looks), 4),
                    "ran": round(sum(known) / len(known), 3) if known else None,
                    "frames": on,
                }
            )
        return {"frames": frames, "stacks": stack_lines}


class Moment(NamedTuple):
    """A moment to save, as it was then."""

    name: str
    why: str
    odd: Optional[StepTimes]
    """The step that it is about; None for all."""
    steps: List[StepTimes]
    seen: SeenLooks
    samples: List[Dict[str, Any]]


class _Stacks:
    """Samples since a moment, and the stacks that they refer to."""

    def __init__(self, driver: int, loop: Optional[int]) -> None:
        self.frames: List[Dict[str, Any]] = []
        self.stacks: List[Tuple[Optional[int], int]] = []
        """The stack around it, and the frame on top."""
        self.threads: List[Dict[str, Any]] = []
        self.looks: Deque[Look] = deque()
        self.looker = Looker(self._write, driver, loop, MOST_THREADS)
        self._bytes = 0

    def look(self, late_ns: int) -> None:
        """Takes a sample, and drops the oldest when there are too many."""
        seen = self.looker.look(late_ns)
        self.looks.append(seen)
        self._bytes += len(seen.line)
        while self._bytes > MOST_BYTES:
            self._drop()

    def drop_before(self, unix_ns: int) -> None:
        """Drops samples from before a moment."""
        while self.looks and self.looks[0].unix_ns < unix_ns:
            self._drop()

    def _drop(self) -> None:
        self._bytes -= len(self.looks.popleft().line)

    def _write(self, line: Dict[str, Any]) -> None:
        if "function" in line:
            self.frames.append(line)
        elif "stack" in line:
            self.stacks.append((line["in"], line["frame"]))
        else:
            self.threads.append(line)

    def lines(self) -> List[str]:
        """As in stacks.ndjson."""
        stacks = [
            {"stack": number, "in": around, "frame": frame}
            for number, (around, frame) in enumerate(list(self.stacks))
        ]
        return [text(line) for line in [*list(self.frames), *stacks, *list(self.threads)]]

    def frames_of(self, stack: Optional[int]) -> List[Dict[str, Any]]:
        """From the outermost to the innermost."""
        found = []
        while stack is not None:
            stack, frame = self.stacks[stack]
            found.append(self.frames[frame])
        return found[::-1]

    def place(self, stack: Optional[int]) -> Place:
        """The innermost line of the program."""
        while stack is not None:
            stack, number = self.stacks[stack]
            frame = self.frames[number]
            if frame.get("code") == "program":
                return (frame.get("file") or "", frame.get("line") or 0, frame["function"])
        return ("", 0, "")


class Ring:
    """Keeps the last steps. driver: identity of the thread that runs them. loop: identity of the code with
    their loop. Looks are one thread's; steps come from another."""

    def __init__(self, steps: int, driver: int, loop: Optional[int] = None) -> None:
        self._driver = driver
        self._loop = loop
        self._steps: Deque[StepTimes] = deque(maxlen=steps)
        self._samples: Deque[Dict[str, Any]] = deque(maxlen=MOST_SAMPLES)
        self._stacks = _Stacks(driver, loop)

    def look(self, late_ns: int) -> None:
        """Samples the stacks of all threads."""
        if len(self._stacks.stacks) >= MOST_STACKS:
            self._stacks.looker.close()
            self._stacks = _Stacks(self._driver, self._loop)
        self._stacks.look(late_ns)

    def sample(self, rss_bytes: int) -> None:
        """Stores the resources of the process, and drops samples of steps that are no longer kept."""
        now = clocks.time_ns()
        line = {"unix_ns": now, "process_cpu_ns": clocks.process_time_ns(), "rss_bytes": rss_bytes}
        self._samples.append(line)
        steps = _copy(self._steps)
        oldest = steps[0].begin_ns if steps else now
        self._stacks.drop_before(min(oldest, now - LEAST_NS))

    def stepped(self, step: StepTimes) -> None:
        """A step ended."""
        self._steps.append(step)

    def last(self) -> Optional[StepTimes]:
        """The step that ended last."""
        steps = _copy(self._steps)
        return steps[-1] if steps else None

    def seen(self, begin_unix_ns: int) -> SeenLooks:
        """Samples since then."""
        stacks = self._stacks
        return SeenLooks([look for look in _copy(stacks.looks) if look.unix_ns >= begin_unix_ns], stacks)

    def memory(self, most: int) -> Dict[str, Any]:
        """The last samples of the memory of the process, and the time from the first of them to the last."""
        samples = _copy(self._samples)[-most:]
        return {
            "recent_rss_bytes": [sample["rss_bytes"] for sample in samples],
            "recent_rss_ns": samples[-1]["unix_ns"] - samples[0]["unix_ns"] if samples else 0,
        }

    def moment(self, name: str, why: str, odd: Optional[StepTimes] = None) -> Moment:
        """The current contents. odd: the step that stands out, which may not have ended."""
        steps = _copy(self._steps)
        if odd is not None and odd not in steps:
            steps.append(odd)
        begin_ns = steps[0].begin_ns
        samples = [line for line in _copy(self._samples) if line["unix_ns"] >= begin_ns - 2_000_000_000]
        return Moment(name, why, odd, steps, self.seen(begin_ns), samples)

    def close(self) -> None:
        """Drops the threads."""
        self._stacks.looker.close()


def _ran(looks: Sequence[Look]) -> Dict[Optional[int], List[float]]:
    """By stack of the driving thread: the part of the time before each look in which it ran."""
    found: Dict[Optional[int], List[float]] = {}
    for before, look in zip(looks, looks[1:]):
        if before.driver_active_ns is not None and look.driver_active_ns is not None:
            part = (look.driver_active_ns - before.driver_active_ns) / max(look.unix_ns - before.unix_ns, 1)
            found.setdefault(look.driver, []).append(min(max(part, 0.0), 1.0))
    return found


def write(moment: Moment, home: Path, facts: Dict[str, Any], how: str, name: str) -> Path:
    """Writes a capture folder into the one at `home`, whose capture.json says `facts`; OSError where it
    cannot. how, name: of the calls that mark the steps."""
    place = home / FOLDER / moment.name
    place.mkdir(parents=True, exist_ok=True)
    steps = [
        {
            "step": step.number,
            "begin_unix_ns": step.begin_ns,
            "end_unix_ns": step.end_ns,
            "how": how,
            "recorded": moment.odd is None or step == moment.odd,
            "call_unix_ns": step.call_ns,
        }
        for step in moment.steps
    ]
    begin_ns, end_ns = moment.steps[0].begin_ns, moment.steps[-1].end_ns
    looks = [text({"begin_unix_ns": begin_ns}), *(look.line for look in moment.seen.looks)]
    files = {
        "steps": [text(step) for step in steps],
        "machine": [text(sample) for sample in moment.samples],
        "stacks": [*moment.seen.stacks.lines(), *looks, text({"end_unix_ns": end_ns})],
    }
    for kind, lines in files.items():
        data = "".join(f"{line}\n" for line in lines).encode("utf-8")
        write_whole(place / f"{kind}.ndjson", data)
    session = {"first_step": moment.steps[0].number, "how": how, "name": name, "steps": len(steps)}
    members = {key: facts[key] for key in _COPIED if key in facts}
    members = {"format": FORMAT, **members, "started_unix_ns": begin_ns, "ended_unix_ns": end_ns}
    members["kept"] = {"why": moment.why, "step": None if moment.odd is None else moment.odd.number}
    members["recorded"] = {"steps": sum(1 for step in steps if step["recorded"]), "sessions": 1}
    members["sessions"] = [{**session, "begin_unix_ns": begin_ns, "end_unix_ns": end_ns}]
    members["files"] = [{"path": f"{kind}.ndjson", "kind": kind} for kind in files]
    members["problems"] = []
    # The last of all: with it the folder is a recording.
    write_whole(place / "capture.json", text(members, indent=1).encode("utf-8") + b"\n")
    return place


def _copy(values: "Deque[Any]") -> List[Any]:
    """The values of a ring that another thread may be filling."""
    while True:
        try:
            return list(values)
        except RuntimeError:  # it was filled meanwhile, where threads do not take turns
            continue
