"""What the programs of this folder share: `--fix` takes the culprit out, `--steps` says how long to run.

    for number in steps():  # the loop stays in the program: its file and line are part of the truth
        train_step(number)

`TRUTH` of a program says the cause, other causes that may be named, and how it is mended; op type and stage
where these say more than the place. The place is the lines marked `# culprit`, and their function: see
../truth.py. Each program prints the median milliseconds of its settled steps.
"""

import argparse
import statistics
import time
from collections.abc import Iterator
from typing import Any

_SETTLING = 10
"""Steps that the median leaves out."""

_parser = argparse.ArgumentParser()
_parser.add_argument("--fix", action="store_true", help="run without the culprit")
_parser.add_argument("--steps", type=int, default=60)
chosen = _parser.parse_args()


def steps() -> Iterator[int]:
    """Numbers of the steps. The body of the loop over them is timed."""
    took = []
    for number in range(chosen.steps):
        begin = time.perf_counter()
        yield number
        took.append(time.perf_counter() - begin)
    _tell(took)


def clock() -> Any:
    """A callback for programs that leave the loop to Keras: a step lasts until the next batch begins."""
    import tensorflow as tf

    class Clock(tf.keras.callbacks.Callback):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.begins: list[float] = []

        def on_train_batch_begin(self, batch: int, logs: object = None) -> None:
            self.begins.append(time.perf_counter())

        def on_train_end(self, logs: object = None) -> None:
            _tell([end - begin for begin, end in zip(self.begins, self.begins[1:], strict=False)])

    return Clock()


def _tell(took: list[float]) -> None:
    print(f"STEP_MS {statistics.median(took[_SETTLING:]) * 1e3:.2f}")
