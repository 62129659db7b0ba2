"""Writes the Chrome traces of many ranks of one job for benchmarks: the same seed gives the same bytes.

    python benchmarks/generate_fleet.py FOLDER --ranks 1000

One file a rank, `rank-0000.json` and so on, of about 300 events: six steps of fifty ops on two streams of an
accelerator. Every 97th rank is 1.3 times slower.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from typing import Any

STEPS, OPS = 6, 50
KINDS = ("Conv2D", "MatMul", "Relu", "Mul", "Sum")
NAMES = tuple(f"{kind}_{number}" for number in range(12) for kind in KINDS)


def rank(number: int, seed: int = 1) -> list[dict[str, Any]]:
    """The events of one rank."""
    chance = random.Random(seed * 1_000_003 + number)
    slow = 1.3 if number % 97 == 96 else 1.0
    found: list[dict[str, Any]] = [
        {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "/device:GPU:0/stream:1 Compute"}},
        {"ph": "M", "name": "process_name", "pid": 2, "args": {"name": "/device:GPU:0/stream:2 Compute"}},
    ]
    at = 1_000.0
    for step in range(STEPS):
        begin = at
        for op in range(OPS):
            length = slow * (20 + 30 * chance.random())
            name = NAMES[(op * 7 + step) % len(NAMES)]
            place = {"pid": 1 + op % 2, "tid": 1, "ts": round(at, 3), "dur": round(length, 3)}
            found.append({"ph": "X", "cat": "Op", "name": name, "args": {"name": name}, **place})
            at += length + 2
        mark = {"pid": 9, "tid": 1, "ts": round(begin, 3), "dur": round(at - begin, 3)}
        found.append({"ph": "X", "name": f"ProfilerStep#{step}", "cat": "user_annotation", **mark})
        at += 30
    return found


def write(folder: Path, ranks: int) -> None:
    """All ranks of a job."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(ranks):
        text = json.dumps({"traceEvents": rank(number)})
        (folder / f"rank-{number:04d}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--ranks", type=int, default=1000)
    options = parser.parse_args()
    write(options.folder, options.ranks)
