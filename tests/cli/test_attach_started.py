"""stepscope attach over some seconds, on a program that it starts, and at a breakpoint."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stepscope import attach
from stepscope.attach import kernel, py_spy, started_program, tools
from stepscope.cli import main
from stepscope.session import trace
from tests.asked import ask

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

BUSY = """
import threading, time
def spins():
    while True:
        sum(range(1000))
def waits():
    while True:
        time.sleep(0.05)
threading.Thread(target=waits, name="waiting", daemon=True).start()
print("ready", flush=True)
spins()
"""

CALLS = """
import ctypes
def inside():
    ctypes.CDLL(None).getppid()
def outside():
    inside()
print("hello", flush=True)
outside()
"""

RESTS = """
import os, sys, time
def rests():
    open(sys.argv[1], "x").close()
    while not os.path.exists(sys.argv[2]): time.sleep(0.01)
print('out', flush=True)
rests()
raise SystemExit(3)
"""

LOOKS = """
SELECT s.thread_name, f.function, COUNT(*), SUM(s.weight_ps)
FROM stack_sample AS s JOIN stack AS k ON k.id = s.stack_id JOIN frame AS f ON f.id = k.frame_id
GROUP BY ALL ORDER BY 1, 2
"""


def spied(frames: list[dict[str, object]], profiles: list[tuple[str, list[list[int]]]]) -> dict[str, object]:
    """What py-spy writes."""
    return {
        "$schema": "speedscope",
        "shared": {"frames": frames},
        "profiles": [
            {
                "type": "sampled",
                "name": name,
                "unit": "seconds",
                "samples": samples,
                "weights": [0.01] * len(samples),
            }
            for name, samples in profiles
        ],
    }


FRAMES: list[dict[str, object]] = [
    {"name": "main", "file": "/home/me/train.py", "line": 9, "col": None},
    {"name": "load", "file": "/home/me/train.py", "line": 4, "col": None},
    {"name": "read", "file": "/usr/lib/libc.so.6", "line": 0, "col": None},
    {"name": "thread (12): loader", "file": "", "line": 0, "col": None},
    {"name": "run", "file": "/usr/lib/python3.11/threading.py", "line": 982, "col": None},
    {"name": "step", "file": "/x/site-packages/jax/api.py", "line": 7, "col": None},
]


def test_samples_are_rows_of_the_tables_of_a_recording(tmp_path: Path) -> None:
    told = spied(
        FRAMES,
        [
            ('Thread 11 "MainThread"', [[0, 1, 2], [0, 1, 2], [0, 5], [0]]),
            ('Process 10 Thread 12 "loader"', [[3, 4], [3, 4]]),
        ],
    )
    begin = 1_795_000_000_000_000_000
    found = py_spy.read(told, begin, 100, "/home/me", native=True)
    assert (found.looks, found.threads) == (4, 2)
    assert found.end_unix_ns - found.begin_unix_ns == 40_000_000
    assert found.notes == ["1 thread was not there all the time; their samples lie at the start"]
    hot = {row["function"]: row for row in found.hot}
    assert (hot["read"]["self_samples"], hot["load"]["self_samples"], hot["load"]["total_samples"]) == (
        2,
        0,
        2,
    )
    assert hot["main"]["total_share"] == 4 / 6
    assert {name: hot[name]["code"] for name in ("main", "read", "run", "step")} == {
        "main": "program",
        "read": "native",
        "run": "python",
        "step": "library",
    }
    folder = tmp_path / "sampled"
    folder.mkdir()
    for name, data in py_spy.files(found, 11, ["python", "train.py"], "0.1").items():
        (folder / name).write_bytes(data)
    with trace.open(folder, cache=False) as opened:
        assert [tuple(row) for row in opened.query(LOOKS).rows()] == [
            ("MainThread", "main", 1, 10**10),
            ("MainThread", "read", 2, 2 * 10**10),
            ("MainThread", "step", 1, 10**10),
            ("loader", "run", 2, 2 * 10**10),
        ]
        files = opened.query("SELECT function, file, line FROM frame ORDER BY function").rows()
        assert ("load", "train.py", 4) in [tuple(row) for row in files]


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"shared": {"frames": []}, "profiles": [{"name": "x", "samples": [[0]]}]},
        {"shared": {"frames": [{}]}, "profiles": []},
        {"shared": 1},
    ],
)
def test_other_forms_are_refused(told: dict[str, object]) -> None:
    with pytest.raises((KeyError, TypeError, IndexError)):
        py_spy.read(told, 0, 100, None, native=False)


@pytest.fixture
def busy() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([sys.executable, "-c", BUSY], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        yield process
        process.kill()


@pytest.mark.skipif(tools.find("py-spy") is None, reason="py-spy is not installed")
def test_a_process_is_sampled(
    busy: subprocess.Popen[bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if kernel.refusal(busy.pid) is not None:
        pytest.skip("this system forbids tracing")
    out = tmp_path / "stacks"
    assert main(["attach", str(busy.pid), "--seconds", "1", "-o", str(out), "--format", "json"]) == 0
    rows = {row["function"]: row for row in json.loads(capsys.readouterr().out)["rows"]}
    assert 0.3 < rows["spins"]["total_share"] < 0.7  # one of two threads is in it all the time
    assert rows["waits"]["total_share"] > 0.3
    names = {row[0] for row in ask(out, "SELECT DISTINCT thread_name FROM stack_sample")}
    assert {"MainThread", "waiting"} <= names
    assert main(["attach", str(busy.pid), "--seconds", "1", "-o", str(out)]) == 2
    assert "--force" in capsys.readouterr().err


@pytest.mark.skipif(tools.find("py-spy") is None, reason="py-spy is not installed")
def test_a_program_that_is_started(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is looked at when it rests, and rests until it was looked at."""
    rests, seen = tmp_path / "rests", tmp_path / "seen"
    look = attach.look

    def when_it_rests(pid: int, *given: Any, **more: Any) -> attach.Seen:
        while not rests.exists():
            time.sleep(0.01)
        try:
            return look(pid, *given, **more)
        finally:
            seen.touch()

    monkeypatch.setattr(attach, "look", when_it_rests)
    program = tmp_path / "program.py"
    program.write_text(RESTS)
    words = ["attach", "--quick", "--format", "json", "--after", "0.1"]
    assert main([*words, "--", sys.executable, str(program), str(rests), str(seen)]) == 3
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["line"] for row in rows if row["function"] == "rests"] == [5]


def test_a_program_that_ends_before(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["attach", "--after", "60", "--", sys.executable, "-c", "raise SystemExit(5)"]) == 2
    assert "exit code 5" in capsys.readouterr().err


def test_anybody_may_trace_what_is_started(tmp_path: Path) -> None:
    assert (
        kernel.judged({"Uid": "5 5 5"}, {"Uid": "5 5 5", "CapEff": "0"}, kernel._scope("1", own_child=True))
        is None
    )
    assert kernel.judged(
        {"Uid": "5 5 5"}, {"Uid": "5 5 5", "CapEff": "0"}, kernel._scope("1", own_child=False)
    )
    assert kernel.judged(
        {"Uid": "5 5 5"}, {"Uid": "5 5 5", "CapEff": "0"}, kernel._scope("2", own_child=True)
    )
    with (tmp_path / "out").open("wb") as out:
        process = started_program.start(["echo", "hello"], out.fileno())
        assert started_program.end(process) == 0
    assert (tmp_path / "out").read_bytes() == b"hello\n"


@pytest.mark.skipif(tools.find("gdb") is None, reason="gdb is not installed")
def test_the_stack_at_a_breakpoint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "calls.py"
    script.write_text(CALLS)
    words = ["attach", "--break", "getppid", "--break", "no_such_function_here", "--format", "json"]
    code = main([*words, "--", sys.executable, str(script)])
    told = capsys.readouterr()
    if code == 2 and ("ptrace" in told.err or "gdb said nothing" in told.err):
        pytest.skip("this system forbids tracing")
    assert code == 0, told.err
    rows = json.loads(told.out)["rows"]
    stopped = [row for row in rows if row["thread"] == "stopped here"]
    assert "getppid" in stopped[0]["function"]
    if tools.find("py-spy") is not None:
        python = [(row["function"], row["line"]) for row in stopped if row["kind"] == "python"]
        assert python == [("inside", 4), ("outside", 6), ("<module>", 8)]
    assert "no library had no_such_function_here" in told.err
    assert "ended there" in told.err


LOOP = """
import os, select, sys
def rounds():
    while not select.select([sys.stdin], [], [], 0.01)[0]:
        os.getppid()
print("ready", flush=True)
rounds()
print("went on", flush=True)
"""


@pytest.mark.skipif(tools.find("gdb") is None, reason="gdb is not installed")
def test_a_process_goes_on_after_a_breakpoint(capsys: pytest.CaptureFixture[str]) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", LOOP], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout.readline() == "ready\n"
        if kernel.refusal(process.pid) is not None:
            process.kill()
            pytest.skip("this system forbids tracing")
        words = ["attach", str(process.pid), "--format", "json"]
        assert main([*words, "--break", "no_such_function_here", "--timeout", "1"]) == 2
        assert "No breakpoint was reached" in capsys.readouterr().err
        code = main([*words, "--break", "getppid"])
        told = capsys.readouterr()
        assert code == 0, told.err
        stopped = [row for row in json.loads(told.out)["rows"] if row["thread"] == "stopped here"]
        assert "getppid" in stopped[0]["function"]
        assert any(row["function"] == "rounds" for row in stopped) or tools.find("py-spy") is None
        assert f"process {process.pid} went on" in told.err
        out, _ = process.communicate("\n")
        assert (out, process.returncode) == ("went on\n", 0)


@pytest.mark.parametrize(
    ("functions", "wanted"),
    [
        (["tensorflow::TF_NewSessionRef"], ["16TF_NewSessionRef", "\0TF_NewSessionRef\0"]),
        (["xla::A::~A", "main(int)"], ["1A", "\0A\0", "4main", "\0main\0"]),
        (["_ZN1a1bEv"], ["_ZN1a1bEv"]),
        (["a::operator+"], None),
        (["session.cc:12", "main"], None),
    ],
)
def test_what_a_library_with_a_function_has_in_it(functions: list[str], wanted: list[str] | None) -> None:
    assert started_program.needles(functions) == wanted


@pytest.mark.skipif(tools.find("gdb") is None, reason="gdb is not installed")
def test_a_breakpoint_that_is_not_reached(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["attach", "--break", "no_such_function", "--", "sh", "-c", "exit 3"]) == 2
    said = capsys.readouterr().err
    assert "No breakpoint was reached" in said
    assert "symbols" in said


def test_what_gdb_says() -> None:
    log = """Function "ns::f" not defined.
Breakpoint 1 (ns::f) pending.
[Switching to Thread 0x7f (LWP 12)]

Thread 2 "worker" hit Breakpoint 2, 0x00007ffff7e5a0f0 in ns::g(int) () from /x/lib.so
Num     Type           Disp Enb Address            What
1       breakpoint     keep y   <PENDING>          ns::f
2       breakpoint     keep y   0x00007ffff7e5a0f0 <ns::g(int)+4>
  Id   Target Id                                  Frame
  1    Thread 0x7ffff7c (LWP 11) "main"           0x00 in read () from /lib/libc.so.6
* 2    Thread 0x7ffff6f (LWP 12) "worker"         0x00007ffff7e5a0f0 in ns::g(int) () from /x/lib.so

Thread 2 (Thread 0x7ffff6f (LWP 12) "worker"):
#0  0x00007ffff7e5a0f0 in ns::g(int) () from /x/lib.so
#1  0x00007ffff7e5a100 in start (...) at /build/src/start.cc:7

Thread 1 (Thread 0x7ffff7c (LWP 11) "main"):
#0  0x00 in read () from /lib/libc.so.6
"""
    found = started_program.parsed_stop(log, "not json", None)
    assert (found.at, found.tid, found.missing, found.why) == ("ns::g(int)", 12, ["ns::f"], None)
    assert [(frame.function, frame.file, frame.line) for frame in found.native[12]] == [
        ("ns::g(int)", None, None),
        ("start", "/build/src/start.cc", 7),
    ]
    ended = started_program.parsed_stop("[Inferior 1 (process 7) exited with code 03]\n", "", None)
    assert (ended.at, ended.why) == (None, "the program ended with code 3")
    assert started_program.parsed_stop("Program terminated with signal SIGKILL, Killed.\n", "", None).why == (
        "the program ended by SIGKILL"
    )


def test_sources_are_found_by_a_map(tmp_path: Path) -> None:
    from stepscope.attach import Seen
    from stepscope.report import stack_text

    (tmp_path / "start.cc").write_text("".join(f"line {number}\n" for number in range(1, 12)))
    frame = tools.StackFrame("native", "start", "/build/src/start.cc", 7)
    gone = tools.StackFrame("native", "gone", "/build/src/gone.cc", 1)
    task = kernel.Task(12, "worker", "traced", None)
    lines = list(stack_text.lines(Seen([(task, [frame, gone], "gdb")]), [("/build/src/", str(tmp_path))]))
    assert [line.split() for line in lines[2:7]] == [
        ["5", "line", "5"],
        ["6", "line", "6"],
        [">", "7", "line", "7"],
        ["8", "line", "8"],
        ["9", "line", "9"],
    ]
    assert "no source" in lines[-1]


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["1", "--", "true"],
        ["--break", "-x", "--", "true"],
        ["1", "--seconds", "0"],
        ["1", "--seconds", "5", "--rate", "0"],
        ["1", "-o", "x"],
        ["1", "--source", "x"],
        ["--", "/no/such/program"],
    ],
)
def test_mistakes_have_three_parts(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["attach", *words]) == 2
    said = capsys.readouterr().err
    assert "seen:" in said
    assert "to do:" in said
