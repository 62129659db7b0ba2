"""Pipelines of stock TensorFlow, each with a fix: what predictions.py records, predicts and measures.

Names that begin with `wait_` belong to pipelines and programs that wait
instead of computing, and so do not mind a busy machine.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Case:
    """A pipeline, the fix, and its name among the changes of stepscope; one of them may have several."""

    before: Callable[[Any], Any]
    after: Callable[[Any], Any]
    change: str
    model_ms: float = 2.0
    computes: bool = True
    """The program computes on the CPU; else it waits for so long, as for an accelerator."""


def work(tf: Any, x: Any, ms: float, parts: int = 1) -> Any:
    """A function that computes for about so long on one core, as few large ops; or one of two parts of it.

    The product of the matrix with itself is the matrix, so that numbers stay what they are, and hardly
    anything is done besides the products: half of them is half of the work.
    """
    a = tf.ones([180, 180]) / 180 + tf.reduce_mean(x) * 1e-9
    for _ in range(2 * max(round(ms / 2 / PER_MATMUL_MS), 1) // parts):
        a = tf.matmul(a, a)
    return x + tf.reduce_sum(a) * 1e-30


PER_MATMUL_MS = 0.15
"""What a product takes here; calibrate() finds out."""


def calibrate(tf: Any) -> None:
    """Finds out how long a product takes on this machine."""
    global PER_MATMUL_MS
    a = tf.random.uniform([180, 180])
    turns = []
    for _ in range(30):
        begin = time.perf_counter()
        for _ in range(5):
            a = tf.matmul(a, a) * 1e-2
        turns.append((time.perf_counter() - begin) * 1000 / 5)
    PER_MATMUL_MS = max(statistics.median(turns), 0.02)


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


def bursts(tf: Any) -> Any:
    """A map in two threads, whose batches of eight its consumer takes at once."""
    return elements(tf).map(lambda x: wait(tf, x, 4), num_parallel_calls=2).batch(8)


def filtered(tf: Any, data: Any) -> Any:
    """Batches of what a filter lets by, which waits for each element."""
    return data.filter(lambda x: tf.reduce_max(wait(tf, x, 2)) >= 0).batch(4)


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
    "more_prefetch": Case(
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
        lambda tf: plain(elements(tf).map(lambda x: work(tf, x, 2, parts=2)).batch(8).prefetch(2), tf),
        "halve_work",
    ),
    "half_the_work_as_rewritten": Case(
        lambda tf: elements(tf).map(lambda x: work(tf, x, 3)).batch(8).prefetch(2),
        lambda tf: elements(tf).map(lambda x: work(tf, x, 3, parts=2)).batch(8).prefetch(2),
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
    "wait_prefetch_behind_a_parallel_map": Case(
        lambda tf: plain(threads(bursts(tf), tf, 4), tf),
        lambda tf: plain(threads(bursts(tf).prefetch(2), tf, 4), tf),
        "prefetch",
        model_ms=16,
        computes=False,
    ),
    "wait_copies_of_a_filter": Case(
        lambda tf: threads(filtered(tf, elements(tf)).prefetch(2), tf, 2 * CORES),
        lambda tf: threads(
            tf.data.Dataset.range(2 * CORES)
            .interleave(
                lambda i: filtered(tf, elements(tf).shard(2 * CORES, i)),
                cycle_length=2 * CORES,
                num_parallel_calls=2 * CORES,
                deterministic=False,
            )
            .prefetch(2),
            tf,
            2 * CORES,
        ),
        "outer_parallelism",
        model_ms=1,
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
