"""A report of everything about a large lake is bounded in memory, and says the same."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from stepscope import config
from stepscope.session import trace
from tests.corpus import SAMPLES

GENERATE = Path(__file__).parents[2] / "benchmarks" / "generate_xspace.py"
REPORT = """
import sys
from pathlib import Path
from stepscope import config
from stepscope.session import trace
from tests.corpus import SAMPLES
from stepscope.cli import main

config.machine_bytes = lambda: int(sys.argv[1])
code = main(["report", sys.argv[2], "-o", sys.argv[3]])
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(code, int(peak.split()[1]) >> 10)
"""
MB = 1 << 20


@pytest.mark.repeats("1.5 million events, twice; the bound itself is tested below")
def test_a_report_of_a_lake_spills_instead_of_growing(tmp_path: Path) -> None:
    file, lake = tmp_path / "h.xplane.pb", tmp_path / "lake"
    subprocess.run([sys.executable, GENERATE, file, "--events", "1500000"], check=True, capture_output=True)
    command = [sys.executable, "-m", "stepscope", "ingest", str(file), "--lake", str(lake), "--run", "r"]
    subprocess.run(command, check=True, capture_output=True)
    peaks, texts = {}, {}
    env = {key: value for key, value in os.environ.items() if key != "STEPSCOPE_MEMORY_BYTES"}
    for machine in (400 * MB, 16_000 * MB):
        out = tmp_path / f"{machine}.json"
        command = [sys.executable, "-c", REPORT, str(machine), str(lake), str(out)]
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=env)
        code, peaks[machine] = map(int, done.stdout.split())
        assert code == 0, done.stderr
        texts[machine] = out.read_text()
    assert texts[400 * MB] == texts[16_000 * MB]
    assert peaks[400 * MB] < peaks[16_000 * MB]


def test_the_bound_is_a_quarter_of_the_machine_or_what_the_user_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STEPSCOPE_MEMORY_BYTES", raising=False)
    for machine, most in ((2 << 30, 512 * MB), (64 << 30, 4 << 30), (None, 4 << 30)):
        monkeypatch.setattr(config, "machine_bytes", lambda machine=machine: machine)
        assert config.report_bytes() == most
    monkeypatch.setenv("STEPSCOPE_MEMORY_BYTES", "9G")
    assert config.report_bytes() == 9 << 30


def test_the_bound_is_for_that_trace_alone() -> None:
    sample = str(SAMPLES / "chrome" / "kineto.json.gz")
    asked = "SELECT current_setting('memory_limit')"
    with trace.open(sample, memory_bytes=300 << 20) as one, trace.open(sample) as other:
        assert one.query(asked).rows() == [("300.0 MiB",)]
        assert other.query(asked).rows() != [("300.0 MiB",)]
