"""How often `stepscope check` is wrong: real recordings of one program, split into sides in many ways.

    python benchmarks/gate.py [PROGRAM] [--into DIR] [--recordings N] [--splits N]

Records a program of gate_programs with two widths in turns, unless DIR has the recordings, and judges splits:
of recordings of one width against each other (every regression is a false alarm), and of one width against
the other (the layer has to be named). Splits overlap, so the rates are rough. Exit 1 when a promise broke.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from statistics import median
from typing import Any

import kept
from stepscope.instruments.compare import gate, recordings
from stepscope.instruments.compare.budgets import Budget
from stepscope.instruments.compare.recordings import RecordedRun
from stepscope.session import trace

HERE = Path(__file__).resolve().parent
PROGRAMS = {"dense": (512, 544, "hidden2"), "conv": (32, 34, "block1")}
"""Widths of both versions, and the scope that grew."""
_SIDE = 4


def main() -> int:
    """Records, judges, prints and writes the rates."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("program", nargs="?", choices=sorted(PROGRAMS), default="dense")
    parser.add_argument("--into", type=Path, default=HERE / "data" / "gate")
    parser.add_argument("--recordings", type=int, default=16, help="of each width")
    parser.add_argument("--splits", type=int, default=200)
    parser.add_argument("--pack", type=Path, help="also write what tests judge")
    options = parser.parse_args()
    small, large, scope = PROGRAMS[options.program]
    loads = record(options.program, (small, large), options.into, options.recordings)
    sides = [
        [read(path) for path in sorted(options.into.glob(f"{side}[0-9]*")) if path.is_dir()] for side in "ab"
    ]
    luck = random.Random(1)
    alarms: Counter[str] = Counter()
    verdicts: Counter[str] = Counter()
    alarmed = found = 0
    for _ in range(options.splits):
        chosen = luck.sample(sides[0], 2 * _SIDE)
        judged = gate.judge(chosen[:_SIDE], chosen[_SIDE:], Budget())
        alarmed += judged.verdict == "regression"
        verdicts[judged.verdict] += 1
        alarms.update(named(judged))
    names: Counter[str] = Counter()
    in_turns = min(map(len, sides))
    for _ in range(options.splits):
        judged = gate.judge(
            luck.sample(sides[0][:in_turns], _SIDE), luck.sample(sides[1][:in_turns], _SIDE), Budget()
        )
        found += any(scope in name for name in named(judged))
        names.update(named(judged))
    result: dict[str, Any] = {
        "machine": kept.machine(),
        "program": options.program,
        "widths": [small, large],
        "recordings": [len(side) for side in sides],
        "splits": options.splits,
        "load": loads,
        "variation_of_steps": gate.judge(sides[0], sides[1], Budget()).variation,
        "false_alarms": alarmed / options.splits,
        "alarmed": dict(alarms.most_common()),
        "verdicts": dict(verdicts),
        "found": found / options.splits,
        "named": {name: number / options.splits for name, number in names.most_common()},
    }
    kept.write(f"gate-{options.program}", result)
    print(json.dumps(result, indent=1))
    if options.pack:
        pack(sides, options.pack)
    return 0 if result["false_alarms"] <= 0.05 and result["found"] >= 0.9 else 1


def record(program: str, widths: tuple[int, int], into: Path, number: int) -> list[float]:
    """Records what is not there, in turns; the load of the machine after each recording."""
    into.mkdir(parents=True, exist_ok=True)
    kept = into / "loads.json"
    loads: list[float] = json.loads(kept.read_text()) if kept.exists() else []
    for turn in range(1, number + 1):
        for side in (0, 1) if turn % 2 else (1, 0):
            out = into / f"{'ab'[side]}{turn:02d}"
            if out.is_dir():
                continue
            words = [sys.executable, "-m", "stepscope", "record", "-o", str(out), "--warmup", "10", "--steps"]
            words += [
                "100",
                "--no-stacks",
                "--no-machine",
                "--no-op-log",
                "--no-datasets",
                "--",
                sys.executable,
            ]
            words += [str(HERE / "gate_programs" / f"{program}.py"), str(widths[side]), "160"]
            subprocess.run(
                words, check=True, capture_output=True, env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
            )
            loads.append(round(os.getloadavg()[0], 1))
            kept.write_text(json.dumps(loads))
    return loads


def read(path: Path) -> RecordedRun:
    """The one recording of a folder."""
    with trace.open(path, cache=False) as opened:
        (found,), failed = recordings.read(opened.query, path.name)
    if failed:
        raise SystemExit(f"{path}: {failed}")
    return found


def named(judged: gate.Judged) -> list[str]:
    """What a verdict calls slower, or over a limit."""
    return [one.names[0] for one in judged.slower] + [one.name for one in judged.exceeded]


def pack(sides: list[list[RecordedRun]], out: Path) -> None:
    """The figures of ops that may be judged, for tests/instruments/test_compare_gate.py."""
    lows: dict[Any, list[float]] = {}
    totals: Counter[Any] = Counter()
    for one in (*sides[0], *sides[1]):
        for key, series in one.ops.items():
            totals[key] += sum(series.by_step.values())
            if (low := recordings.low_figure([series], one.steps)) is not None:
                lows.setdefault(key, []).append(low)
    middles = {key: median(values) for key, values in lows.items()}
    wholes = (sum(totals.values()), sum(middles.values()))
    keep = [
        key for key in totals if totals[key] >= 0.002 * wholes[0] or middles.get(key, 0) >= 0.002 * wholes[1]
    ]
    data = {"about": "made by benchmarks/gate.py; steps in µs, ops in ns", "recordings": []}
    for one in (*sides[0], *sides[1]):
        there = [key for key in keep if key in one.ops]
        steps = sorted({step for key in there for step in one.ops[key].by_step})
        times = [[*key[1:], [_ns(one.ops[key].by_step.get(step)) for step in steps]] for key in there]
        found = {"name": one.path, "steps": [round(ps / 1e6) for ps in one.step_ps], "exact": one.exact}
        data["recordings"].append({**found, "ops": times})  # type: ignore[attr-defined]
    with gzip.GzipFile(out, "wb", 9, mtime=0) as file:
        file.write(json.dumps(data, separators=(",", ":")).encode())


def _ns(ps: int | None) -> int | None:
    return None if ps is None else round(ps / 1000)


if __name__ == "__main__":
    sys.exit(main())
