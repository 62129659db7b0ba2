"""stepscope attach on real processes: all threads, nothing left stopped, refusals with reasons."""

import csv
import ctypes
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from stepscope import attach
from stepscope.attach import kernel, tools
from stepscope.cli import main
from stepscope.errors import NothingFound

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

PROGRAM = """
import sys, threading

def waits_for_ever():
    print("ready", flush=True)
    threading.Event().wait()

threading.Thread(target=waits_for_ever, name="worker", daemon=True).start()
sys.stdin.read()
"""


@pytest.fixture
def program() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        process.stdout.readline()
        yield process
        process.kill()


def state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def may_trace(pid: int) -> bool:
    return kernel.refusal(pid) is None


@pytest.mark.skipif(tools.find("py-spy") is None, reason="py-spy is not installed")
def test_python_threads_with_their_functions(
    program: subprocess.Popen[bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    if not may_trace(program.pid):
        pytest.skip("this system forbids tracing")
    assert main(["attach", str(program.pid), "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert {row["tid"] for row in rows} == {
        int(task.name) for task in Path(f"/proc/{program.pid}/task").iterdir()
    }
    ours = [row for row in rows if row["function"] == "waits_for_ever"]
    assert [(row["kind"], row["line"], row["read_by"]) for row in ours] == [("python", 6, "py-spy")]
    worker = [row for row in rows if row["tid"] == ours[0]["tid"]]
    assert [row["depth"] for row in worker] == list(range(len(worker)))
    names = [row["function"] for row in worker]
    assert names.index("waits_for_ever") < next(at for at, name in enumerate(names) if name.endswith("run"))
    assert state(program.pid) in "RSD"


@pytest.mark.skipif(tools.find("gdb") is None, reason="gdb is not installed")
def test_gdb_reads_what_is_no_python(capsys: pytest.CaptureFixture[str]) -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as process:
        try:
            if not may_trace(process.pid):
                pytest.skip("this system forbids tracing")
            process.stdin.write(b"x")
            assert process.stdout.read(1) == b"x"
            while state(process.pid) != "S":  # it has started, has answered and waits for more
                time.sleep(0.01)
            assert main(["attach", str(process.pid), "--format", "csv"]) == 0
            captured = capsys.readouterr()
            assert "1 thread by gdb" in captured.err
            rows = list(csv.DictReader(io.StringIO(captured.out)))
            assert {row["kind"] for row in rows} == {"native"}
            assert "read" in rows[0]["function"]
            assert state(process.pid) in "RSD"
        finally:
            process.kill()


def fake(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text("#!/bin/sh\n" + script)
    path.chmod(0o755)


@pytest.fixture
def only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that has all the tools that are found."""
    found = {name: tmp_path / name for name in tools.HOW}
    monkeypatch.setattr(tools, "find", lambda name: str(found[name]) if found[name].exists() else None)
    return tmp_path


def test_without_tools_the_kernel_is_asked(
    program: subprocess.Popen[bytes], only: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if not may_trace(program.pid):
        pytest.skip("this system forbids tracing, which is said first")
    assert main(["attach", str(program.pid)]) == 2
    captured = capsys.readouterr()
    assert captured.out.count("thread ") == 2
    assert captured.out.count("(no stack)") == 2
    assert "pip install py-spy" in captured.err
    assert "install gdb" in captured.err


def test_a_tool_that_hangs_leaves_the_process_running(program: subprocess.Popen[bytes], only: Path) -> None:
    if not may_trace(program.pid):
        pytest.skip("this system forbids tracing")
    fake(only, "py-spy", f"kill -STOP {program.pid}; exec sleep 60")
    seen = attach.look(program.pid, 1, quick=True)
    assert not seen.has_stacks
    assert seen.notes == ["py-spy read no stacks: it had not ended after 1 s"]
    assert state(program.pid) in "RSD"


def test_a_tool_ends_with_stepscope(program: subprocess.Popen[bytes], only: Path) -> None:
    """Killed in the middle, gdb would keep what it looks at stopped for as long as it likes."""
    if not may_trace(program.pid):
        pytest.skip("this system forbids tracing")
    fake(only, "py-spy", f"echo $$ > {only / 'pid'}; exec sleep 60")
    code = f"""
from stepscope.cli import main
from stepscope.attach import tools
tools.find = lambda name: {str(only / "py-spy")!r}
main(["attach", "{program.pid}", "--quick"])
"""
    with subprocess.Popen([sys.executable, "-c", code]) as ours:
        while not (only / "pid").exists() or not (only / "pid").read_text().strip():
            assert ours.poll() is None
            time.sleep(0.01)
        tool = int((only / "pid").read_text())
        ours.kill()
    while kernel.is_there(tool):  # pytest-timeout says so if the tool lives on
        time.sleep(0.01)


def test_a_stopped_process_stays_stopped(program: subprocess.Popen[bytes], only: Path) -> None:
    os.kill(program.pid, signal.SIGSTOP)
    while any(task.state != "stopped" for task in kernel.tasks(program.pid)):
        time.sleep(0.01)
    seen = attach.look(program.pid, 1)
    assert {task.state for task, _, _ in seen.threads} == {"stopped"}
    assert state(program.pid) == "T"
    os.kill(program.pid, signal.SIGCONT)


def test_a_process_that_ends_while_it_is_traced(
    program: subprocess.Popen[bytes], only: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if not may_trace(program.pid):
        pytest.skip("this system forbids tracing")
    gone = f"until grep -q ') Z' /proc/{program.pid}/stat; do sleep 0.01; done"
    fake(only, "py-spy", f"kill -KILL {program.pid}; {gone}; echo 'Error: No such process' >&2; exit 1")
    assert main(["attach", str(program.pid)]) == 2
    captured = capsys.readouterr()
    assert "ended while it was traced" in captured.err
    assert captured.out.count("thread ") == 2


@pytest.mark.parametrize("printed", ["", "[]", "{}", "[1]", '[{"frames": 1}]', "[" * 99999, "\\377\\000"])
def test_nonsense_of_a_tool(
    printed: str, program: subprocess.Popen[bytes], only: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if not may_trace(program.pid):
        pytest.skip("this system forbids tracing")
    (only / "text").write_text(printed)
    fake(only, "py-spy", f"cat {only / 'text'}")
    fake(only, "gdb", f"cat {only / 'text'}")
    assert main(["attach", str(program.pid)]) == 2
    assert "attach-refused" in capsys.readouterr().err


def test_a_traced_process_is_not_traced_again(
    program: subprocess.Popen[bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    seize = 0x4206
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    if libc.ptrace(seize, program.pid, None, None) != 0:
        pytest.skip("this system forbids tracing")
    assert main(["attach", str(program.pid)]) == 2
    assert f"process {os.getpid()} traces it already" in capsys.readouterr().err


OWN = {"Uid": "1000\t1000\t1000\t1000", "CapEff": "0"}


@pytest.mark.parametrize(
    ("target", "own", "yama", "said"),
    [
        ({"Uid": "1000\t1000\t1000\t1000"}, OWN, 0, None),
        ({"Uid": "0\t0\t0\t0"}, OWN, 0, "belongs to user 0"),
        ({"Uid": "0\t0\t0\t0"}, {**OWN, "CapEff": "80000"}, 2, None),
        ({"Uid": "1000\t0\t1000\t1000"}, OWN, 0, "belongs to user"),
        ({"Uid": "1000\t1000\t1000\t1000"}, OWN, 1, "only a parent"),
        ({"Uid": "1000\t1000\t1000\t1000"}, OWN, 2, "ptrace_scope is 2"),
        ({"Uid": "1000\t1000\t1000\t1000"}, {**OWN, "CapEff": "1ffffffffff"}, 3, "ptrace_scope is 3"),
        ({"TracerPid": "12"}, OWN, 0, "process 12 traces it"),
    ],
)
def test_reasons_of_the_kernel(
    target: dict[str, str], own: dict[str, str], yama: int, said: str | None
) -> None:
    reason = kernel.judged(target, own, yama)
    assert (reason is None) if said is None else (reason is not None and said in reason[0] and reason[1])


def test_frames_of_gdb() -> None:
    text = """
Thread 2 (Thread 0x7fa2 (LWP 15019) "tf_XLAEigen" (Exiting)):
#0  0x00007fa2 in std::function<void ()>::operator()() const (...) at a b.h:12
#1  tensorflow::(anonymous namespace)::Run (...) from /x/lib tf.so
#2  <signal handler called>
#3  0x00007fa2 in ?? ()

Thread 1 (process 15017):
#0  main () at m.c:3
"""
    assert tools.debugged(text) == {
        15019: [
            tools.StackFrame("native", "std::function<void ()>::operator()() const", "a b.h", 12),
            tools.StackFrame("native", "tensorflow::(anonymous namespace)::Run", module="/x/lib tf.so"),
            tools.StackFrame("native", "<signal handler called>"),
            tools.StackFrame("native", "??"),
        ],
        15017: [tools.StackFrame("native", "main", "m.c", 3)],
    }


def test_no_such_process(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(NothingFound):
        kernel.tasks(2**40)
    assert main(["attach", "1099511627776"]) == 2
    assert "There is no process" in capsys.readouterr().err
    assert main(["attach", "0"]) == 2
    assert main(["attach", str(os.getpid()), "--timeout", "nan"]) == 2
