"""Many small recordings in one question: what each costs does not add up to more than it holds."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

COUNT = 400
MOST_MB = 150
"""Measured: 68 MB for one of them, 105 for 400. As streams of their own they took 180."""

ASK = """
import sys
from stepscope.cli import main

try:
    main(["query", *sys.argv[1:], "--format", "csv", "--no-cache"])
finally:
    sys.stdout.flush()
    peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
    print(peak.split()[1], flush=True)
"""
"""Asks, and prints the most KiB that the process held. What wait4() says of a child counts its parent, too:
the two are one until the child runs a program of its own."""


@pytest.mark.repeats("a measurement of many files")
def test_many_small_traces_stay_small(tmp_path: Path) -> None:
    for i in range(COUNT):
        events = [{"ph": "X", "name": f"op{j}", "ts": i, "dur": j + 1, "pid": 1, "tid": 1} for j in range(2)]
        (tmp_path / f"t{i}.json").write_text(json.dumps({"traceEvents": events}))
    sql = "SELECT count(*) AS n, sum(dur_ps) AS s, count(DISTINCT source_id) AS files FROM slice"
    done = subprocess.run([sys.executable, "-c", ASK, str(tmp_path), sql], capture_output=True, text=True)
    rows = done.stdout.splitlines()
    assert rows[1] == f"{2 * COUNT},{3 * COUNT}000000,{COUNT}"
    assert int(rows[-1]) >> 10 < MOST_MB
