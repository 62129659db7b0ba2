"""tfprof's views of a model on both sides: ours, and TensorFlow's own engine behind tf.compat.v1.profiler.

Each prints one JSON line: the seconds of each view after loading, and a hash of its text.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

EVERYTHING: dict[str, Any] = {
    "max_depth": 10000,
    "account_type_regexes": [".*"],
    "start_name_regexes": [".*"],
    "show_name_regexes": [".*"],
}
# What ProfileOptionBuilder gives: time_and_memory, trainable_variables_parameter, float_operation.
TIME = EVERYTHING | {
    "min_bytes": 1,
    "min_micros": 1,
    "order_by": "micros",
    "account_displayed_op_only": True,
    "select": ["micros", "bytes"],
}
PARAMS = EVERYTHING | {
    "account_type_regexes": ["_trainable_variables"],
    "account_displayed_op_only": True,
    "select": ["params"],
}
FLOPS = EVERYTHING | {
    "min_float_ops": 1,
    "order_by": "float_ops",
    "account_displayed_op_only": True,
    "select": ["float_ops"],
}
CHOSEN = TIME | {
    "max_depth": 6,
    "start_name_regexes": ["tower_[0-3]/.*", "gradients/.*"],
    "hide_name_regexes": [".*/Initializer/.*", ".*Momentum.*"],
    "select": ["micros", "bytes", "occurrence", "op_types", "device"],
}
VIEWS: dict[str, tuple[str, dict[str, Any]]] = {
    "scope": ("scope", TIME),
    "scope_params": ("scope", PARAMS),
    "scope_chosen": ("scope", CHOSEN),
    "graph": ("graph", TIME),
    "graph_flops": ("graph", FLOPS),
    "op": ("op", TIME),
    "op_flops": ("op", FLOPS),
    "code": ("code", TIME),
    "code_params": ("code", PARAMS),
}
GRAPH, STEP, LOG = "graph.pb", "run_meta.pb", "tfprof_log"


def ours(folder: str, rounds: str) -> None:
    """stepscope's engine."""
    from stepscope import _core
    from stepscope.instruments import tfprof

    at = Path(folder)
    start = time.process_time()
    model = tfprof.TfprofModel(str(at / GRAPH), [str(at / STEP)], str(at / LOG), log_first=True)

    def answer(name: str) -> None:
        view, given = VIEWS[name]
        options = _core.TfprofOptions()
        for key, value in ({"account_type_regexes": [], "max_depth": 0} | given).items():
            if isinstance(value, list):
                options.force(key, value)
            else:
                options.set(key, str(value).lower())
        sys.stdout.write(model.show(view, options).text)
        sys.stdout.flush()

    _measure(answer, int(rounds), time.process_time() - start)


def tensorflow(folder: str, rounds: str) -> None:
    """TensorFlow's engine, without what its Python adds before and behind it."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    from tensorflow.python.profiler import model_analyzer
    from tensorflow.python.util import _pywrap_tfprof

    at = Path(folder)
    start = time.process_time()
    graph, log = (at / GRAPH).read_bytes(), (at / LOG).read_bytes()
    _pywrap_tfprof.NewProfiler(graph, log)
    _pywrap_tfprof.AddStep(0, b"", (at / STEP).read_bytes(), b"")
    del graph, log

    def answer(name: str) -> None:
        view, given = VIEWS[name]
        options = model_analyzer._build_options(given)
        _pywrap_tfprof.Profile(view.encode(), options.SerializeToString())

    _measure(answer, int(rounds), time.process_time() - start)


def first_view(graph_path: str, step_path: str, log_path: str) -> None:
    """The scope view of a graph in files as one writes it with tf.compat.v1.profiler."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow.compat.v1 as tf
    from tensorflow.core.profiler import tfprof_log_pb2

    with tf.Graph().as_default() as graph:
        tf.import_graph_def(tf.GraphDef.FromString(Path(graph_path).read_bytes()), name="")
        step = tf.RunMetadata.FromString(Path(step_path).read_bytes())
        log = tfprof_log_pb2.OpLogProto.FromString(Path(log_path).read_bytes())
        tf.profiler.profile(graph, step, log, cmd="scope", options=TIME)


def _measure(answer: Callable[[str], None], rounds: int, loading: float) -> None:
    """Asks each view some times over; the best counts. Its text goes into a file, whoever writes it.

    Counted is the time of the processor: both engines use one thread, and what else the machine does is not
    theirs.
    """
    parts: dict[str, float] = {}
    digests = {}
    kept = os.dup(1)
    with tempfile.TemporaryFile() as text:
        sys.stdout.flush()
        os.dup2(text.fileno(), 1)
        for name in VIEWS:
            seconds = []
            for _ in range(rounds):
                text.seek(0)
                text.truncate()
                start = time.process_time()
                answer(name)
                seconds.append(time.process_time() - start)
            text.seek(0)
            parts[name] = min(seconds)
            digests[name] = hashlib.sha256(_body(text.read())).hexdigest()
        os.dup2(kept, 1)
    parts["loading"] = loading
    print(json.dumps({"parts": parts, "digests": digests}))


def _body(text: bytes) -> bytes:
    """The view without the frame that TensorFlow's Python puts around it."""
    _, _, rest = text.rpartition(b"==================Model Analysis Report======================\n")
    return rest.removesuffix(b"\n======================End of Report==========================\n")


if __name__ == "__main__":
    {"ours": ours, "tensorflow": tensorflow, "first_view": first_view}[sys.argv[1]](*sys.argv[2:])
