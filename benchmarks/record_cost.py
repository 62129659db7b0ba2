"""What it costs to be recorded: steps of the same program with and without, in turns.

    python benchmarks/record_cost.py [--rounds N] [--label TEXT]

Each program notes the time of its own steps, by the clock and of the processor. It is run alone and under
`stepscope record`, in turns, as whole processes. Compared are medians over the rounds of the median step:
before the recording (watched), while it runs (recorded) and after (detached, which is to cost nothing), each
with the same steps of the program alone. On a busy machine believe the processor's time.
Written to benchmarks/results/record-cost-LABEL.json.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "record_cost"
PHASES = {"watched": (10, 59), "recorded": (62, 160), "detached": (220, 399)}
"""Steps of a phase: the first 60 settled ones are let go by, the next 100 recorded."""
PLAN = ("--warmup", "60", "--steps", "100")


def main() -> int:
    """Measures, prints a line a program and phase, writes JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--label", default=datetime.date.today().isoformat())
    options = parser.parse_args()
    results: dict[str, Any] = {"cores": os.cpu_count(), "load": os.getloadavg()[0], "programs": {}}
    for program in sorted(PROGRAMS.glob("*.py")):
        results["programs"][program.stem] = measure(program, options.rounds)
    out = HERE / "results" / f"record-cost-{options.label}.json"
    out.write_text(json.dumps(results, indent=1) + "\n")
    return 0


def measure(program: Path, rounds: int) -> dict[str, Any]:
    """Medians of a program by phase, in microseconds, and what capture.json says of the cost."""
    taken: dict[str, list[list[list[int]]]] = {"alone": [], "recorded": []}
    stood: list[float] = []
    for number in range(rounds):
        for route in ("alone", "recorded") if number % 2 else ("recorded", "alone"):
            with tempfile.TemporaryDirectory() as folder:
                command = [sys.executable, str(program)]
                if route == "recorded":
                    launcher = [sys.executable, "-m", "stepscope.cli", "record", *PLAN]
                    command = [*launcher, "--out", f"{folder}/out", "--", *command]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                taken[route].append(json.loads(done.stdout.splitlines()[-1]))
                if route == "recorded":
                    cost = json.loads(Path(folder, "out", "capture.json").read_text())["cost"]
                    aside = ("profiled_ns", "machine_ns", "stacks_ns")
                    stood.append(sum(ns for name, ns in cost.items() if name not in aside) / 1e6)
    told: dict[str, Any] = {"rounds": rounds, "stood_still_ms": round(statistics.median(stood), 1)}
    for phase, (first, last) in PHASES.items():
        row: dict[str, float] = {}
        for clock, kind in enumerate(("wall", "cpu")):
            for route, of_route in taken.items():
                row[f"{route}_{kind}_us"] = median(of_route, clock, first, last)
            row[f"{kind}_ratio"] = round(row[f"recorded_{kind}_us"] / row[f"alone_{kind}_us"], 3)
        told[phase] = row
        print(
            f"{program.stem:12} {phase:9}", *(f"{name} {value:g}" for name, value in row.items()), flush=True
        )
    print(f"{program.stem:12} stood still for {told['stood_still_ms']} ms", flush=True)
    return told


def median(rounds: list[list[list[int]]], clock: int, first: int, last: int) -> float:
    """The median over the rounds of the median step by a clock (0 wall, 1 CPU of all threads), in us."""
    steps = [[step[clock] for step in times[first:last]] for times in rounds]
    return round(statistics.median(statistics.median(times) for times in steps) / 1000, 1)


if __name__ == "__main__":
    sys.exit(main())
