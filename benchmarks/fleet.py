"""Measures a lake of many hosts: ingest, the same again, a count, the summary, before and after compaction.

    python benchmarks/fleet.py [--ranks 1000 10000] [--folder DIR] [--lake DIR]

Processor seconds of whole processes count, since the machine may be busy. Recordings and lakes of an earlier
run are used again: `--folder` and `--lake` say where they are or will be (a folder in memory leaves the
disk out).
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import generate_fleet
import kept
from measure import Route, run_once
from rows import DATA, OUT, STEPSCOPE

PROMISES = {
    "count": {1_000: 1.0, 10_000: 1.0},
    "summary": {1_000: 3.0, 10_000: 10.0},
    "again": {1_000: 5.0, 10_000: 5.0},
}
"""Processor seconds that a compacted lake may take, by hosts."""
COUNT = "SELECT count(*) AS n FROM slice"


def main() -> int:
    """Measures, prints a line a figure, writes JSON. Exit 1 when a promise broke."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--ranks", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--folder", type=Path, default=DATA)
    parser.add_argument("--lake", type=Path, default=OUT)
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    broken = 0
    for ranks in options.ranks:
        logs = options.folder / f"fleet-{ranks}"
        if not logs.exists():
            generate_fleet.write(logs, ranks)
        figures: dict[str, Any] = {}
        for name, found in measured(logs, options.lake / f"fleet-{ranks}-lake", options.rounds):
            most = PROMISES.get(name.removesuffix("_compacted"), {}).get(ranks)
            promise = "" if most is None or not name.endswith("_compacted") else f"  promised {most} s"
            broken += bool(promise) and found["processor_s"] > float(most or 0)
            figures[name] = found
            print(f"{ranks:>6,} hosts  {name:18} {json.dumps(found)}{promise}", flush=True)
            kept.add("fleet", "hosts", str(ranks), figures)
    return 1 if broken else 0


def measured(logs: Path, lake: Path, rounds: int) -> Any:
    """Names and figures, as they are known."""

    def figure(name: str, *words: object, times: int = 1) -> tuple[str, dict[str, Any]]:
        environment = {"STEPSCOPE_CACHE_DIR": str(OUT / "no-cache")}
        route = Route(name, [str(STEPSCOPE), *map(str, words)], environment=environment)
        seconds, peak_mb, processor_s, _ = min(
            (run_once(route) for _ in range(times)), key=lambda run: run[2]
        )
        return name, {
            "processor_s": round(processor_s, 2), "seconds": round(seconds, 2), "peak_mb": round(peak_mb),
        }  # fmt: skip

    questions = (("count", "query", lake, COUNT), ("summary", "summary", lake))
    ingest = ("ingest", logs, "--lake", lake)
    if not (lake / "_snapshot").exists():
        if not lake.exists():
            yield figure("ingest", *ingest)
        yield figure("again", *ingest)
        for name, *words in questions:
            yield figure(name, *words, times=rounds)
        yield "lake", sizes(lake)
        yield figure("compact", "compact", lake)
    yield figure("again_compacted", *ingest)
    for name, *words in questions:
        yield figure(f"{name}_compacted", *words, times=rounds)


def sizes(lake: Path) -> dict[str, Any]:
    """Files of a lake, and their bytes."""
    found = [path.stat().st_size for path in lake.rglob("*") if path.is_file()]
    return {"files": len(found), "bytes": sum(found)}


if __name__ == "__main__":
    sys.exit(main())
