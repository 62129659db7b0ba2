# mypy: ignore-errors
# ruff: noqa: PTH123, UP032
"""Runs inside gdb, in its own Python of any version: lets a program run until a breakpoint, prints stacks.

gdb takes most of its time for symbols, of which TensorFlow has a million. So none are read until a library
is loaded that has the name of a function that is waited for; at the breakpoint, those of libraries follow in
which threads are. `STEPSCOPE_PLAN` is the path of the plan, a JSON object:

    functions   names for gdb's `break`
    needles     bytes, as text, one of which is in each library with such a function; null: all libraries
    pid         the process to attach to, or null: gdb has a program to start
    py_spy      arguments of py-spy without the number of the process, or null
    python      the file for what it prints
"""

import json
import mmap
import re
import subprocess

import gdb

_MOST_FRAMES = 500
with open(STEPSCOPE_PLAN) as _file:  # noqa: F821  gdb has set it
    _PLAN = json.load(_file)
_stops = []  # the last events of gdb
_seen = set()  # files that were looked into, or whose symbols are read


def _do(command):
    try:
        gdb.execute(command)
    except gdb.error as error:
        print(error)  # into the log: what gdb could not do
    except KeyboardInterrupt:
        _stops.append(None)  # waiting was to end


def _pid():
    return gdb.selected_inferior().pid


def _mapped():
    """The files of libraries in the memory of the process."""
    try:
        with open("/proc/{}/maps".format(_pid())) as file:
            return {
                line.split(None, 5)[5].rstrip("\n") for line in file if line.count("/") and " r-xp " in line
            }
    except (OSError, IndexError):
        return set()


def _read_symbols(path):
    name = re.sub(r"\W", ".", path.rpartition("/")[2])
    _do("sharedlibrary " + name)


def _arm():
    """Reads symbols of new libraries that may have a function that is waited for."""
    needles = _PLAN["needles"]
    for path in sorted(_mapped() - _seen):
        _seen.add(path)
        if needles is None or _has(path, [needle.encode() for needle in needles]):
            _read_symbols(path)


def _has(path, needles):
    try:
        with open(path, "rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):
        return False
    try:
        return any(data.find(needle) >= 0 for needle in needles)
    finally:
        data.close()


def _read_for_frames():
    """Reads symbols of the libraries that threads are in: gdb walks a stack no further than it has those."""
    chosen = gdb.selected_thread()
    read = set()
    while True:
        new = set()
        for thread in gdb.selected_inferior().threads():
            thread.switch()
            try:
                frame, depth = gdb.newest_frame(), 0
                while frame is not None and depth < _MOST_FRAMES:
                    name = gdb.solib_name(frame.pc())
                    if name is not None and name not in read:
                        new.add(name)
                    frame, depth = frame.older(), depth + 1
            except gdb.error:
                continue  # a frame that cannot be unwound: what is outside of it is not seen
        if not new:
            break
        read |= new
        for name in sorted(new):
            _read_symbols(name)
    if chosen is not None:
        chosen.switch()


def _runs_on():
    """Whether the last stop was for a library that was loaded, or on the way into another one."""
    event = _stops[-1] if _stops else None
    if not _pid() or _waited() or isinstance(event, gdb.SignalEvent):
        return False
    return not isinstance(event, gdb.BreakpointEvent) or (gdb.newest_frame().name() or "").endswith("@plt")


def _waited():
    """Whether waiting was ended by Ctrl-C."""
    return any(stop is None or getattr(stop, "stop_signal", "") == "SIGINT" for stop in _stops)


def _ask_py_spy():
    words = _PLAN["py_spy"] + [str(_pid())]
    try:
        with open(_PLAN["python"], "wb") as out:
            subprocess.call(words, stdout=out, stderr=subprocess.DEVNULL, timeout=120)
    except (OSError, subprocess.TimeoutExpired) as error:
        print(error)


def _main():
    gdb.events.stop.connect(_stops.append)
    for name in _PLAN["functions"]:
        _do("break " + name)
    _do("set stop-on-solib-events 1")
    if _PLAN["pid"] is None:
        _do("run")
    else:
        # What a program does with signals is its own business; Ctrl-C is how waiting ends.
        _do("handle all nostop noprint pass")
        _arm()
        _do("continue")
    while _runs_on():
        _arm()
        del _stops[:]
        _do("continue")
    if not _pid() or _waited():
        _do("info breakpoints")
        return  # gdb detaches as it ends
    _read_for_frames()
    for command in ("info breakpoints", "info threads", "thread apply all backtrace"):
        _do(command)
    if _PLAN["py_spy"]:
        _ask_py_spy()
    if _PLAN["pid"] is not None:
        _do("detach")


_main()
