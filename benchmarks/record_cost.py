"""What it costs to be recorded: steps of the same program with and without, in turns.

    python benchmarks/record_cost.py [--rounds N] [--only NAME ...]

Each program notes the time of its own steps, by the clock and of the processor. It is run alone and under
`stepscope record`, in turns, as whole processes. Compared are medians over the rounds of the median step:
before the recording (watched), while it runs (recorded) and after (detached, which is to cost nothing), each
with the same steps of the program alone. On a busy machine believe the processor's time.
`sampling` is the processor time of the thread that looks at stacks, as part of the time in which it does;
`ring` is the same of the thread of `--ring`, whose detached steps are those beside it. `within` says whether
the goals are met: 2 % for sampling, 0.5 % for the ring; for steps above 5 ms by the processor's time 5 %
before and after the recording, and half of a step more while it runs.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import kept

HERE = Path(__file__).resolve().parent
PROGRAMS = {
    "jax_loop": ("jax_loop.py", "256", "64"),
    "jax_longer": ("jax_loop.py", "1024", "128"),
    "keras_fit": ("keras_fit.py",),
    "tf1_session": ("tf1_session.py",),
    "tf2_loop": ("tf2_loop.py", "256", "0.0001"),
    "tf2_longer": ("tf2_loop.py", "1500", "0.000001"),
    "torch_loop": ("torch_loop.py", "256", "64"),
    "torch_longer": ("torch_loop.py", "1024", "256"),
}
"""Words of each program; the longer ones take steps of ten milliseconds."""
PHASES = {"watched": (10, 59), "recorded": (62, 160), "detached": (220, 399)}
"""Steps of a phase: the first 60 settled ones are let go by, the next 100 recorded."""
MOST_SAMPLING, MOST_RING, LONG_US = 0.02, 0.005, 5000
MOST_RATIO = {"watched": 1.05, "recorded": 1.5, "detached": 1.05}
"""Goals for steps from LONG_US on."""
PLAN = ("--warmup", "60", "--steps", "100")


def main() -> int:
    """Measures, prints a line a program and phase, writes JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="*", choices=PROGRAMS, help="names of programs; all when not given")
    options = parser.parse_args()
    for program in options.only or PROGRAMS:
        kept.add("record-cost", "programs", program, measure(program, options.rounds))
    return 0


def measure(program: str, rounds: int) -> dict[str, Any]:
    """Medians of a program by phase, in microseconds, and what capture.json says of the cost."""
    taken: dict[str, list[list[list[int]]]] = {"alone": [], "recorded": [], "ring": []}
    script, *words = PROGRAMS[program]
    stood: list[float] = []
    sampled: list[float] = []
    looked: list[float] = []
    for number in range(rounds):
        for route in list(taken)[:: 1 if number % 2 else -1]:
            with tempfile.TemporaryDirectory() as folder:
                command = [sys.executable, str(HERE / "record_cost" / script), *words]
                if route != "alone":
                    ring = ["--ring", "100"] if route == "ring" else []
                    launcher = [sys.executable, "-m", "stepscope", "record", "--no-summary", *PLAN, *ring]
                    command = [*launcher, "--out", f"{folder}/out", "--", *command]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                taken[route].append(json.loads(done.stdout.splitlines()[-1]))
                if route == "ring":
                    looked.append(share_of_ring(Path(folder, "out")))
                if route == "recorded":
                    facts = json.loads(Path(folder, "out", "capture.json").read_text())
                    cost, stacks = facts["cost"], facts["stacks"]
                    sampled.append(stacks["cpu_ns"] / stacks["sampled_ns"])
                    aside = ("profiled_ns", "machine_ns", "stacks_ns")
                    stood.append(sum(ns for name, ns in cost.items() if name not in aside) / 1e6)
    told: dict[str, Any] = {"rounds": rounds, "stood_still_ms": round(statistics.median(stood), 1)}
    told["sampling"] = round(statistics.median(sampled), 4)
    told["ring"] = round(statistics.median(looked), 4)
    for phase, (first, last) in PHASES.items():
        row: dict[str, float] = {}
        for clock, kind in enumerate(("wall", "cpu")):
            for route, of_route in taken.items():
                if route == "ring" and phase != "detached":
                    continue
                row[f"{route}_{kind}_us"] = median(of_route, clock, first, last)
            row[f"{kind}_ratio"] = round(row[f"recorded_{kind}_us"] / row[f"alone_{kind}_us"], 3)
        told[phase] = row
        print(f"{program:12} {phase:9}", *(f"{name} {value:g}" for name, value in row.items()), flush=True)
    told["within"] = {"sampling": told["sampling"] <= MOST_SAMPLING, "ring": told["ring"] <= MOST_RING}
    if told["watched"]["alone_wall_us"] >= LONG_US:
        told["within"] |= {phase: told[phase]["cpu_ratio"] <= most for phase, most in MOST_RATIO.items()}
    print(
        f"{program:12} stood still for {told['stood_still_ms']} ms, sampling {told['sampling']:.2%},",
        f"ring {told['ring']:.2%}",
        told["within"],
        flush=True,
    )
    return told


def share_of_ring(folder: Path) -> float:
    """Which part of a core the thread took that looks while the program runs."""
    live, facts = (json.loads((folder / name).read_text()) for name in ("live.json", "capture.json"))
    share: float = live["cost_ns"] / (live["unix_ns"] - facts["sessions"][0]["begin_unix_ns"])
    return share


def median(rounds: list[list[list[int]]], clock: int, first: int, last: int) -> float:
    """The median over the rounds of the median step by a clock (0 wall, 1 CPU of all threads), in us."""
    steps = [[step[clock] for step in times[first:last]] for times in rounds]
    return round(statistics.median(statistics.median(times) for times in steps) / 1000, 1)


if __name__ == "__main__":
    sys.exit(main())
