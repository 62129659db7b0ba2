"""Rows about models: tfprof's views against tf.compat.v1.profiler, and inputs that are large.

TensorFlow is whatever the environment has. Its engine is asked through the module that its Python calls,
which spares it importing the graph and reading the answers; the first view alone is asked as one writes it.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

from measure import Route
from rows import DATA, HERE, Promise, Row, ours, work
from tfprof_views import GRAPH, LOG, STEP, TIME, VIEWS

CORPUS = HERE.parents[1] / "shared" / "corpus" / "tf1" / "resnet14_ref"
"""A model of TensorFlow 1 with a recorded step; the row is left out where there is none."""
SCRIPT = "tfprof_views.py"
LARGEST = "select * from checkpoint_tensor order by bytes desc"


def _options() -> list[str]:
    """The options of the scope view as words."""
    words = []
    for name, value in TIME.items():
        text = ",".join(value) if isinstance(value, list) else str(value).lower()
        words.append(f"-{name}={text}")
    return words


def _first(name: str, about: str, graph: Path, step: Path, log: Path) -> Row:
    files = [f"-graph_path={graph}", f"-run_meta_path={step}", f"-op_log_path={log}"]
    return Row(
        name,
        f"{about}: from the start of the process to the printed scope view",
        (graph, step, log),
        (
            ours("stepscope", "tfprof", "scope", *files, *_options()),
            Route("profile", work("first_view", graph, step, log, script=SCRIPT).command),
        ),
        (Promise("times", "stepscope", 10, "profile"), Promise("memory", "stepscope", 2, "profile")),
    )


def first_rows() -> list[Row]:
    """A real graph and a middle one, from a cold start."""
    rows = []
    if CORPUS.exists():
        log = CORPUS / "oplog_custom" / "tfprof_log"
        rows.append(
            _first(
                "tfprof-first", "a ResNet of 2,300 nodes", CORPUS / GRAPH, CORPUS / "run_meta_0005.pb", log
            )
        )
    folder = DATA / "tfprof-20000"
    rows.append(_first("tfprof-first-20000", "20,000 nodes", folder / GRAPH, folder / STEP, folder / LOG))
    return rows


def view_rows() -> list[Row]:
    """Views of a large graph that is loaded, one after the other in one process on each side."""
    folder = DATA / "tfprof-200000"
    promises = [Promise("times", "ours", 5, "tensorflow", part=view) for view in (*VIEWS, "loading")]
    return [
        Row(
            "tfprof-views",
            "200,000 nodes, a step and an op log: each view after loading, by processor time",
            (folder / GRAPH, folder / STEP, folder / LOG),
            (work("ours", folder, 3, script=SCRIPT), work("tensorflow", folder, 2, script=SCRIPT)),
            (*promises, Promise("memory", "ours", 2, "tensorflow")),
            1,
        )
    ]


def large_rows() -> list[Row]:
    """Inputs that are large in one way each."""
    text, steps = DATA / "tfprof-230000-text" / "graph.pbtxt", DATA / "tfprof-150000"
    prefix = DATA / "checkpoint-2000" / "model.ckpt"
    index = prefix.with_name("model.ckpt.index")
    return [
        Row(
            "tfprof-text",
            "a graph of 230,000 nodes as text of 100 MB: scope and op view",
            (text,),
            (
                ours("scope", "tfprof", "scope", f"-graph_path={text}", "-select=params", "-max_depth=3"),
                ours("op", "tfprof", "op", f"-graph_path={text}", "-select=params,occurrence"),
            ),
            (
                Promise("seconds", "scope", 5), Promise("megabytes", "scope", 700),
                Promise("seconds", "op", 5), Promise("megabytes", "op", 700),
            ),
            3,
        ),
        Row(
            "tfprof-run-metadata",
            "RunMetadata of 75,000 nodes that ran, 130,000 rows: views, summary, query",
            (steps / STEP,),
            (
                ours("scope", "tfprof", "scope", f"-run_meta_path={steps / STEP}", "-max_depth=3"),
                ours("op", "tfprof", "op", f"-run_meta_path={steps / STEP}", "-max_depth=3"),
                ours("summary", steps / STEP, "--no-cache"),
                ours("query", "query", steps / STEP, "select count(*) from slice", "--no-cache"),
            ),
            (
                Promise("seconds", "scope", 2), Promise("megabytes", "scope", 300),
                Promise("seconds", "op", 2), Promise("megabytes", "op", 300),
                Promise("seconds", "summary", 5), Promise("megabytes", "summary", 700),
                Promise("seconds", "query", 2), Promise("megabytes", "query", 500),
            ),
            3,
        ),
        Row(
            "checkpoint",
            "a checkpoint of 2 GB: what is in it, and one tensor of it",
            (index,),
            (
                ours("list", "query", index, LARGEST, "--no-cache"),
                ours("summary", index, "--no-cache"),
                work("value", prefix, "layer_007/kernel"),
            ),
            (
                Promise("seconds", "list", 1), Promise("megabytes", "list", 200),
                Promise("seconds", "summary", 1), Promise("megabytes", "summary", 200),
                Promise("seconds", "value", 0.5), Promise("megabytes", "value", 100),
            ),
        ),
    ]  # fmt: skip


DEFAULT = [*(first_rows() + view_rows() if importlib.util.find_spec("tensorflow") else []), *large_rows()]
ROWS = {row.name: row for row in DEFAULT}
