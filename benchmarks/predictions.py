"""Holds predictions of `stepscope pipeline` against what the changes really gain.

    python benchmarks/predictions.py [CASE...] [--rounds N] [--label TEXT] [--keep DIR] [--again DIR] [--list]

Each case is a pipeline of stock TensorFlow with a fix. In a process of its own, the pipeline is recorded
once (trace and model proto), stepscope predicts what a step takes after the fix, then both pipelines run in
turns without a profiler, and means of their steps are compared. What is compared is the gain: the part of
the step that remains after the fix. Fixes are those that `changes` names; a case whose fix stepscope calls
useless must show that it is, and a fix that it does not name is told to leave the step as it is. What was
recorded and measured is kept with --keep, and predicted anew from
there with --again: so a change of the model is judged without the noise of another measurement.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
NEAR = 0.25
HELPS = 0.05
KEPT = "measured.json"
SAME = 0.1
"""A step that is told to stay as it is may differ by so much: that is what two turns of one pipeline do."""
DRAINED, COUNTED = 24, 24
"""Steps of a turn before those that count, and these. A turn begins with what the pipeline made while the
other had its turn: the five or six batches that the buffers of a case hold, which last long where the
pipeline is nearly as fast as the program."""
SETTLED_S = 2.0
"""Autotune has found its parallelism by then."""


@dataclass(frozen=True)
class Case:
    """A pipeline, the fix, and its name among the changes of stepscope; one of them may have several."""

    before: Callable[[Any], Any]
    after: Callable[[Any], Any]
    change: str
    model_ms: float = 2.0
    computes: bool = True
    """The program computes on the CPU; else it waits for so long, as for an accelerator."""


def work(tf: Any, x: Any, ms: float) -> Any:
    """A function that computes for about so long on one core, as few large ops."""
    a = tf.random.stateless_uniform([180, 180], seed=[1, 2]) + tf.reduce_mean(x) * 1e-9
    for _ in range(max(round(ms / PER_MATMUL_MS), 1)):
        a = tf.matmul(a, a) * 1e-2
    return x + tf.reduce_sum(a) * 1e-30


PER_MATMUL_MS = 0.15


def elements(tf: Any, width: int = 256) -> Any:
    return tf.data.Dataset.range(10_000_000).map(lambda i: tf.ones([width]) * tf.cast(i % 7, tf.float32))


def plain(data: Any, tf: Any) -> Any:
    """The pipeline as written: TensorFlow's rewrites would make some of the fixes themselves."""
    options = tf.data.Options()
    options.experimental_optimization.apply_default_optimizations = False
    options.experimental_optimization.inject_prefetch = False
    return data.with_options(options)


def wait(tf: Any, x: Any, ms: float) -> Any:
    """A function that waits for so long, as for a server or a slow disk; its Python lets go of its lock."""

    def sleeps(value: Any) -> Any:
        time.sleep(ms / 1000)
        return value

    y = tf.numpy_function(sleeps, [x], tf.float32)
    y.set_shape(x.shape)
    return y


def files(tf: Any, count: int = 4) -> list[str]:
    folder = Path(os.environ["STEPSCOPE_BENCH_DATA"])
    names = [folder / f"{i}.tfrecord.gz" for i in range(count)]
    for name in names:
        if not name.exists():
            with tf.io.TFRecordWriter(str(name), tf.io.TFRecordOptions(compression_type="GZIP")) as out:
                for i in range(1500):
                    out.write((str(i * 7919) * 900)[:8000].encode())
    return [str(name) for name in names]


def records(tf: Any, one_by_one: bool) -> Any:
    names = tf.data.Dataset.from_tensor_slices(files(tf)).repeat()
    calls = None if one_by_one else tf.data.AUTOTUNE
    data = names.interleave(
        lambda name: tf.data.TFRecordDataset(name, compression_type="GZIP"),
        cycle_length=1 if one_by_one else 4, num_parallel_calls=calls,
    )  # fmt: skip
    return data.map(lambda s: tf.ones([256]) * tf.cast(tf.strings.length(s), tf.float32)).batch(64)


def waiting_branches(tf: Any, calls: int | None) -> Any:
    """Four sources whose elements each wait."""
    sources = tf.data.Dataset.range(4).repeat()
    return sources.interleave(
        lambda i: elements(tf).take(100).map(lambda x: wait(tf, x, 3)),
        cycle_length=4,
        num_parallel_calls=calls,
    )


def small_ops(i: Any) -> Any:
    """A function of a dozen ops that take hardly any time."""
    import tensorflow as tf

    x = tf.cast(i, tf.float32)
    for k in range(6):
        x = tf.sqrt(tf.abs(x) + float(k))
    return x


def large_ops(x: Any) -> Any:
    """A function whose time is that of its kernels."""
    import tensorflow as tf

    y = tf.repeat(x, 80, axis=-1)
    for _ in range(4):
        y = tf.sin(y)
    return y[..., :256]


def threads(data: Any, tf: Any, number: int) -> Any:
    """The pipeline with so many threads for its functions."""
    options = tf.data.Options()
    options.threading.private_threadpool_size = number
    return data.with_options(options)


AUTO = -1
CORES = os.cpu_count() or 1
CASES: dict[str, Case] = {
    "parallel_map": Case(
        lambda tf: plain(elements(tf).map(lambda x: work(tf, x, 1)).batch(8), tf),
        lambda tf: plain(elements(tf).map(lambda x: work(tf, x, 1), num_parallel_calls=AUTO).batch(8), tf),
        "parallelise_map",
    ),
    "parallel_map_behind_prefetch": Case(
        lambda tf: plain(elements(tf).map(lambda x: work(tf, x, 1)).batch(8).prefetch(2), tf),
        lambda tf: plain(
            elements(tf).map(lambda x: work(tf, x, 1), num_parallel_calls=AUTO).batch(8).prefetch(2), tf
        ),
        "parallelise_map",
    ),
    "prefetch": Case(
        lambda tf: plain(elements(tf).map(lambda x: work(tf, x, 0.5)).batch(8), tf),
        lambda tf: plain(elements(tf).map(lambda x: work(tf, x, 0.5)).batch(8).prefetch(2), tf),
        "prefetch",
        model_ms=4,
    ),
    "prefetch_of_a_slow_map": Case(
        lambda tf: plain(elements(tf).map(lambda x: work(tf, x, 2)).batch(8), tf),
        lambda tf: plain(elements(tf).map(lambda x: work(tf, x, 2)).batch(8).prefetch(2), tf),
        "prefetch",
    ),
    "more_prefetch_is_no_help": Case(
        lambda tf: plain(elements(tf).map(lambda x: work(tf, x, 1)).batch(8).prefetch(1), tf),
        lambda tf: plain(elements(tf).map(lambda x: work(tf, x, 1)).batch(8).prefetch(4), tf),
        "prefetch",
    ),
    "cache": Case(
        lambda tf: plain(
            elements(tf).take(32).map(lambda x: work(tf, x, 1)).repeat().batch(8).prefetch(2), tf
        ),
        lambda tf: plain(
            elements(tf).take(32).map(lambda x: work(tf, x, 1)).cache().repeat().batch(8).prefetch(2), tf
        ),
        "cache_here",
    ),
    "cache_as_rewritten": Case(
        lambda tf: elements(tf).take(32).map(lambda x: work(tf, x, 2)).repeat().batch(8).prefetch(2),
        lambda tf: elements(tf).take(32).map(lambda x: work(tf, x, 2)).cache().repeat().batch(8).prefetch(2),
        "cache_here",
    ),
    "half_the_work": Case(
        lambda tf: plain(elements(tf).map(lambda x: work(tf, x, 2)).batch(8).prefetch(2), tf),
        lambda tf: plain(elements(tf).map(lambda x: work(tf, x, 1)).batch(8).prefetch(2), tf),
        "halve_work",
    ),
    "half_the_work_as_rewritten": Case(
        lambda tf: elements(tf).map(lambda x: work(tf, x, 3)).batch(8).prefetch(2),
        lambda tf: elements(tf).map(lambda x: work(tf, x, 1.5)).batch(8).prefetch(2),
        "halve_work",
    ),
    "no_python": Case(
        lambda tf: plain(elements(tf).map(lambda x: wait(tf, x, 2)).batch(8).prefetch(2), tf),
        lambda tf: plain(elements(tf).map(lambda x: x * 2.0).batch(8).prefetch(2), tf),
        "drop_python",
    ),
    "python_that_sleeps_in_parallel": Case(
        lambda tf: plain(elements(tf).map(lambda x: wait(tf, x, 2)).batch(8).prefetch(2), tf),
        lambda tf: plain(
            elements(tf).map(lambda x: wait(tf, x, 2), num_parallel_calls=AUTO).batch(8).prefetch(2), tf
        ),
        "parallelise_map",
    ),
    "read_files_in_parallel": Case(
        lambda tf: plain(records(tf, True).prefetch(2), tf),
        lambda tf: plain(records(tf, False).prefetch(2), tf),
        "parallelise_reading",
        model_ms=1,
    ),
    "second_of_two_maps": Case(
        lambda tf: plain(
            elements(tf).map(lambda x: work(tf, x, 0.3)).map(lambda x: work(tf, x, 1.2)).batch(8).prefetch(2),
            tf,
        ),
        lambda tf: plain(
            elements(tf)
            .map(lambda x: work(tf, x, 0.3))
            .map(lambda x: work(tf, x, 1.2), num_parallel_calls=AUTO)
            .batch(8)
            .prefetch(2),
            tf,
        ),
        "parallelise_map",
    ),
    "raise_parallelism": Case(
        lambda tf: plain(
            elements(tf).map(lambda x: work(tf, x, 2), num_parallel_calls=1).batch(8).prefetch(2), tf
        ),
        lambda tf: plain(
            elements(tf).map(lambda x: work(tf, x, 2), num_parallel_calls=AUTO).batch(8).prefetch(2), tf
        ),
        "raise_parallelism",
    ),
    "map_of_batches": Case(
        lambda tf: plain(elements(tf).batch(8).map(lambda x: work(tf, x, 10)).prefetch(2), tf),
        lambda tf: plain(
            elements(tf).batch(8).map(lambda x: work(tf, x, 10), num_parallel_calls=AUTO).prefetch(2), tf
        ),
        "parallelise_map",
    ),
    "vectorise_small_ops": Case(
        lambda tf: plain(tf.data.Dataset.range(10**8).map(small_ops).batch(64).prefetch(2), tf),
        lambda tf: plain(tf.data.Dataset.range(10**8).batch(64).map(small_ops).prefetch(2), tf),
        "vectorise",
        model_ms=1,
    ),
    "vectorise_small_ops_on_an_accelerator": Case(
        lambda tf: plain(tf.data.Dataset.range(10**8).map(small_ops).batch(256).prefetch(2), tf),
        lambda tf: plain(tf.data.Dataset.range(10**8).batch(256).map(small_ops).prefetch(2), tf),
        "vectorise",
        model_ms=6,
        computes=False,
    ),
    "vectorise_large_ops": Case(
        lambda tf: plain(elements(tf).map(large_ops).batch(16).prefetch(2), tf),
        lambda tf: plain(elements(tf).batch(16).map(large_ops).prefetch(2), tf),
        "vectorise",
        model_ms=1,
    ),
    "wait_on_more_threads": Case(
        lambda tf: plain(elements(tf).map(lambda x: wait(tf, x, 4)).batch(8).prefetch(2), tf),
        lambda tf: threads(
            plain(
                elements(tf).map(lambda x: wait(tf, x, 4), num_parallel_calls=4 * CORES).batch(8).prefetch(2),
                tf,
            ),
            tf,
            4 * CORES,
        ),
        "larger_threadpool",
        model_ms=5,
        computes=False,
    ),
    "wait_prefetch": Case(
        lambda tf: plain(elements(tf).map(lambda x: wait(tf, x, 1)).batch(8), tf),
        lambda tf: plain(elements(tf).map(lambda x: wait(tf, x, 1)).batch(8).prefetch(2), tf),
        "prefetch",
        model_ms=10,
        computes=False,
    ),
    "wait_cache": Case(
        lambda tf: plain(
            elements(tf).take(32).map(lambda x: wait(tf, x, 3)).repeat().batch(8).prefetch(2), tf
        ),
        lambda tf: plain(
            elements(tf).take(32).map(lambda x: wait(tf, x, 3)).cache().repeat().batch(8).prefetch(2), tf
        ),
        "cache_here",
        model_ms=8,
        computes=False,
    ),
    "wait_half": Case(
        lambda tf: plain(elements(tf).map(lambda x: wait(tf, x, 4)).batch(8).prefetch(2), tf),
        lambda tf: plain(elements(tf).map(lambda x: wait(tf, x, 2)).batch(8).prefetch(2), tf),
        "halve_work",
        model_ms=10,
        computes=False,
    ),
    "wait_more_prefetch_is_no_help": Case(
        lambda tf: plain(elements(tf).map(lambda x: wait(tf, x, 3)).batch(8).prefetch(1), tf),
        lambda tf: plain(elements(tf).map(lambda x: wait(tf, x, 3)).batch(8).prefetch(4), tf),
        "prefetch",
        model_ms=5,
        computes=False,
    ),
    "wait_parallel_limited_by_the_program": Case(
        lambda tf: plain(elements(tf).map(lambda x: wait(tf, x, 3)).batch(8).prefetch(2), tf),
        lambda tf: plain(
            elements(tf).map(lambda x: wait(tf, x, 3), num_parallel_calls=AUTO).batch(8).prefetch(2), tf
        ),
        "parallelise_map",
        model_ms=18,
        computes=False,
    ),
    "wait_map_of_batches": Case(
        lambda tf: plain(elements(tf).batch(8).map(lambda x: wait(tf, x, 20)).prefetch(2), tf),
        lambda tf: plain(
            elements(tf).batch(8).map(lambda x: wait(tf, x, 20), num_parallel_calls=AUTO).prefetch(2), tf
        ),
        "parallelise_map",
        model_ms=5,
        computes=False,
    ),
    "wait_second_of_two": Case(
        lambda tf: plain(
            elements(tf).map(lambda x: wait(tf, x, 1)).map(lambda x: wait(tf, x, 3)).batch(8).prefetch(2), tf
        ),
        lambda tf: plain(
            elements(tf)
            .map(lambda x: wait(tf, x, 1))
            .map(lambda x: wait(tf, x, 3), num_parallel_calls=AUTO)
            .batch(8)
            .prefetch(2),
            tf,
        ),
        "parallelise_map",
        model_ms=5,
        computes=False,
    ),
    "wait_raise_parallelism": Case(
        lambda tf: plain(
            elements(tf).map(lambda x: wait(tf, x, 3), num_parallel_calls=1).batch(8).prefetch(2), tf
        ),
        lambda tf: plain(
            elements(tf).map(lambda x: wait(tf, x, 3), num_parallel_calls=AUTO).batch(8).prefetch(2), tf
        ),
        "raise_parallelism",
        model_ms=5,
        computes=False,
    ),
    "wait_in_an_interleave": Case(
        lambda tf: plain(waiting_branches(tf, None).batch(8).prefetch(2), tf),
        lambda tf: plain(waiting_branches(tf, AUTO).batch(8).prefetch(2), tf),
        "parallelise_reading",
        model_ms=5,
        computes=False,
    ),
}


def one(name: str, rounds: int) -> dict[str, Any]:
    """Records, predicts and measures a case in this process."""
    import tensorflow as tf

    from stepscope.capture import record, step

    global PER_MATMUL_MS
    a = tf.random.uniform([180, 180])
    turns = []
    for _ in range(30):
        begin = time.perf_counter()
        for _ in range(5):
            a = tf.matmul(a, a) * 1e-2
        turns.append((time.perf_counter() - begin) * 1000 / 5)
    PER_MATMUL_MS = max(statistics.median(turns), 0.02)
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
        with record(f"{folder}/capture", warmup=25, steps=30):
            before = iter(case.before(tf))
            for i in range(60):
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
    command = [
        sys.executable,
        "-m",
        "stepscope.cli",
        "pipeline",
        "--no-cache",
        "--format",
        "json",
        str(folder),
    ]
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
    parser.add_argument("--rounds", type=int, default=5, help="turns of each pipeline (5)")
    parser.add_argument("--label", default=f"predictions-{datetime.date.today().isoformat()}")
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
        return conclude(again(options.again, options.cases), options.label, whole=False)
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
    return conclude(results, options.label, whole=not options.cases)


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


def conclude(results: dict[str, Any], label: str, *, whole: bool) -> int:
    """Counts, and writes a whole run to benchmarks/results."""
    right = sum(one["direction"] for one in results.values())
    near = sum(one["near"] for one in results.values())
    inside = sum(one["inside"] for one in results.values())
    of = len(results)
    print(f"direction right in {right} of {of}, within {NEAR:.0%} in {near}, in the interval in {inside}")
    if whole:
        safe = re.sub(r"[^\w.-]", "-", label)
        load = os.getloadavg()[0]
        told = {"cores": os.cpu_count(), "load": load, "direction": right, "near": near, "cases": results}
        (RESULTS / f"predictions-{safe}.json").write_text(json.dumps(told, indent=1) + "\n")
    return 0 if right == len(results) and near >= 0.8 * len(results) else 1


if __name__ == "__main__":
    sys.exit(main())
