"""Small Chrome traces with known contents."""

import json
from pathlib import Path


def chrome(path: Path, name: str = "op", count: int = 20, dur: int = 2) -> Path:
    """A trace of `count` slices of `dur` µs each on two threads, named name0..name2, with an arg."""
    events = [
        {
            "ph": "X",
            "name": f"{name}{i % 3}",
            "ts": 1000 + i * 10,
            "dur": dur,
            "pid": 1,
            "tid": i % 2,
            "args": {"number": i},
        }
        for i in range(count)
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"traceEvents": events}), encoding="utf-8")
    return path
