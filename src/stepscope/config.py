"""Settings from the environment: the cache's place and size limit, memory, threads and patience."""

import os
import sys
from pathlib import Path

from stepscope.errors import UsageError

CACHE_BYTES = 20 << 30
"""Size limit of the cache; beyond it, the entries that were used longest ago are removed."""

_MOST_OF_REPORTS = 4 << 30

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def cache_dir() -> Path:
    """The cache: STEPSCOPE_CACHE_DIR, or `stepscope` in the user's cache folder."""
    given = os.environ.get("STEPSCOPE_CACHE_DIR")
    if given:
        return Path(given).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "stepscope"
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "stepscope"


def cache_bytes() -> int:
    """Most bytes the cache may hold: STEPSCOPE_CACHE_BYTES (such as 5G), else what `stepscope cache limit`
    wrote, else 20 GiB."""
    return _size("STEPSCOPE_CACHE_BYTES", _limit_written())


def limit_file() -> Path:
    """Where `stepscope cache limit` writes, beside the cache: who clears that keeps it."""
    folder = cache_dir()
    return folder.with_name(f"{folder.name}-limit")


def _limit_written() -> int:
    try:
        text = limit_file().read_text(encoding="utf-8").strip()
    except (OSError, ValueError):  # nobody wrote one, or it cannot be read: the usual one holds
        return CACHE_BYTES
    return int(text) if text.isascii() and text.isdecimal() and int(text) else CACHE_BYTES


_process_memory_bytes: int | None = None
_process_threads: int | None = None


def limit_process(memory_bytes: int, threads: int) -> None:
    """Gives this process limits of its own, whatever the environment says: those of a helper of the page."""
    global _process_memory_bytes, _process_threads
    _process_memory_bytes, _process_threads = memory_bytes, threads


def memory_bytes() -> int | None:
    """Most memory for SQL: STEPSCOPE_MEMORY_BYTES; None leaves it to the engine (80 % of the machine)."""
    return _process_memory_bytes or _size("STEPSCOPE_MEMORY_BYTES", 0) or None


def report_bytes() -> int:
    """The most memory for SQL of what asks for everything at once, like a report: STEPSCOPE_MEMORY_BYTES,
    else a quarter of the machine, at most 4 GiB. Beyond it, the engine goes on in a temporary file."""
    return memory_bytes() or min((machine_bytes() or 4 * _MOST_OF_REPORTS) // 4, _MOST_OF_REPORTS)


def machine_bytes() -> int | None:
    """The machine's memory; None where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # not every system knows these names
        return None


def threads() -> int:
    """Threads to use: STEPSCOPE_THREADS, or as many as the process may run on."""
    if _process_threads is not None:
        return _process_threads
    given = os.environ.get("STEPSCOPE_THREADS")
    if given:
        if not given.isdecimal() or int(given) < 1:
            raise _wrong("STEPSCOPE_THREADS", given, "a number from 1")
        return int(given)
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # only Linux says which processors a process may use
        return os.cpu_count() or 1


def spark_wait_s() -> int:
    """How long a Spark cluster may take to come up: STEPSCOPE_SPARK_WAIT_S, or a minute."""
    given = os.environ.get("STEPSCOPE_SPARK_WAIT_S")
    if not given:
        return 60
    if not (given.isascii() and given.isdigit()) or not 0 < int(given) <= 86_400:
        raise _wrong("STEPSCOPE_SPARK_WAIT_S", given, "a number of seconds from 1 to 86400")
    return int(given)


def _size(name: str, default: int) -> int:
    given = os.environ.get(name)
    if not given:
        return default
    text = given.strip().lower().removesuffix("b").removesuffix("i")
    unit = text[-1:] if text[-1:].isalpha() else ""
    number = text.removesuffix(unit)
    if unit not in _UNITS or not number.isdecimal():
        raise _wrong(name, given, "a number of bytes such as 5000000000, 500M or 5G")
    return int(number) * _UNITS[unit]


def _wrong(name: str, given: str, wanted: str) -> UsageError:
    return UsageError(
        f"The environment variable {name} has an invalid value.", seen=repr(given), todo=f"set it to {wanted}"
    )


def temporary_folder() -> str:
    """Where temporary files go, as tempfile has it: that tries the folder, for which it imports a lot."""
    named = (os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP"))
    if found := next((name for name in (*named, "/tmp") if name and Path(name).is_dir()), None):
        return str(Path(found).absolute())
    import tempfile

    return tempfile.gettempdir()
