"""A program that is started to be looked at: a child that may be traced, or under gdb until a breakpoint."""

import contextlib
import ctypes
import json
import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from stepscope import strict_json
from stepscope.attach import kernel, tools
from stepscope.escapes import printable

_SCRIPT = Path(__file__).with_name("gdb_script.py")
_NAME = re.compile(r"[A-Za-z_]\w*")
_GRACE_SECONDS = 120
"""For gdb to read what is left of symbols, print stacks and let the process go on."""
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


class GdbStop(NamedTuple):
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


def run_to(
    words: Sequence[str], breakpoints: Sequence[str], seconds: float, out: int, pid: int | None = None
) -> GdbStop | str:
    """Lets a program run under gdb until a breakpoint, which may be in a library that is loaded later: one
    that is started and then ended, or the process `pid`, which goes on afterwards. Or why gdb could not."""
    path = tools.find("gdb")
    if path is None:
        return f"gdb is not installed: {tools.HOW['gdb']}"
    spy = tools.find("py-spy")
    with tempfile.TemporaryDirectory(prefix="stepscope-break-") as folder:
        python, log, plan = (Path(folder) / name for name in ("python.json", "gdb.txt", "plan.json"))
        asked = [spy, "dump", "--nonblocking", "--json", "--pid"] if spy is not None else None
        told_of = {"functions": list(breakpoints), "needles": needles(breakpoints), "pid": pid}
        plan.write_text(json.dumps({**told_of, "py_spy": asked, "python": str(python)}), encoding="utf-8")
        settings = [*tools.GDB_SETTINGS, "breakpoint pending on", "confirm off", "auto-solib-add off"]
        # The program's own output goes where ours for people goes; gdb's goes into the log.
        settings += [f"logging file {log}", "logging redirect on", "logging debugredirect on"]
        line = [path, "-nx", "-batch"]
        for setting in [*settings, "logging enabled on"]:
            line += ["-iex", f"set {setting}"]
        line += ["-iex", f"python STEPSCOPE_PLAN = {str(plan)!r}"]
        if pid is not None:
            line += ["-p", str(pid), "-x", str(_SCRIPT)]
        else:
            # gdb reads neither a script nor a name in PATH; env becomes what it starts.
            line += ["-x", str(_SCRIPT), "--args", "/usr/bin/env", *words]
        try:
            complaint = _traced(line, seconds, out, gently=pid is not None)
        except OSError as error:
            return f"gdb did not start: {error.strerror}"
        text = log.read_text(errors="replace") if log.is_file() else ""
        python_output = python.read_text(errors="replace") if python.is_file() else ""
    return parsed_stop(text, python_output, complaint)


def _traced(line: Sequence[str], seconds: float, out: int, *, gently: bool) -> str | None:
    """Runs gdb; what went wrong. gently: it is asked to stop waiting, so that it takes its breakpoints out of
    a process that goes on."""
    process = subprocess.Popen(
        line,
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=subprocess.DEVNULL,
        preexec_fn=kernel.end_with_parent,
        start_new_session=gently,
        env={**os.environ, "SHELL": "/bin/sh"},  # which starts the program
    )
    try:
        process.wait(seconds)
        return None
    except subprocess.TimeoutExpired:
        return f"no breakpoint was reached in {seconds:g} s; --timeout allows more"
    finally:
        if process.poll() is None:
            if gently:
                process.send_signal(signal.SIGINT)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(_GRACE_SECONDS)
            process.kill()
            process.wait()


def needles(functions: Sequence[str]) -> list[str] | None:
    """What a library with one of these functions has in its names: of C++ ones, the length before the last
    part. None when a name does not tell, such as that of an operator or a line of a file."""
    found = []
    for function in functions:
        last = function.partition("(")[0].strip().rpartition("::")[2].removeprefix("~")
        if not _NAME.fullmatch(last):
            return None
        found += [f"{len(last)}{last}", f"\0{last}\0"] if not last.startswith("_Z") else [last]
    return found


def parsed_stop(text: str, python: str, complaint: str | None) -> GdbStop:
    """What gdb's log and py-spy's JSON say."""
    missing = [printable(pending) for pending in _PENDING.findall(text)]
    fault = _FAULT.search(text)
    stop = next(iter([*_STOP.finditer(text)][-1:]), None)  # those before were ways into other libraries
    at = None
    if stop is not None:
        at = printable(text[stop.end() :].partition("\n")[0].partition(" (")[0].removeprefix("0x"))
        at = re.sub(r"^[0-9a-f]{8,} in ", "", at)
    elif fault is not None and fault[1] not in ("SIGTRAP", "SIGINT"):
        at = f"signal {fault[1]}"
    current = _CURRENT.search(text)
    why = complaint
    if at is None and why is None:
        why = _how_it_ended(text)
    try:
        spied = tools.spied(strict_json.value(python)) if python else {}
    except (ValueError, TypeError, KeyError, AttributeError):
        spied = {}
    return GdbStop(at, int(current[1]) if current else None, tools.debugged(text), spied, missing, why)


def _how_it_ended(text: str) -> str:
    """Why gdb stopped nowhere."""
    ended, killed = _ENDED.search(text), _KILLED.search(text)
    if ended is not None:
        how = f"with code {int(ended[2], 8)}" if ended[2] else "normally"
        return f"the program ended {how}"
    if killed is not None:
        return f"the program ended by {killed[1]}"
    last = [line for line in text.splitlines() if line.strip()]
    return printable(last[-1][:300]) if last else "gdb said nothing; it must be one with Python"


def end(process: subprocess.Popen[bytes]) -> int:
    """Waits for a program that was started; Ctrl-C is for it. Its exit code, as a shell gives it."""
    while True:
        try:
            code = process.wait()
            return code if code >= 0 else 128 - code
        except KeyboardInterrupt:
            process.send_signal(signal.SIGINT)
