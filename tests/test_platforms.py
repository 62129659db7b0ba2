"""Other systems: what Windows lacks is missed by nothing that is imported, and said where it is needed.

A process of its own takes away what Windows does not have, as far as Python can, after the packages that we
depend on are imported: they have their own other side.
"""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SAMPLE = ROOT / "tests" / "samples" / "capture" / "slow_map"

AS_WINDOWS = """
import asyncio, contextlib, ctypes, importlib, importlib.util, io, json, mmap, multiprocessing, os, pathlib
import pkgutil, shutil, signal, socket, subprocess, sys, tempfile, webbrowser
import concurrent.futures.thread, importlib.metadata, getpass, zipfile, tarfile
packages = "duckdb wcwidth prompt_toolkit prompt_toolkit.history uvicorn "
packages += "h11 fsspec prompt_toolkit.completion prompt_toolkit.shortcuts prompt_toolkit.output IPython "
packages += "starlette.applications uvicorn.protocols.http.h11_impl mcp.server.stdio grpc"
for name in packages.split():
    with contextlib.suppress(ModuleNotFoundError):
        importlib.import_module(name)
for name in "fcntl resource pwd grp termios tty pty syslog readline".split():
    sys.modules[name] = None
gone = "O_DIRECTORY O_CLOEXEC O_NOFOLLOW O_NOCTTY O_NONBLOCK sched_getaffinity sysconf fork getuid geteuid "
gone += "getpgrp tcgetpgrp killpg setsid mkfifo statvfs fchmod pread pwrite"
for name in gone.split():
    if hasattr(os, name):
        delattr(os, name)
gone = "SIGKILL SIGHUP SIGQUIT SIGALRM SIGUSR1 SIGUSR2 SIGPIPE SIGXFSZ SIGCONT SIGSTOP SIGTSTP SIGWINCH "
gone += "SIGCHLD pthread_sigmask sigwait setitimer alarm siginterrupt"
for name in gone.split():
    if hasattr(signal, name):
        delattr(signal, name)
sys.path.insert(0, sys.argv[1])
"""


def as_windows(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs code in a Python that lacks what Windows lacks."""
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", AS_WINDOWS + code, str(ROOT / "src"), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=250,
    )


def test_every_module_can_be_imported() -> None:
    code = """
failed, done = {}, 0
def broken(name):
    failed[name] = "cannot be imported"
import stepscope
for found in pkgutil.walk_packages(stepscope.__path__, "stepscope.", onerror=broken):
    if found.name.endswith("__main__") or "._start" in found.name:
        continue
    try:
        importlib.import_module(found.name)
        done += 1
    except ModuleNotFoundError as error:
        extras = ("mcp", "mcp_types", "starlette", "uvicorn", "h11", "IPython", "anyio", "gdb")
        if (error.name or "").split(".")[0] not in extras:
            failed[found.name] = repr(error)
    except Exception as error:
        failed[found.name] = repr(error)
print(json.dumps([done, failed]))
"""
    ran = as_windows(code)
    assert ran.returncode == 0, ran.stderr
    done, failed = json.loads(ran.stdout.splitlines()[-1])
    assert failed == {}
    assert done > 300


def test_a_summary_without_a_cache_and_no_lake(tmp_path: Path) -> None:
    code = """
from stepscope.cli import main
code = main([sys.argv[2], "--color", "never"])
lake = main(["ingest", sys.argv[2], "--lake", sys.argv[3]])
print(json.dumps([code, lake]))
"""
    ran = as_windows(code, str(SAMPLE), str(tmp_path / "lake"))
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout.splitlines()[-1]) == [0, 2]
    assert "`slow` in" in ran.stdout
    assert "docs lake-needs-locks" in ran.stderr
    assert not (tmp_path / "lake").exists()


def test_they_are_really_gone() -> None:
    names = ["fcntl", "resource", "pwd", "termios"]
    code = """
for name in sys.argv[2:]:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        print(name)
"""
    assert as_windows(code, *names).stdout.split() == names
