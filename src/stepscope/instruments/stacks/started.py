"""A program that is started to be looked at: a child that may be traced, or under gdb until a breakpoint."""

from __future__ import annotations

import ctypes
import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from stepscope import strict_json
from stepscope.instruments.stacks import kernel, tools
from stepscope.lake.rows import printable

_PR_SET_PTRACER = 0x59616D61
_ANYBODY = -1
_STOP = re.compile(
    r'^(?:Thread \d+ (?:"[^"]*" )?hit )?(?:Temporary )?[Bb]reakpoint \d+(?:\.\d+)?, ', re.MULTILINE
)
_ENDED = re.compile(r"^\[Inferior \d+ \(.*?\) exited (normally|with code 0?(\d+))\]", re.MULTILINE)
_KILLED = re.compile(r"^Program terminated with signal (\w+)", re.MULTILINE)
_FAULT = re.compile(r'^(?:Program|Thread \d+ "[^"]*") received signal (\w+)', re.MULTILINE)
_PENDING = re.compile(r"^\d+ +breakpoint +\w+ +\w+ +<PENDING> +(\S.*?) *$", re.MULTILINE)
_CURRENT = re.compile(r"^\* *\d+ +Thread .*?\(LWP (\d+)\)", re.MULTILINE)


class Stopped(NamedTuple):
    """What gdb saw. at: the breakpoint, or None where the program ended before. tid: the thread that stopped.
    native: frames by thread; python: frames by thread where py-spy could read them. missing: breakpoints of
    which no library had the function. why: how the program ended, or what went wrong."""

    at: str | None
    tid: int | None
    native: tools.Stacks
    python: tools.Stacks
    missing: list[str]
    why: str | None


def start(words: Sequence[str], out: int) -> subprocess.Popen[bytes]:
    """Starts a program as a child that any process of the user may trace, also where only parents may. out:
    the descriptor for what it prints. OSError where it cannot be started."""

    def allowed() -> None:
        ctypes.CDLL(None).prctl(_PR_SET_PTRACER, ctypes.c_ulong(_ANYBODY & (2**64 - 1)), 0, 0, 0)

    return subprocess.Popen(words, stdout=out, preexec_fn=allowed)


def run_to(words: Sequence[str], breakpoints: Sequence[str], seconds: float, out: int) -> Stopped | str:
    """Runs a program under gdb until a breakpoint, which may be in a library that is loaded later; then it is
    ended. Or why gdb could not."""
    path = tools.find("gdb")
    if path is None:
        return f"gdb is not installed: {tools.HOW['gdb']}"
    spy = tools.find("py-spy")
    with tempfile.TemporaryDirectory(prefix="stepscope-break-") as folder:
        python, log = Path(folder) / "python.json", Path(folder) / "gdb.txt"
        commands = [*map("set {}".format, tools.GDB_SETTINGS), "set breakpoint pending on"]
        commands += ["set confirm off", f"set logging file {log}"]
        commands += ["set logging redirect on", "set logging debugredirect on", "set logging enabled on"]
        commands += [f"break {one}" for one in breakpoints]
        # The program's own output goes where ours for people goes; gdb's goes into the log.
        commands += ["run", "info breakpoints", "info threads", "thread apply all backtrace"]
        if spy is not None:
            words_of_spy = f"[{spy!r}, 'dump', '--nonblocking', '--json', '--pid', str(pid)]"
            asked = f"s.run({words_of_spy}, stdout=s.PIPE, stderr=s.DEVNULL, timeout=120).stdout"
            pid = "pid = gdb.selected_inferior().pid"
            commands.append(
                f"python import subprocess as s; {pid}; pid and open({str(python)!r}, 'wb').write({asked})"
            )
        line = [path, "-nx", "-batch", "-iex", "set auto-load off", "-iex", "set debuginfod enabled off"]
        for one in commands:
            line += ["-ex", one]
        # gdb reads neither a script nor a name in PATH; env becomes what it starts.
        line += ["--args", "/usr/bin/env", *words]
        complaint = None
        try:
            subprocess.run(
                line,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.DEVNULL,
                timeout=seconds,
                check=False,
                preexec_fn=kernel.end_with_parent,
                env={**os.environ, "SHELL": "/bin/sh"},  # which starts the program
            )
        except subprocess.TimeoutExpired:
            complaint = f"no breakpoint was reached in {seconds:g} s; --timeout allows more"
        except OSError as error:
            return f"gdb did not start: {error.strerror}"
        text = log.read_text(errors="replace") if log.is_file() else ""
        said = python.read_text(errors="replace") if python.is_file() else ""
    return told(text, said, complaint)


def told(text: str, python: str, complaint: str | None) -> Stopped:
    """What gdb's log and py-spy's JSON say."""
    missing = [printable(one) for one in _PENDING.findall(text)]
    fault = _FAULT.search(text)
    stop = _STOP.search(text)
    at = None
    if stop is not None:
        at = printable(text[stop.end() :].partition("\n")[0].partition(" (")[0].removeprefix("0x"))
        at = re.sub(r"^[0-9a-f]{8,} in ", "", at)
    elif fault is not None and fault[1] not in ("SIGTRAP",):
        at = f"signal {fault[1]}"
    current = _CURRENT.search(text)
    why = complaint
    if at is None and why is None:
        ended, killed = _ENDED.search(text), _KILLED.search(text)
        if ended is not None:
            how = f"with code {int(ended[2], 8)}" if ended[2] else "normally"
            why = f"the program ended {how}"
        elif killed is not None:
            why = f"the program ended by {killed[1]}"
        else:
            last = [line for line in text.splitlines() if line.strip()]
            why = printable(last[-1][:300]) if last else "gdb said nothing"
    try:
        spied = tools.spied(strict_json.told(python)) if python else {}
    except (ValueError, TypeError, KeyError, AttributeError):
        spied = {}
    return Stopped(at, int(current[1]) if current else None, tools.debugged(text), spied, missing, why)


def end(process: subprocess.Popen[bytes]) -> int:
    """Waits for a program that was started; Ctrl-C is for it. Its exit code, as a shell gives it."""
    while True:
        try:
            code = process.wait()
            return code if code >= 0 else 128 - code
        except KeyboardInterrupt:
            process.send_signal(signal.SIGINT)
