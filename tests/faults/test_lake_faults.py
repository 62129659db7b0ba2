"""A lake under failing disks and dying processes: whole at every moment, swept at the next start."""

import errno
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.tiers import cases, some

HERE = Path(__file__).parent
KILLS = 200


class Child:
    """The forking process of child.py."""

    def __init__(self, folder: Path, shim: Path | None) -> None:
        env = dict(os.environ)
        if shim is not None:
            env["LD_PRELOAD"] = str(shim)
        command = [sys.executable, "-m", "tests.faults.child", str(folder), *([str(shim)] if shim else [])]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env, cwd=HERE.parents[1]
        )

    def ask(self, **command: Any) -> dict[str, Any]:
        """Sends a command and waits for its answer."""
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        assert "problem" not in answer, f"{command}: {answer}"
        return answer


@contextmanager
def child(folder: Path, shim: Path | None = None) -> Iterator[Child]:
    found = Child(folder, shim)
    try:
        yield found
    finally:
        found.process.stdin.close()
        found.process.stdout.close()
        assert found.process.wait(240) == 0  # bounds a hang


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("failing calls are made with a C compiler and LD_PRELOAD")
    made = tmp_path_factory.mktemp("shim") / "shim.so"
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-O1", "-o", str(made), str(HERE / "shim.c"), "-ldl"], check=True
    )
    return made


@pytest.fixture
def fast(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is one: hundreds of lakes are written, and fsync is only counted."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="stepscope-faults-", dir=memory) as folder:
        yield Path(folder)


@pytest.mark.parametrize("error", some((errno.ENOSPC, errno.EIO, 0), (errno.ENOSPC, 0), "another error"))
def test_every_call_fails_in_turn(fast: Path, shim: Path, error: int) -> None:
    failed = 0
    with child(fast, shim) as process:
        calls = process.ask(do="fail", at=0, errno=0, again=True)["calls"]
        assert calls > 40, "the shim does not see the calls of an ingest"
        tried = range(1, calls + 1, cases(9, 1))
        for at in tried:
            code = process.ask(do="fail", at=at, errno=error, again=at % 4 == 0)["code"]
            # A call whose failure does no harm may be survived; none may end in a traceback.
            assert code in ((-9,) if error == 0 else (0, 3)), f"call {at} of {calls}: exit {code}"
            failed += code != 0
    print(f"{calls} calls, {failed} ingests failed")
    assert failed > len(tried) // 2


@pytest.mark.repeats("two hundred kills at random moments")
def test_kills_at_random_moments(fast: Path) -> None:
    chance = random.Random(20_261_120)
    died = 0
    with child(fast) as process:
        begin = time.monotonic()
        for _ in range(5):
            process.ask(do="kill", after=0.0, again=True)
        # Two ingests (one killed at once, one whole) and the checks took so long.
        span = (time.monotonic() - begin) / 5
        for _ in range(KILLS):
            after = chance.uniform(0, span)
            died += process.ask(do="kill", after=after, again=chance.random() < 0.25)["code"] == -9
    print(f"{died} of {KILLS} ingests died")
    assert died > KILLS // 10


@pytest.mark.repeats("two hundred kills at random moments")
def test_kills_with_plans_and_stages_damaged_in_between(fast: Path) -> None:
    """One lake that grows through 200 killed ingests, while somebody damages what each left."""
    chance = random.Random(20_261_122)
    known: list[str] = []
    died = harmed = 0
    with child(fast) as process:
        spans = []
        for number in range(5):
            answer = process.ask(do="harm", after=30.0, seed=number, run=f"whole{number}", known=known)
            known = answer["runs"]
            spans.append(answer["took"])
        run = 0
        for number in range(KILLS):
            after = chance.uniform(0, sorted(spans)[2])
            answer = process.ask(do="harm", after=after, seed=number, run=f"run{run}", known=known)
            known, harmed = answer["runs"], harmed + answer["harmed"]
            died += answer["code"] == -9
            # After a death the same run again, mostly: what was left of it lies in its way.
            run += answer["code"] == 0 or chance.random() < 0.3
        for number in range(5):
            known = process.ask(do="harm", after=30.0, seed=number, run=f"run{number}", known=known)["runs"]
    print(f"{died} of {KILLS} ingests died, {harmed} leftovers damaged, {len(known)} runs")
    assert died > KILLS // 10
    assert harmed > KILLS // 10
    assert {f"run{number}" for number in range(5)} <= set(known)
