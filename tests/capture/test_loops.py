"""The user's loop is the step, however many calls of a framework it makes."""

import json
import sys
from pathlib import Path

import pytest

from stepscope.capture.loops import NOWHERE, LoopSites, Site, loops_of
from stepscope.capture.pace import StepWatcher
from tests.capture.launching import PROGRAMS, lines, record, run


def nested(sites: LoopSites, found: list[Site]) -> None:
    for i in range(2):
        found.append(sites.here())
        for _ in range(2):
            found.append(sites.here())
            if i:
                continue
            found.append(sites.here())
    found.append(sites.here())


def test_loops_around_a_call() -> None:
    sites, found = LoopSites(), list[Site]()
    nested(sites, found)
    assert len(loops_of(nested.__code__)) == 2
    outer, inner, again = found[0], found[1], found[2]
    assert len(outer.loops) + 1 == len(inner.loops) == len(again.loops)
    assert inner.loops == again.loops
    assert inner.loops[: len(outer.loops)] == outer.loops
    assert inner.at != again.at
    # The second round comes by the same places.
    assert set(found[6:8]) <= {outer, inner}
    assert found[-1].loops == outer.loops[:-1]


def test_a_loop_with_two_ways_back_is_one() -> None:
    def waits(n: int) -> None:
        while n > 0:
            n -= 1
            if n % 2:
                continue
            print(n)

    def plain() -> None:
        print()

    assert len(loops_of(waits.__code__)) == 1
    assert loops_of(plain.__code__) == []


def test_threads_without_the_program_are_nowhere() -> None:
    import threading

    found: list[Site] = []
    sites = LoopSites()
    worker = threading.Thread(target=lambda: found.append(sites.here()))
    worker.start()
    worker.join()
    assert len(found[0].at) == 1
    assert Site((), ()) == NOWHERE


def ops_before_an_outer_call(round_ns: int, has_jitted: bool) -> int | None:
    """After how many rounds of an inner loop of ops the pace takes them for steps."""
    pace = StepWatcher(3)
    pace.has_jitted = has_jitted
    outer, inner = (1, 10), (2, 20)
    now = 0
    for number in range(1, 500):
        for name in ("gather", "multiply", "scatter", "add"):
            site = Site(((2, 24),), (outer, inner))
            begin_ns, now = now, now + round_ns // 4
            pace.saw("jax_op", ("jax_op", "op", name, site, 0), name, begin_ns, begin_ns, now, True, site)
        if pace.ready():
            return number
    return None


def test_ops_of_a_program_that_has_jitted_a_function_are_waited_for_on_a_busy_machine() -> None:
    slow_ns = 40_000_000
    plain, awaited = (ops_before_an_outer_call(slow_ns, jitted) for jitted in (False, True))
    assert plain is not None
    assert awaited is not None
    assert plain < 60 < awaited <= 200


CASES = {
    "variables": 120,
    "values": 120,
    "updates": 120,
    "evaluation": 120,
    "epochs": 120,
    "twice": 120,
    "tape": 120,
    "examples": 120,
    "slots": 120,
    "tape_epochs": 480,
    "nothing": 120,
}
"""Steps of each program of programs/loops.py."""


@pytest.mark.repeats("each case records JAX or TensorFlow")
@pytest.mark.parametrize("case", CASES)
def test_program(case: str, tmp_path: Path) -> None:
    """All steps that the recorder counts, and the summary's."""
    pytest.importorskip(
        "jax" if case in ("updates", "evaluation", "twice", "nothing", "slots") else "tensorflow"
    )
    program = PROGRAMS / "loops.py"
    # To the end: every step is a line, those of the warm-up, too.
    asked = ("--seconds", "600")
    done = record("--out", "out", *asked, "--", sys.executable, program, case, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = lines(tmp_path / "out" / "steps.ndjson")
    # What sets up may be the first step, or belong to it.
    assert CASES[case] - 1 <= len(rows) <= CASES[case], (len(rows), done.stderr)
    recorded = sum(row["recorded"] for row in rows)
    assert recorded >= CASES[case] * 0.5
    summary = run(
        sys.executable, "-m", "stepscope", "query", "--no-cache", "--format", "json", "out",
        "SELECT count(*) AS steps FROM step", cwd=tmp_path,
    )  # fmt: skip
    assert summary.returncode == 0, summary.stderr
    (row,) = json.loads(summary.stdout)["rows"]
    assert row["steps"] == recorded
