"""A program under `stepscope record` is started and ended as it would be without: no framework is needed."""

import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.capture.launching import record

RECORD = [sys.executable, "-m", "stepscope", "record", "--out", "out", "--"]
WRITES = """import os, pathlib
pathlib.Path('out').mkdir()
pathlib.Path('capture.json').rename('out/capture.json')
os._exit(5)
"""


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe",
        b'{"recorded": null}',
        b'{"recorded": {"steps": 1}}',
        b'{"recorded": {"steps": "x"}, "files": 3, "cost": [], "problems": {}, "ended_unix_ns": null}',
        b"[" * 200_000,
        b'{"a":' * 200_000,
    ],
    ids=["empty", "cut", "list", "bytes", "null", "poor", "odd", "deep list", "deep object"],
)
def test_a_damaged_capture_json_changes_no_exit_code(text: bytes, tmp_path: Path) -> None:
    (tmp_path / "capture.json").write_bytes(text)
    done = record("--out", "out", "--", sys.executable, "-S", "-c", WRITES, cwd=tmp_path)
    assert done.returncode == 5
    assert "stepscope: " in done.stderr
    assert "Traceback" not in done.stderr


def test_a_full_disk_after_the_program_changes_no_exit_code(tmp_path: Path) -> None:
    """The launcher may write no file longer than 0 bytes once the program has ended."""
    code = (
        "import json, os, pathlib, resource; p = pathlib.Path('out'); p.mkdir();"
        "facts = dict(recorded=dict(steps=2, sessions=1), files=[], cost={}, problems=[], sessions=[]);"
        "facts['ended_unix_ns'] = 1;"
        "(p / 'capture.json').write_text(json.dumps(facts));"
        "resource.prlimit(os.getppid(), resource.RLIMIT_FSIZE, (0, 0)); os._exit(7)"
    )
    done = record("--out", "out", "--", sys.executable, "-S", "-c", code, cwd=tmp_path)
    assert done.returncode == 7
    assert "the recording cannot be completed" in done.stderr
    assert "File too large" in done.stderr


@pytest.mark.parametrize("target", ["/dev/full", "closed"])
def test_a_stderr_that_takes_nothing_changes_no_exit_code(target: str, tmp_path: Path) -> None:
    redirect = "2>&-" if target == "closed" else f"2>{target}"
    words = " ".join([*RECORD, "sh", "-c", "'exit 6'"])
    assert subprocess.run(["sh", "-c", f"{words} {redirect}"], cwd=tmp_path, check=False).returncode == 6


def test_interrupting_the_summary_changes_no_exit_code(tmp_path: Path) -> None:
    """Signals that come after the program has ended do not end the launcher."""
    code = "import os, signal, time; " + "; ".join(
        f"os.kill(os.getppid(), signal.{name})" for name in ("SIGINT", "SIGTERM", "SIGHUP")
    )
    ignoring = "import signal\nfor n in (1, 2, 15): signal.signal(n, signal.SIG_IGN)\n"
    script = tmp_path / "program.py"
    script.write_text(ignoring + code + "\nos._exit(8)\n")
    done = record("--out", "out", "--", sys.executable, "-S", script, cwd=tmp_path)
    assert done.returncode == 8


@pytest.fixture(autouse=True)
def usual_signals() -> Iterator[None]:
    """Tests may run under nohup, or in the background of a shell, which ignores some signals."""
    ours = {number: signal.getsignal(number) for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)}
    usual = {signal.SIGINT: signal.default_int_handler}
    for number in ours:
        signal.signal(number, usual.get(number, signal.SIG_DFL))
    yield
    for number, handler in ours.items():
        signal.signal(number, handler)


def ignored(line: str, cwd: Path) -> set[str]:
    """Signals that the program finds ignored when a shell runs this line; @ is where to put the command."""
    told = "sed -n s/SigIgn:.//p /proc/self/status"
    done = subprocess.run(
        ["sh", "-c", line.replace("@", " ".join(RECORD)) + f" {told}; exit $?"],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=True,
    )
    mask = int(done.stdout.strip(), 16)
    return {one.name for one in signal.Signals if mask >> (one - 1) & 1}


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("@", set()),
        ("nohup @", {"SIGHUP"}),
        ("@ env --ignore-signal=PIPE", {"SIGPIPE"}),
        ("trap '' TERM; @", {"SIGTERM"}),
        ("trap '' PIPE; @", {"SIGPIPE"}),
        ("trap '' INT QUIT HUP; @", {"SIGINT", "SIGQUIT", "SIGHUP"}),
        ("trap '' USR1 ALRM XFSZ; @", {"SIGUSR1", "SIGALRM", "SIGXFSZ"}),
    ],
)
def test_ignored_signals_stay_ignored_and_no_others(line: str, expected: set[str], tmp_path: Path) -> None:
    assert ignored(line, tmp_path) == expected


def test_inherited_descriptors_are_passed_on_and_no_others(tmp_path: Path) -> None:
    words = " ".join([*RECORD, "sh", "-c", "'echo hello >&7; ls /proc/self/fd'"])
    done = subprocess.run(
        ["sh", "-c", f"{words} 7>seven"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert (tmp_path / "seven").read_text() == "hello\n"
    # 3 is what ls opens to list the folder.
    assert done.stdout.split() == ["0", "1", "2", "3", "7"]


ENDING = ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGPROF", "SIGABRT")


@pytest.mark.parametrize("name", ENDING)
def test_no_signal_leaves_an_orphan(name: str, tmp_path: Path) -> None:
    number = signal.Signals[name]
    with subprocess.Popen(
        [*RECORD, "sh", "-c", "ulimit -c 0; echo $$; exec sleep 600"],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as launcher:
        child = int(launcher.stdout.readline())
        launcher.send_signal(number)
        launcher.wait(250)
    assert launcher.returncode == -number
    assert not Path(f"/proc/{child}").exists()


def test_a_key_reaches_the_program_once(tmp_path: Path) -> None:
    """Ctrl-C and Ctrl-\\ go to the whole foreground; the launcher must not send them a second time."""
    script = tmp_path / "program.py"
    script.write_text(
        "import os, signal, time\n"
        "seen = []\n"
        "for n in (signal.SIGINT, signal.SIGQUIT, signal.SIGUSR1):\n"
        "    signal.signal(n, lambda number, frame: seen.append(number))\n"
        "def until(n):\n"
        "    while n not in seen: time.sleep(0.01)\n"
        "print('ready', flush=True)\n"
        "until(signal.SIGINT)\n"
        "print('heard', flush=True)\n"
        "until(signal.SIGQUIT)\n"
        # The launcher passes it on, after whatever it was sent before.
        "os.kill(os.getppid(), signal.SIGUSR1)\n"
        "until(signal.SIGUSR1)\n"
        "print('seen', len(seen), flush=True)\n"
    )
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(tmp_path)
        os.execv(sys.executable, [*RECORD, sys.executable, str(script)])
    text = b""
    keys = {b"ready": b"\x03", b"heard": b"\x1c"}
    while True:
        try:
            piece = os.read(terminal, 4096)
        except OSError:
            break
        if not piece:
            break
        text += piece
        for word in [word for word in keys if word in text]:
            os.write(terminal, keys.pop(word))
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    assert b"seen 3" in text
    assert os.waitstatus_to_exitcode(status) == 0


def test_without_room_for_notes_the_program_is_not_started(tmp_path: Path) -> None:
    done = record("--out", "out", "--", sys.executable, "-c", "print('ran')", cwd=tmp_path, TMPDIR="/proc")
    assert done.returncode in (0, 2)
    if done.returncode == 2:
        assert done.stdout == ""
        assert "the program was not started" in done.stderr
