"""Holds predictions of `stepscope pipeline` against what the changes really gain.

    python benchmarks/predictions.py [CASE...] [--rounds N] [--keep DIR] [--again DIR] [--list]

Each case is a pipeline of stock TensorFlow with a fix. In a process of its own, the pipeline is recorded
once (trace and model proto), stepscope predicts what a step takes after the fix, then both pipelines run in
turns without a profiler, and means of their steps are compared. What is compared is the gain: the part of
the step that remains after the fix. Fixes are those that `changes` names; a case whose fix stepscope calls
useless must show that it is, and a fix that it does not name is told to leave the step as it is. What was
recorded and measured is kept with --keep, and predicted anew from there with --again: so a change of the
model is judged without the noise of another measurement. The cases are in prediction_cases.py.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import kept
from prediction_cases import CASES, calibrate

HERE = Path(__file__).resolve().parent
NEAR = 0.25
HELPS = 0.05
KEPT = "measured.json"
SAME = 0.1
"""A step that is told to stay as it is may differ by so much: that is what two turns of one pipeline do."""
DRAINED, COUNTED = 60, 60
"""Steps of a turn before those that count, and these. A turn begins with what the pipeline made while the
other had its turn: the five or six batches that the buffers of a case hold, which last long where the
pipeline is nearly as fast as the program."""
LET_BY = 150
"""Steps before the recording begins: a process that has just begun meets fresh memory, whose pages cost some
machines more than the work."""
SETTLED_S = 2.0
"""Autotune has found its parallelism by then."""


def one(name: str, rounds: int) -> dict[str, Any]:
    """Records, predicts and measures a case in this process."""
    import tensorflow as tf

    from stepscope.capture import record, step

    calibrate(tf)
    case = CASES[name]
    w = tf.random.uniform([600, 600])

    @tf.function
    def train(x: Any) -> Any:
        a = w + tf.reduce_mean(tf.reshape(x, [-1])) * 1e-9
        for _ in range(max(round(case.model_ms / 3), 1)):
            a = tf.matmul(a, w) * 1e-2
        return tf.reduce_sum(a)

    def steps(iterator: Any, count: int) -> list[float]:
        times = []
        for _ in range(count):
            begin = time.perf_counter()
            element = next(iterator)
            if case.computes:
                float(train(element))
            else:
                time.sleep(case.model_ms / 1000)
            times.append(time.perf_counter() - begin)
        return times

    with tempfile.TemporaryDirectory() as folder:
        # As `stepscope record` does: the recorder is there before the pipeline.
        with record(f"{folder}/capture", warmup=LET_BY, steps=30):
            before = iter(case.before(tf))
            for i in range(LET_BY + 35):
                step(i)
                steps(before, 1)
        predicted = predict(Path(folder, "capture"), case.change)
        if keep := os.environ.get("STEPSCOPE_BENCH_KEEP"):
            shutil.copytree(Path(folder, "capture"), Path(keep, name), dirs_exist_ok=True)
    after = iter(case.after(tf))
    for iterator in (before, after):
        settled = time.perf_counter() + SETTLED_S
        while time.perf_counter() < settled:
            steps(iterator, 5)
    slow: list[float] = []
    fast: list[float] = []
    for turn in range(2 * rounds):
        # Before, after, after, before: what drifts meets both alike.
        iterator, times = (before, slow) if turn % 4 in (0, 3) else (after, fast)
        times += steps(iterator, DRAINED + COUNTED)[DRAINED:]
    mean_before, mean_after = _typical(slow), _typical(fast)
    middle = len(slow) // 2  # what the two halves of the turns differ by is the machine's noise
    halves = [_typical(part) for part in (slow[:middle], slow[middle:], fast[:middle], fast[middle:])]
    return {
        **predicted,
        "before_ms": mean_before * 1e3,
        "after_ms": mean_after * 1e3,
        "halves_ms": [half * 1e3 for half in halves],
    }


def _typical(times: list[float]) -> float:
    """A mean without the tenth at either end: buffers make single steps short or long, so that medians
    of steps are no medians of the rate."""
    kept = sorted(times)[len(times) // 10 : len(times) - len(times) // 10]
    return statistics.mean(kept)


def predict(folder: Path, change: str) -> dict[str, Any]:
    """What stepscope says of the change, from a capture of the pipeline."""
    command = [sys.executable, "-m", "stepscope", "pipeline", "--no-cache", "--format", "json", str(folder)]
    answer = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    found = next((one for one in answer["changes"] if one["name"] == change), None)
    return {
        "verdict": answer["verdict"],
        "stage": (answer["bottleneck"] or {}).get("stage"),
        "traced_ms": answer["traced_step_ps"] / 1e9,
        "untraced_ms": answer["step_ps"] / 1e9,
        **{
            key: None if found is None or found[told] is None else found[told] / answer["step_ps"]
            for key, told in (("predicted", "predicted_step_ps"), ("low", "low"), ("high", "high"))
        },
    }


def judge(result: dict[str, Any]) -> dict[str, Any]:
    """Direction and size. A change helps when it takes at least 5 % off the step."""
    really = result["after_ms"] / result["before_ms"]
    told, low, high = (result[key] for key in ("predicted", "low", "high"))
    if told is None:
        # What is not proposed is told to leave the step as it is.
        told, low, high = 1.0, 1 - SAME, 1 + SAME
    helps, helped = told <= 1 - HELPS, really <= 1 - HELPS
    return {
        "remains": really,
        "direction": helps == helped or abs(told - really) <= SAME,
        "near": abs(told / really - 1) <= NEAR,
        "inside": low <= really <= high,
    }


def main() -> int:
    """Runs the cases, prints them and writes them down. Exit 1 when the promises are not kept."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("cases", nargs="*", metavar="CASE")
    parser.add_argument("--rounds", type=int, default=4, help="turns of each pipeline (4)")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep what is recorded and measured here")
    parser.add_argument("--again", type=Path, metavar="DIR", help="predict anew what was kept here")
    parser.add_argument("--list", action="store_true", help="name the cases and stop")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(one(options.one, options.rounds)))
        return 0
    if options.list:
        print("\n".join(CASES))
        return 0
    if options.again:
        return conclude(again(options.again, options.cases), whole=False)
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "STEPSCOPE_BENCH_DATA": folder, "TF_CPP_MIN_LOG_LEVEL": "3"}
        if options.keep:
            environment["STEPSCOPE_BENCH_KEEP"] = str(options.keep.resolve())
        print(f"{'case':32} {'before':>8} {'after':>8} {'remains':>8} {'told':>8}  {'interval':>14}")
        for name in options.cases or CASES:
            command = [sys.executable, __file__, "--one", name, "--rounds", str(options.rounds)]
            done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
            if done.returncode:
                print(f"{name:32} failed: {done.stderr.strip().splitlines()[-1:]}")
                continue
            result = json.loads(done.stdout.splitlines()[-1])
            result.update(judge(result))
            results[name] = result
            show(name, result)
            if options.keep:
                (options.keep / name / KEPT).write_text(json.dumps(result) + "\n")
    return conclude(results, whole=not options.cases)


def again(kept: Path, wanted: list[str]) -> dict[str, Any]:
    """Predicts anew from captures that were kept, and judges that by what was measured then."""
    results = {}
    for name in wanted or [name for name in CASES if (kept / name / KEPT).exists()]:
        measured = json.loads((kept / name / KEPT).read_text())
        result = {**measured, **predict(kept / name, CASES[name].change)}
        result.update(judge(result))
        results[name] = result
        show(name, result)
    return results


def show(name: str, result: dict[str, Any]) -> None:
    """A line for a case."""
    told = result["predicted"]
    marks = "" if result["direction"] else "  WRONG DIRECTION"
    marks += "" if result["near"] or not result["direction"] else "  off"
    measured = f"{result['before_ms']:6.1f}ms {result['after_ms']:6.1f}ms {result['remains']:8.2f}"
    if told is None:
        print(f"{name:32} {measured}  not proposed{marks}")
        return
    interval = f"{result['low']:.2f} to {result['high']:.2f}"
    print(f"{name:32} {measured} {told:8.2f}  {interval:>14}{marks}")


def conclude(results: dict[str, Any], *, whole: bool) -> int:
    """Counts, and keeps a whole run."""
    right = sum(one["direction"] for one in results.values())
    near = sum(one["near"] for one in results.values())
    inside = sum(one["inside"] for one in results.values())
    of = len(results)
    print(f"direction right in {right} of {of}, within {NEAR:.0%} in {near}, in the interval in {inside}")
    if whole:
        told = {"machine": kept.machine(), "direction": right, "near": near, "inside": inside}
        kept.write("predictions", {**told, "cases": results})
    return 0 if right == len(results) and near >= 0.8 * len(results) else 1


if __name__ == "__main__":
    sys.exit(main())
