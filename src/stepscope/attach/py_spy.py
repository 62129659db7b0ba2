"""Stacks that py-spy samples over some seconds, as files of a capture folder: the tables of a recording.

py-spy is asked for speedscope's form: frames, and for each thread the stacks of its samples in order, the
innermost frame last. It does not say when a thread began; samples of one that began later lie at the start,
which is said.
"""

import json
import os
import re
import socket
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from stepscope import strict_json
from stepscope.attach import kernel, tools
from stepscope.escapes import printable

_THREAD = re.compile(r'^(?:Process \d+ )?Thread (\d+|0x[0-9a-fA-F]+)(?: "(.*)")?$', re.DOTALL)
_MOST_BYTES = 1 << 28
_GRACE_SECONDS = 60.0
"""What py-spy may take beyond the time that it samples: it reads symbols first, and writes its file last."""


class Sampled(NamedTuple):
    """What was sampled. lines: of stacks.ndjson. looks: how many. threads: names. hot: rows with HOT. notes:
    what is missing."""

    lines: list[dict[str, Any]]
    looks: int
    threads: int
    hot: list[dict[str, Any]]
    begin_unix_ns: int
    end_unix_ns: int
    native: bool
    notes: list[str]


HOT = ("function", "file", "line", "code", "self_samples", "total_samples", "self_share", "total_share")
"""A row is a function. self_samples: looks at any thread in which it was the innermost frame; total_samples:
in which it was anywhere. Shares are of all looks at threads. line: the one seen most as the innermost."""


def sample(pid: int, seconds: float, rate: int) -> Sampled | str:
    """Samples a process; or why py-spy could not."""
    path = tools.find("py-spy")
    if path is None:
        return f"py-spy is not installed: {tools.HOW['py-spy']}"
    complaint = ""
    folder = folder_of(pid)
    with kernel.left_as_it_was(pid), tempfile.TemporaryDirectory(prefix="stepscope-attach-") as scratch:
        for native in (True, False):
            out = Path(scratch) / f"{native}.json"
            words = [path, "record", "--pid", str(pid), "--format", "speedscope", "--output", str(out)]
            words += ["--duration", str(max(1, round(seconds))), "--rate", str(rate)]
            words += ["--threads", "--idle", "--full-filenames", *(["--native"] if native else [])]
            begin = time.time_ns()
            complaint = _run(words, seconds + _GRACE_SECONDS)
            if out.is_file() and 0 < out.stat().st_size <= _MOST_BYTES:
                try:
                    speedscope = strict_json.foreign(out.read_bytes())
                    return read(speedscope, begin, rate, folder, native=native)
                except (ValueError, TypeError, KeyError, AttributeError, IndexError):
                    complaint = complaint or "its file cannot be read"
            if not kernel.is_there(pid):
                break
    return f"py-spy sampled nothing: {complaint or 'it wrote no file'}"


def _run(words: Sequence[str], seconds: float) -> str:
    _, lines = tools.outcome(words, seconds)
    if isinstance(lines, str):
        return lines
    errors = [line for line in lines if line.startswith("Error")]
    return printable(errors[0].removeprefix("Error: ")) if errors else ""


def folder_of(pid: int) -> str | None:
    """The folder in which a process runs; None where that may not be read."""
    try:
        return str(Path(f"/proc/{pid}/cwd").readlink())
    except OSError:
        return None


def read(
    speedscope: Mapping[str, Any], begin_ns: int, rate: int, folder: str | None, *, native: bool
) -> Sampled:
    """What speedscope's form says, as lines. ValueError, KeyError and the like where it is another form."""
    frames = [_frame(frame, folder) for frame in speedscope["shared"]["frames"]]
    threads = _threads(speedscope["profiles"], frames)
    looks = max((len(stacks) for _, stacks in threads), default=0)
    lines: list[dict[str, Any]] = [{"begin_unix_ns": begin_ns}]
    lines += [
        {"thread": at, "name": name, "main": name == "MainThread"} for at, (name, _) in enumerate(threads)
    ]
    known: dict[tuple[int, ...], int] = {}
    written: dict[int, int] = {}
    period = 1_000_000_000 // rate
    for look in range(looks):
        on = []
        for at, (_, stacks) in enumerate(threads):
            if look < len(stacks) and stacks[look]:
                on.append([at, _stack(tuple(stacks[look]), frames, known, written, lines)])
        lines.append({"unix_ns": begin_ns + look * period + period // 2, "late_ns": 0, "on": on})
    end_ns = begin_ns + looks * period
    lines.append({"end_unix_ns": end_ns})
    shorter = sum(len(stacks) < looks for _, stacks in threads)
    notes = []
    if shorter:
        words = "1 thread was" if shorter == 1 else f"{shorter} threads were"
        notes.append(f"{words} not there all the time; their samples lie at the start")
    if not native:
        notes.append("py-spy could not unwind C++ here: frames of Python only")
    return Sampled(lines, looks, len(threads), _hot(threads, frames), begin_ns, end_ns, native, notes)


def _threads(
    profiles: Sequence[Mapping[str, Any]], frames: Sequence[dict[str, Any] | None]
) -> list[tuple[str | None, list[list[int]]]]:
    """The name of each thread, and its stacks of frames that are shown."""
    threads = []
    for profile in profiles:
        found = _THREAD.match(str(profile["name"]))
        name = printable(found[2]) if found and found[2] else None
        stacks = [[int(at) for at in stack] for stack in profile["samples"]]
        threads.append((name, [[at for at in stack if frames[at] is not None] for stack in stacks]))
    return threads


def _stack(
    stack: tuple[int, ...],
    frames: Sequence[dict[str, Any] | None],
    known: dict[tuple[int, ...], int],
    written: dict[int, int],
    lines: list[dict[str, Any]],
) -> int:
    """The number of a stack; what is new of it becomes lines."""
    parent: int | None = None
    for end in range(1, len(stack) + 1):
        part = stack[:end]
        if part not in known:
            frame = stack[end - 1]
            if frame not in written:
                written[frame] = len(written)
                lines.append({"frame": written[frame], **(frames[frame] or {})})
            known[part] = len(known)
            lines.append({"stack": known[part], "in": parent, "frame": written[frame]})
        parent = known[part]
    assert parent is not None
    return parent


def _frame(frame: Mapping[str, Any], folder: str | None) -> dict[str, Any] | None:
    """A frame as stacks.ndjson has it; None for the line with the name of the thread."""
    name, file = str(frame["name"]), str(frame.get("file") or "")
    if not file and name.startswith("thread ("):
        return None
    line = frame.get("line")
    code, shown_file = place(file, folder)
    return {
        "function": printable(name),
        "file": printable(shown_file) or None,
        "line": int(line) if line else None,
        "module": None,
        "code": code,
    }


def place(file: str, folder: str | None) -> tuple[str, str]:
    """Whose code a file is, as frame.code has it, and the file as a recording names it."""
    if not file.endswith((".py", ".pyw", ">")) or not file:
        return "native", os.path.basename(file)  # noqa: PTH119 - a name that may hold anything
    for part in ("/site-packages/", "/dist-packages/"):
        if part in file:
            return "library", file.rpartition(part)[2]
    inside = re.search(r"/lib/python3\.\d+t?/", file)
    if inside or file.startswith("<frozen"):
        return "python", file[inside.end() :] if inside else file
    if folder is not None and file.startswith(f"{folder}/"):
        return "program", file[len(folder) + 1 :]
    return "program", file


def _hot(
    threads: Sequence[tuple[str | None, list[list[int]]]], frames: Sequence[dict[str, Any] | None]
) -> list[dict[str, Any]]:
    """Rows with HOT, the functions that are innermost most often first."""
    rows: dict[tuple[str, str | None], dict[str, Any]] = {}
    lines: defaultdict[tuple[str, str | None], Counter[int | None]] = defaultdict(Counter)
    looks = 0
    for stack in (stack for _, stacks in threads for stack in stacks if stack):
        looks += 1
        shown = [((frame["function"], frame["file"]), frame) for at in stack if (frame := frames[at])]
        for function, frame in dict(reversed(shown)).items():
            names = {name: frame[name] for name in ("function", "file", "code")}
            rows.setdefault(function, dict.fromkeys(HOT, 0) | names)["total_samples"] += 1
        innermost, frame = shown[-1]
        rows[innermost]["self_samples"] += 1
        lines[innermost][frame["line"]] += 1
    for key, row in rows.items():
        row["line"] = lines[key].most_common(1)[0][0] if lines[key] else None
        row["self_share"] = row["self_samples"] / looks
        row["total_share"] = row["total_samples"] / looks
    return sorted(
        rows.values(), key=lambda row: (-row["self_samples"], -row["total_samples"], row["function"])
    )


def files(found: Sampled, pid: int, argv: Sequence[str], version: str) -> dict[str, bytes]:
    """The files of a capture folder."""
    members = {
        "format": 1,
        "recorder": f"stepscope {version}",
        "mode": "attach",
        "argv": list(argv),
        "pid": pid,
        "host": socket.gethostname(),
        "started_unix_ns": found.begin_unix_ns,
        "ended_unix_ns": found.end_unix_ns,
        "versions": {},
        "stacks": {"looks": found.looks, "dropped": 0, "sampled_ns": found.end_unix_ns - found.begin_unix_ns},
        "problems": [],
        "files": [{"path": "stacks.ndjson", "kind": "stacks"}],
    }
    lines = "".join(json.dumps(line) + "\n" for line in found.lines)
    return {"stacks.ndjson": lines.encode(), "capture.json": (json.dumps(members, indent=1) + "\n").encode()}


def words_of(pid: int) -> list[str]:
    """The command line of a process; what cannot be read is empty."""
    try:
        data = Path(f"/proc/{pid}/cmdline").read_bytes()[:65536]
    except OSError:
        return []
    return [printable(word) for word in os.fsdecode(data).split("\0") if word]
