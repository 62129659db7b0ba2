"""Items of "Profiling a TensorFlow 1 input pipeline with BigQuery"."""

from __future__ import annotations

from .item import Item

TITLE = "Profiling a TensorFlow 1 input pipeline with BigQuery"

ITEMS: list[Item] = [
    Item(
        "A folder of timelines that `ProfilerHook` wrote, TensorFlow 1.15",
        "stepscope tf1/estimator",
        ("Waiting for input takes 81.6 % of a step (7.60 ms of 9.32 ms)",),
        never=("unknown takes", "lost 0", "not the bottleneck"),
    ),
]
