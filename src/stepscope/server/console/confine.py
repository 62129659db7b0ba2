"""Limits that the system imposes on the process of the console, whatever SQL makes DuckDB do.

DuckDB itself is configured to reach nothing (see stepscope.engines.duckdb), and only a SELECT runs. This is
the second wall: no file can be written, made, removed or run, and no connection opened; memory and time are
limited. Linux has all of it, macOS the limits without Landlock, Windows nothing.
"""

import ctypes
import os
import signal
import sys
from pathlib import Path

from stepscope.server import threads

try:
    import resource
except ModuleNotFoundError:  # Windows, where only the first wall exists
    resource = None  # type: ignore[assignment]

# The same numbers on every processor that Linux supports.
_CREATE_RULESET, _RESTRICT_SELF = 444, 446
_VERSION = 1
_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38

# Rights over files, by version of Landlock. All are dropped, but those to read files and folders.
_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
_FILES = {1: (1 << 13) - 1, 2: 1 << 13, 3: 1 << 14, 5: 1 << 15}
_NETWORK = {4: (1 << 0) | (1 << 1)}  # bind and connect
_SCOPES = {6: (1 << 0) | (1 << 1)}  # abstract sockets and signals of other processes


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scopes", ctypes.c_uint64))


def forbid_writing() -> bool:
    """Drops every right of this process, its threads and children to change files, run programs and connect.
    Call it before there are threads. False where the kernel has no Landlock; then files cannot grow, and
    DuckDB is the only other wall."""
    if resource is None:
        return False
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if not sys.platform.startswith("linux"):
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return False
    known = libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION))
    if known < 1:
        return False

    def rights(by_version: dict[int, int]) -> int:
        return sum(bits for version, bits in by_version.items() if version <= known)

    rules = _Ruleset(rights(_FILES) & ~(_READ_FILE | _READ_DIR), rights(_NETWORK), rights(_SCOPES))
    size = 8 if known < 4 else 16 if known < 6 else 24
    descriptor = libc.syscall(_CREATE_RULESET, ctypes.byref(rules), ctypes.c_size_t(size), ctypes.c_uint32(0))
    if descriptor < 0:
        return False
    try:
        return bool(libc.syscall(_RESTRICT_SELF, ctypes.c_int(descriptor), ctypes.c_uint32(0)) == 0)
    finally:
        os.close(descriptor)


def give_way() -> None:
    """Lets the page go first: a moving timeline needs each frame, and a statement may take longer."""
    if hasattr(os, "nice"):
        os.nice(threads.NICE)


def limit_memory(more_bytes: int) -> None:
    """Limits how much more memory the process gets from now on. Mapped files, such as recordings in the
    cache, do not count where the system distinguishes them (Linux)."""
    if sys.platform.startswith("linux"):
        _lower(resource.RLIMIT_DATA, _used_bytes() + more_bytes)


def limit_cpu(seconds: float) -> None:
    """Limits how many more seconds of processor time the process gets."""
    if resource is None:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(used.ru_utime + used.ru_stime + seconds) + 1
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    if hard == resource.RLIM_INFINITY or soft <= hard:
        resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def _used_bytes() -> int:
    for line in Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith("VmData:"):
            return int(line.split()[1]) << 10
    return 0


def _lower(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, value))
