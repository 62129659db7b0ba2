"""Whether the first sentence is true: programs with a known culprit, recorded, asked and scored.

    python benchmarks/culprits.py [FOLDER] [--only NAME ...] [--steps N] [--time N] [--keep FOLDER]

FOLDER holds programs that say their TRUTH, as culprit_programs does, or a folder for each with program.py and
truth.json. Each program is recorded with
`stepscope record`, and `stepscope PATH --format json` says what limits it. Compared are the cause
(also_acceptable counts; a healthy program is one whose cause is none), the place (a line of the culprit, or
another of its function, as the place or as what is called there), op or stage, findings of high severity
about something else, and the predicted step with the fixed program's, timed without a profiler beside the
recording. For comparison, each run of the fixed program is scored against its other runs (with three runs or
more): no prediction can do better. Results of all programs here are the family
`culprits`, those of another folder `culprits-elsewhere`.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import kept

PROGRAMS = Path(__file__).resolve().with_name("culprit_programs")
MARK = "# culprit"
"""Ends a line that is slow."""
ABOUT = {
    "input-wait": {"input"},
    "python-in-pipeline": {"input", "python"},
    "recompilation": {"compile"},
    "compile-step": {"compile"},
    "retraced-functions": {"compile"},
    "copies-in-steps": {"copy"},
    "python-between-ops": {"python"},
    "per-op-dispatch": {"dispatch"},
    "dominant-op": {"compute"},
    "copies-between-ops": {"copy"},
    "per-step-io": {"wait"},
    "waits-between-ops": {"wait"},
    "device-idle": {"input", "python", "dispatch", "wait", "compile", "copy"},
}
"""Causes that a finding of high severity may stand for; others say nothing of a cause."""
NEAR = 0.25
"""How far the predicted step may be from the fixed program's, as part of the latter."""
SAME = 0.1
"""How far it is to be."""


def main() -> int:
    """Records, asks, prints a line a program and the shares, writes JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=PROGRAMS)
    parser.add_argument("--only", nargs="*", help="names of programs; all when not given")
    parser.add_argument("--steps", type=int, default=30, help="steps to record")
    parser.add_argument("--keep", type=Path, help="folder for the recordings; those that are there are used")
    parser.add_argument(
        "--time", type=int, default=1, help="runs of each form of a program; 0: as in truth.json"
    )
    options = parser.parse_args()
    folder = options.folder.resolve()
    results = []
    with tempfile.TemporaryDirectory() as scratch:
        for program in programs(folder):
            if options.only and program.name not in options.only:
                continue
            out = (options.keep or Path(scratch)) / program.name
            truth = program.truth
            if options.time and truth["cause"] != "healthy":
                truth |= timed(program.path, options.time)
            found = scored(truth, asked(program.path, out, options.steps))
            if found["place"]:
                found["place"]["file"] = os.path.relpath(found["place"]["file"], folder)
            results.append({"id": program.name, "cause": truth["cause"], **found})
            print(line(results[-1]), flush=True)
    whole = {"machine": kept.machine(), "shares": shares(results)}
    print(json.dumps(whole["shares"]))
    if not options.only:
        family = "culprits" if folder == PROGRAMS else "culprits-elsewhere"
        kept.write(family, {**whole, "programs": results})
    return 0


class Program(NamedTuple):
    """A program and what is known of it."""

    name: str
    path: Path
    truth: dict[str, Any]


def programs(folder: Path) -> list[Program]:
    """The programs of a folder that have a truth, by name."""
    found = [
        Program(path.parent.name, path.with_name("program.py"), json.loads(path.read_text()))
        for path in folder.glob("*/truth.json")
    ]
    for path in folder.glob("*.py"):
        truth = stated(path)
        if truth is not None:
            found.append(Program(path.stem, path, truth))
    return sorted(found, key=lambda program: program.name)


def stated(path: Path) -> dict[str, Any] | None:
    """The TRUTH of a program, with the place of its marked lines; None for a module that states none."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "TRUTH":
            unsaid: dict[str, Any] = {"also_acceptable": [], "op_type": None, "stage": None, "place": None}
            truth = unsaid | ast.literal_eval(node.value)
            break
    else:
        return None
    marked = [number for number, line in enumerate(text.splitlines(), 1) if line.endswith(MARK)]
    if marked:
        within = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef) and node.lineno <= marked[0] <= (node.end_lineno or 0)
        ]
        truth["place"] = {
            "file": path.name,
            "line_from": marked[0],
            "line_to": marked[-1],
            "function": within[-1].name if within else "<module>",
        }
    return truth


def timed(program: Path, runs: int) -> dict[str, list[float]]:
    """Milliseconds of a step without a profiler, of the program as it is and of the fixed one, in turns."""
    found: dict[str, list[float]] = {"ms_broken": [], "ms_fixed": []}
    for _ in range(runs):
        for key, more in (("ms_broken", []), ("ms_fixed", ["--fix"])):
            done = subprocess.run(
                [sys.executable, str(program), *more], capture_output=True, text=True, check=True
            )
            found[key].append(float(done.stdout.rpartition("STEP_MS ")[2]))
    return found


def asked(program: Path, out: Path, steps: int) -> dict[str, Any]:
    """What stepscope says of a program, which is recorded first unless that was done before."""
    stepscope = [sys.executable, "-m", "stepscope.cli"]
    if not out.exists():
        run = [sys.executable, str(program), "--steps", str(steps + 40)]
        done = subprocess.run(
            [*stepscope, "record", "--steps", str(steps), "--out", str(out), "--", *run],
            capture_output=True,
            text=True,
            check=False,
        )
        if not out.exists():
            return {"answer": None, "findings": [], "headline": done.stderr.splitlines()[-3:]}
    said = subprocess.run(
        [*stepscope, str(out), "--format", "json"], capture_output=True, text=True, check=False
    )
    if said.returncode:
        return {"answer": None, "findings": [], "headline": said.stderr.splitlines()[-3:]}
    found: dict[str, Any] = json.loads(said.stdout)
    return found


def scored(truth: Mapping[str, Any], told: Mapping[str, Any]) -> dict[str, Any]:
    """What is right about an answer; None where the truth has nothing to compare with."""
    answer = told["answer"] or {}
    wanted = {truth["cause"], *truth["also_acceptable"]} - {"healthy"}
    wanted |= {"none"} if truth["cause"] == "healthy" else set()
    high = [one["slug"] for one in told["findings"] if one["severity"] == "high"]
    return {
        "said": answer.get("cause"),
        "right": answer.get("cause") in wanted,
        "placed": placed(truth, answer),
        "false_high": [slug for slug in high if not ABOUT.get(slug, wanted) & wanted],
        "gain": gain(truth, answer),
        "place": answer.get("place"),
        "op_type": answer.get("op_type"),
        "stage": answer.get("stage"),
        "headline": told["headline"][:1],
    }


def placed(truth: Mapping[str, Any], answer: Mapping[str, Any]) -> bool | None:
    """Whether the line, the function, the op or the stage of the culprit is named; None for healthy
    programs."""
    wanted = truth.get("place")
    if wanted is None:
        return None
    for place in filter(None, (answer.get("place"), answer.get("spent_in"))):
        if Path(place["file"]).name == wanted["file"]:
            within = wanted["line_from"] <= (place["line"] or 0) <= wanted["line_to"]
            if within or place["function"] == wanted["function"]:
                return True
    op, stage = answer.get("op_type"), answer.get("stage")
    if op and truth.get("op_type") and truth["op_type"].lower() in op.lower().replace("_mkl", ""):
        return True
    first = (truth.get("stage") or "").partition(" ")[0]
    return bool(stage and first and first.lower() in stage.lower())


def gain(truth: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, Any] | None:
    """The predicted step without its cause and the fixed program's, in milliseconds: a number with its range,
    or a bound alone, or nothing. None for healthy programs."""
    if truth["cause"] == "healthy" or "ms_fixed" not in truth or not answer.get("step_ps"):
        return None
    fixed = statistics.median(truth["ms_fixed"])
    told = {key: answer[key] for key in ("step_if_removed_ps", "low", "high")}
    left, low, high = (None if one is None else one / 1e9 for one in told.values())
    in_range = (low is None or low <= fixed) and (high is None or fixed <= high)
    return {
        "step_ms": round(answer["step_ps"] / 1e9, 2),
        "broken_ms": round(statistics.median(truth["ms_broken"]), 2),
        "predicted_ms": None if left is None else round(left, 2),
        "fixed_ms": round(fixed, 2),
        "tenth": None if left is None else near(left, fixed, SAME),
        "near": None if left is None else near(left, fixed),
        "within_bounds": in_range if left is not None else None,
        "bound": in_range if left is None and (low is not None or high is not None) else None,
        "fixed_runs_ms": truth["ms_fixed"],
        "direction": None if left is None else answer["step_if_removed_ps"] < answer["step_ps"],
    }


def near(one_ms: float, other_ms: float, part: float = NEAR) -> bool:
    """Whether a duration is about another."""
    return abs(one_ms - other_ms) <= part * other_ms


def again(runs_ms: Sequence[float], part: float = NEAR) -> list[bool]:
    """For each run of a program, whether it is near to the middle of the others; empty for fewer than 3."""
    if len(runs_ms) < 3:
        return []
    others = [[*runs_ms[:number], *runs_ms[number + 1 :]] for number in range(len(runs_ms))]
    return [near(one, statistics.median(rest), part) for one, rest in zip(runs_ms, others, strict=True)]


def shares(results: list[dict[str, Any]]) -> dict[str, Any]:
    """How many of the programs are right, by what is scored."""

    def part(values: list[Any]) -> str:
        return f"{sum(map(bool, values))} of {len(values)}"

    def known(values: list[Any]) -> str:
        return part([value for value in values if value is not None])

    gains = [one["gain"] for one in results if one["gain"] is not None]
    return {
        "cause": part([one["right"] for one in results]),
        "place": part([one["placed"] for one in results if one["placed"] is not None]),
        "no false high finding": part([not one["false_high"] for one in results]),
        "gain told as a number": part([one["near"] is not None for one in gains]),
        "gain told as a bound": part([one["bound"] is not None for one in gains]),
        "gain within a tenth": known([one["tenth"] for one in gains]),
        "gain": known([one["near"] for one in gains]),
        "gain within a tenth, by another run of the fixed program": part(
            [found for one in gains for found in again(one["fixed_runs_ms"], SAME)]
        ),
        "gain, by another run of the fixed program": part(
            [found for one in gains for found in again(one["fixed_runs_ms"])]
        ),
        "fixed program within the bounds": known([one["within_bounds"] for one in gains]),
        "bound holds": known([one["bound"] for one in gains]),
        "direction": known([one["direction"] for one in gains]),
    }


def line(one: Mapping[str, Any]) -> str:
    """A program's result in a line."""
    mark = "right" if one["right"] else "WRONG"
    placed = {True: "placed", False: "not placed", None: "-"}[one["placed"]]
    return f"{one['id']:16} {one['cause']:10} {one['said']!s:12} {mark:6} {placed:11} {one['headline']}"


if __name__ == "__main__":
    raise SystemExit(main())
