"""Looks at the stacks of the program's threads: what is seen, what is left alone, what it costs."""

import itertools
import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pluggy
import pytest

from stepscope.capture import frames, looker, stacks
from stepscope.capture.frames import Frames, Whose
from stepscope.capture.stacks import StackSampler
from stepscope.formats._stacks import StackRows as Read
from tests.capture.launching import PROGRAMS, facts, lines, record

HERE = Path(__file__).name


def spin(seconds: float) -> None:
    """Python that lets go of the interpreter lock only when it has to."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        sum(range(200))


def sampled(
    work: Any, driver: int | None = None, written: list[bytes] | None = None
) -> tuple[StackSampler, Read]:
    """What is seen while work() runs. written: gets the lines."""
    written = [] if written is None else written
    looking = StackSampler(written.append, threading.get_ident() if driver is None else driver)
    looking.resume()
    try:
        work()
    finally:
        looking.stop()
    assert looking.failed is None
    told = [json.loads(line) for line in b"".join(written).splitlines()]
    found = Read().read(told, lambda ns: None if ns is None else ns * 1000)
    assert found.odd == 0
    return looking, found


def seconds(found: Read, main: bool = True) -> Counter[str]:
    """Seconds by the function that was innermost."""
    spent: Counter[str] = Counter()
    for sample in found.samples:
        if sample["is_main"] == main:
            frame = found.frames[found.stacks[sample["stack_id"]]["frame_id"]]
            spent[frame["function"]] += sample["weight_ps"] / 1e12
    return spent


def main_stacks(found: Read) -> list[str]:
    """The innermost function of the main thread, look by look."""
    return [
        found.frames[found.stacks[sample["stack_id"]]["frame_id"]]["function"]
        for sample in found.samples
        if sample["is_main"]
    ]


@pytest.mark.repeats("how often it looks depends on what else the machine does")
def test_looks_agree_with_what_the_program_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bursts of Python between waits. A look shows what the program did at its moment, and all of them what a
    clock tells of the whole, but for the time in which looks waited for the lock."""
    monkeypatch.setattr(stacks, "SHARE", 0.05)
    bursts: list[tuple[int, int, int]] = []

    def work() -> None:
        for _ in range(150):
            begin = time.time_ns()
            spin(0.008)
            middle = time.time_ns()
            time.sleep(0.004)
            bursts.append((begin, middle, time.time_ns()))

    written: list[bytes] = []
    looking, found = sampled(work, written=written)
    looks = [look for line in b"".join(written).splitlines() if "on" in (look := json.loads(line))]
    assert len(looks) == looking.facts()["looks"] > 50
    assert len({sample["ts_ps"] for sample in found.samples}) == len(looks)
    spinning = {begin: middle for begin, middle, _ in bursts}
    agree = doubtful = 0
    for look, stack in zip(looks, main_stacks(found), strict=True):
        at = look["unix_ns"]
        begin = max((one for one in spinning if one <= at), default=None)
        edges = [abs(at - edge) for burst in bursts for edge in burst]
        if begin is None or min(edges) < 300_000:
            doubtful += 1
            continue
        agree += (at < spinning[begin]) == (stack == "spin")
    sure = len(looks) - doubtful
    # The lock may change hands between a look's clock and its frames.
    assert sure >= 50
    assert agree >= 0.97 * sure
    spent = seconds(found)
    # On a busy machine the thread that looks may begin late.
    assert sum(spent.values()) == pytest.approx(looking.lasted_ns / 1e9, rel=0.1)
    whole = bursts[-1][2] - bursts[0][0]
    late = sum(look["late_ns"] for look in looks) / whole
    true = sum(middle - begin for begin, middle, _ in bursts) / whole
    assert spent["spin"] / sum(spent.values()) == pytest.approx(true, abs=0.08 + late)


def test_a_thread_that_goes_on_while_its_stack_is_read_harms_nothing() -> None:
    """Python 3.11 crashes where a collection of garbage lets it go on."""
    child = [sys.executable, str(PROGRAMS / "frames_of_others.py")]
    done = subprocess.run(child, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "alive\n"), done.stderr


@pytest.mark.parametrize("without_core_ns", [0, 10**9])
def test_a_look_that_had_no_core_is_not_late(monkeypatch: pytest.MonkeyPatch, without_core_ns: int) -> None:
    """It was not the lock that kept it from looking: what it sees ran then, and not when it wanted to."""
    clock = itertools.count(0, without_core_ns) if without_core_ns else itertools.repeat(0)
    monkeypatch.setattr(stacks, "waited_ns", lambda _: next(clock))
    written: list[bytes] = []
    sampled(lambda: spin(0.2), written=written)
    late = [look["late_ns"] for line in b"".join(written).splitlines() if "on" in (look := json.loads(line))]
    assert late
    assert any(late) == (without_core_ns == 0)


def test_a_thread_knows_how_long_it_waited_for_a_core() -> None:
    queue = looker.queue_of_this_thread()
    assert looker.waited_ns(None) == 0
    if queue is None:
        pytest.skip("this system does not tell")
    before = looker.waited_ns(queue)
    spin(0.05)
    assert looker.waited_ns(queue) >= before >= 0
    queue.close()


@pytest.mark.repeats("how often it looks depends on what else the machine does")
def test_processor_time_tells_running_from_waiting() -> None:
    def work() -> None:
        spin(0.4)
        time.sleep(0.4)

    _, found = sampled(work)
    by_line: dict[str, list[int]] = {}
    for sample in found.samples:
        name = found.frames[found.stacks[sample["stack_id"]]["frame_id"]]["function"]
        if sample["is_main"] and sample["cpu_ps"] is not None:
            times = by_line.setdefault(name, [0, 0])
            times[0] += sample["cpu_ps"]
            times[1] += sample["weight_ps"]
    waited = by_line["sleep"]
    assert waited[0] < 0.3 * waited[1]
    assert by_line["spin"][0] > waited[0]


@pytest.mark.repeats("how often it looks depends on what else the machine does")
@pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity"), reason="Linux tells how long a thread waits for a core"
)
def test_time_without_a_core_is_not_time_of_waiting() -> None:
    """Two processes on one core: this one runs for about half of the time, and waits for nothing else."""
    allowed = os.sched_getaffinity(0)
    one = min(allowed)
    other = subprocess.Popen(
        [sys.executable, "-c", f"import os\nos.sched_setaffinity(0, {{{one}}})\nwhile 1: pass"]
    )

    def work() -> None:
        os.sched_setaffinity(0, {one})
        try:
            spin(1.0)
        finally:
            os.sched_setaffinity(0, allowed)

    try:
        _, found = sampled(work)
    finally:
        other.kill()
        other.wait()
    known = [one for one in found.samples if one["is_main"] and one["queued_ps"] is not None]
    assert known, "the kernel counts no waits for a core"
    whole, ran, queued = (sum(one[name] for one in known) for name in ("weight_ps", "cpu_ps", "queued_ps"))
    assert ran < 0.8 * whole
    assert queued > 0.3 * whole
    # While the thread that looks has no core itself, it may hold the interpreter lock.
    assert ran + queued > 0.6 * whole


@pytest.mark.repeats("how often it looks depends on what else the machine does")
def test_threads_come_and_go() -> None:
    release = threading.Event()

    def work() -> None:
        kept = threading.Thread(target=release.wait, name="feeder", daemon=True)
        kept.start()
        for i in range(20):
            short = threading.Thread(target=spin, args=(0.03,), name=f"short-{i}")
            short.start()
            short.join()
        release.set()

    _, found = sampled(work)
    names = {sample["thread_name"] for sample in found.samples}
    assert {"MainThread", "feeder"} <= names
    assert len([name for name in names if name and name.startswith("short-")]) > 2
    assert not any(name and name.startswith("stepscope") for name in names)
    assert {s["is_main"] for s in found.samples if s["thread_name"] == "MainThread"} == {True}
    assert seconds(found, main=False)["acquire"] > 0.1


def test_whose_code_it_is(tmp_path: Path) -> None:
    whose = Whose()
    for path in (json.__file__, threading.__file__):
        assert whose.of(path, "json") == ("python", os.path.relpath(path, Path(os.__file__).parent))
    assert whose.of(pluggy.__file__, "pluggy") == ("library", "pluggy/__init__.py")
    assert whose.of("/x/lib/python3.9/site-packages/a/b.py", "a.b") == ("library", "a/b.py")
    assert whose.of(str(tmp_path / "train.py"), "__main__") == ("program", str(tmp_path / "train.py"))
    assert whose.of(__file__, __name__)[0] == "program"
    # Old NumPy writes functions into a namespace without a name.
    assert whose.of("<__array_function__ internals>", "")[0] == "python"
    assert whose.of(str(Path.cwd() / "x.py"), "x") == ("program", "x.py")
    assert whose.of("<frozen importlib._bootstrap>", "importlib._bootstrap")[0] == "python"
    assert whose.of("<string>", "__main__") == ("program", "<string>")
    assert whose.of("<string>", "pluggy") == ("library", "<string>")
    assert whose.of("/tmp/torchinductor_me/vl/cvlo.py", "cvlo") == ("library", "torchinductor_me/vl/cvlo.py")
    assert whose.of("/tmp/__autograph_generated_filex.py", "y") == (
        "library",
        "__autograph_generated_filex.py",
    )


def test_a_package_that_is_run_is_the_program_even_if_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    main = sys.modules["__main__"]
    monkeypatch.setattr(main, "__file__", "/x/site-packages/trainer/__main__.py", raising=False)
    monkeypatch.setattr(main, "__package__", "trainer", raising=False)
    whose = Whose()
    folder = whose._libraries[0]
    assert whose.of(folder + "trainer/loop.py", "trainer.loop") == ("program", "trainer/loop.py")
    assert whose.of(folder + "numpy/x.py", "numpy.x")[0] == "library"


def told_by(work: Any) -> list[dict[str, Any]]:
    """The lines for the stack that calls, seen from within work(numbers)."""
    told: list[dict[str, Any]] = []
    work(Frames(told.append))
    return told


def test_every_instruction_has_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads hand over the interpreter lock mostly where a loop jumps back."""
    monkeypatch.setattr(stacks, "_FLUSH_BYTES", 1)
    written: list[bytes] = []

    def work() -> None:
        count = 0
        for i in range(500_000):
            if i & 1 and i & 2:
                count += 1

    def until_seen() -> None:
        while b'work"' not in b"".join(written):  # pytest-timeout ends what hangs
            work()

    _, found = sampled(until_seen, written=written)
    lines = {frame["line"] for frame in found.frames if frame["function"].endswith("work")}
    first = work.__code__.co_firstlineno
    assert lines
    assert lines <= set(range(first + 1, first + 6))


def test_a_deep_stack_keeps_both_ends() -> None:
    def deep(left: int, numbers: Frames) -> int | None:
        return deep(left - 1, numbers) if left else numbers.number(sys._getframe())

    told = told_by(lambda numbers: deep(600, numbers))
    assert sum("stack" in line for line in told) == frames.MOST_DEPTH + 1
    assert sum(line.get("function") == "(frames left out)" for line in told) == 1
    assert Read().read(told, lambda ns: ns).odd == 0


def test_no_other_thread_runs_while_frames_are_read() -> None:
    """Python hands its lock over between instructions of Python: there are as few for a deep stack."""

    def instructions(left: int) -> int:
        if left:
            return instructions(left - 1)
        seen = 0

        def count(frame: Any, event: str, _: object) -> Any:
            nonlocal seen
            frame.f_trace_opcodes = True
            seen += event == "opcode"
            return count

        here = sys._getframe()
        before = sys.gettrace()
        sys.settrace(count)
        try:
            walked = frames.walk(here)
        finally:
            sys.settrace(before)
        assert walked[0] is here
        assert walked[-1].f_back is None
        return seen

    assert 0 < instructions(0) == instructions(100)


def test_a_stack_that_cannot_be_read_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Any) -> Any:
        raise AttributeError("this is no frame")

    monkeypatch.setattr(frames, "walk", broken)
    looking = looker.Looker(lambda _: None, threading.get_ident())
    assert looking.look(0).driver is None
    assert looking.dropped >= 1


def test_what_is_too_much_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "MOST_STACKS", 40)
    monkeypatch.setattr(frames, "MOST_REMEMBERED", 10)
    told: list[dict[str, Any]] = []
    numbers = Frames(told.append)
    for i in range(200):
        name = f"made_{i}"
        space: dict[str, Any] = {"sys": sys, "numbers": numbers}
        exec(f"def {name}(): return numbers.number(sys._getframe())", space)
        last = space[name]()
    assert last is None
    assert sum("stack" in line for line in told) == 40
    assert len(numbers._codes) <= 11


@pytest.mark.repeats("how often it looks depends on what else the machine does")
def test_what_is_not_kept_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stacks, "MOST_BYTES", 2000)
    monkeypatch.setattr(stacks, "_FLUSH_BYTES", 100)
    looking, found = sampled(lambda: spin(0.5))
    assert looking.dropped == found.dropped > 0


def test_a_full_disk_ends_the_sampling_only() -> None:
    def full(data: bytes) -> None:
        raise OSError(28, "No space left on device")

    before = sys.getswitchinterval()
    looking = StackSampler(full, threading.get_ident())
    looking.resume()
    while looking.failed is None:  # pytest-timeout ends what hangs
        spin(0.01)
    looking.stop()
    assert "No space left" in looking.failed
    assert sys.getswitchinterval() == before
    looking.resume()


@pytest.mark.repeats("how often it looks depends on what else the machine does")
def test_turns_are_put_back_and_those_of_the_program_are_its_own() -> None:
    before = sys.getswitchinterval()
    try:
        sampled(lambda: spin(0.1))
        assert sys.getswitchinterval() == before
        sampled(lambda: (spin(0.05), sys.setswitchinterval(0.02), spin(0.05)))
        assert sys.getswitchinterval() == pytest.approx(0.02)
    finally:
        sys.setswitchinterval(before)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_child_has_the_turns_that_the_program_had() -> None:
    code = """
import os, sys, threading, time
from stepscope.capture.stacks import StackSampler
looking = StackSampler(lambda data: None, threading.get_ident())
looking.resume()
while sys.getswitchinterval() > 0.001: time.sleep(0.001)
if not os.fork():
    looking.resume(), looking.pause(), looking.stop()
    os._exit(sys.getswitchinterval() < 0.004)
code = os.waitstatus_to_exitcode(os.wait()[1])
looking.stop()
sys.exit(code)
"""
    assert subprocess.run([sys.executable, "-c", code], timeout=250, check=False).returncode == 0


class Looks:
    """Clocks and a rest between two looks that take no time. Each look costs the sampling thread the same."""

    def __init__(self, looking: StackSampler, cost_ns: int, lasts_ns: int) -> None:
        self.looking, self.cost_ns, self.end_ns = looking, cost_ns, lasts_ns
        self.now_ns = self.thread_ns = 0

    def monotonic_ns(self) -> int:
        return self.now_ns

    def thread_time_ns(self) -> int:
        return self.thread_ns

    def time_ns(self) -> int:
        return self.now_ns

    def acquire(self, timeout: float) -> bool:
        """The rest: whether it is over for good."""
        self.now_ns += round(timeout * 1e9)
        return self.now_ns >= self.end_ns

    def look(self, late_ns: int) -> None:
        self.looking.looks += 1
        self.now_ns += self.cost_ns
        self.thread_ns += self.cost_ns


@pytest.mark.parametrize(
    ("cost_us", "share"), [(1, 0.0005), (20, 0.01), (100, 0.01), (450, 0.01), (2000, 0.04)]
)
def test_it_costs_a_hundredth_of_the_time(
    cost_us: int, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Less where looks are cheap, as none comes sooner than 2 ms after another; more where one takes so long
    that hardly any would be left. First looks come sooner, until it is known what they cost."""
    looking = StackSampler(lambda data: None, threading.get_ident())
    made = Looks(looking, cost_us * 1000, 60 * 10**9)
    monkeypatch.setattr(stacks, "clocks", made)
    monkeypatch.setattr(looking, "_rest", made)
    monkeypatch.setattr(looking, "_look", made.look)
    looking._wanted.set()
    looking._look_on()
    assert looking.cost_ns == looking.looks * made.cost_ns
    assert looking.cost_ns == pytest.approx(share * looking.lasted_ns, rel=0.2)


@pytest.mark.repeats("how often it looks depends on what else the machine does")
def test_a_recording_has_stacks_and_says_what_they_cost(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    program = PROGRAMS / "jax_python.py"
    done = record("--steps", "40", "--out", "out", "--", sys.executable, program, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = facts(tmp_path / "out")
    assert told["stacks"]["looks"] > 0
    assert told["cost"]["stacks_ns"] == told["stacks"]["cpu_ns"] > 0
    found = Read().read(
        lines(tmp_path / "out" / "stacks.ndjson"), lambda ns: None if ns is None else ns * 1000
    )
    assert found.odd == 0
    spent: Counter[tuple[str, str]] = Counter()
    for sample in found.samples:
        if sample["is_main"]:
            place = found.frames[found.stacks[sample["stack_id"]]["place_id"]]
            spent[(Path(place["file"]).name, place["function"])] += sample["weight_ps"]
    places = [place for place, _ in spent.most_common()]
    assert ("jax_python.py", "count_pairs") in places
    if told["stacks"]["looks"] > 20:  # the machine is not so busy that the thread that looks gets no core
        assert places[0] == ("jax_python.py", "count_pairs")
    # Only the function with the loop of steps holds it, on every line of it.
    looped = {frame["function"]: frame["has_loop"] for frame in found.frames if frame["code"] == "program"}
    assert looped.pop("<module>") is True
    assert set(looped.values()) == {False}
    # The program's own threads only, and none of the recorder's frames.
    assert not any(
        "stepscope/capture" in (frame["file"] or "") for frame in found.frames if frame["code"] == "program"
    )

    without = ("--steps", "5", "--no-stacks", "--out", "none", "--", sys.executable, program)
    assert record(*without, cwd=tmp_path).returncode == 0
    assert not (tmp_path / "none" / "stacks.ndjson").exists()
    assert "stacks" not in facts(tmp_path / "none")


def test_no_look_sees_the_recorder_wait_for_the_last_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pause ends the rest between two looks. Else each recording's last look, of few in a short one, shows
    the program in threading.Event.wait, and that counts as waiting of the program."""
    monkeypatch.setattr(stacks, "LEAST_S", 3600.0)
    looking = StackSampler(lambda data: None, threading.get_ident())
    for _ in range(8):
        looking.resume()
        spin(0.01)
        looking.pause()
        assert looking._idle.wait(240), "it still rests"  # bounds a hang
    looking.stop()
    assert (looking.failed, looking.looks) == (None, 0)
