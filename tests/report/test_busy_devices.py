"""How busy a device is that several recordings of one host show."""

import json
from pathlib import Path
from typing import Any

from stepscope.report import summary
from stepscope.session import trace


def _recording(busy_us: int) -> dict[str, Any]:
    """A millisecond in which the device works at its end, and its host all the time."""
    on_host = {"ph": "X", "name": "aten::mm", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 0, "dur": 1000}
    kernel = {
        "ph": "X", "name": "gemm", "cat": "kernel", "pid": 0, "tid": 7, "ts": 1000 - busy_us, "dur": busy_us,
        "args": {"device": 0, "stream": 7, "correlation": 1},
    }  # fmt: skip
    return {"deviceProperties": [{"id": 0, "name": "T4"}], "traceEvents": [on_host, kernel]}


def test_it_is_busy_for_its_part_of_all_of_them(tmp_path: Path) -> None:
    for name, busy_us in (("a", 900), ("b", 100)):
        (tmp_path / f"{name}.pt.trace.json").write_text(json.dumps(_recording(busy_us)))
    with trace.open(tmp_path, cache=False) as opened:
        assert "GPU 0 is busy 50.0 % of the time." in summary.build(opened).headline
