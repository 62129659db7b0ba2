"""Many small recordings in one question: what each costs does not add up to more than it holds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

COUNT = 400
MOST_MB = 150
"""Measured: 68 MB for one of them, 105 for 400. As streams of their own they took 180."""


def test_many_small_traces_stay_small(tmp_path: Path) -> None:
    for i in range(COUNT):
        events = [{"ph": "X", "name": f"op{j}", "ts": i, "dur": j + 1, "pid": 1, "tid": 1} for j in range(2)]
        (tmp_path / f"t{i}.json").write_text(json.dumps({"traceEvents": events}))
    sql = "SELECT count(*) AS n, sum(dur_ps) AS s, count(DISTINCT source_id) AS files FROM slice"
    child = subprocess.Popen(
        [sys.executable, "-m", "stepscope", "query", str(tmp_path), sql, "--format", "csv", "--no-cache"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert child.stdout is not None
    rows = child.stdout.read().decode().splitlines()
    child.stdout.close()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert rows[1] == f"{2 * COUNT},{3 * COUNT}000000,{COUNT}"
    assert usage.ru_maxrss >> 10 < MOST_MB
