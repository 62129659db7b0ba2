"""Steps of Keras 2 and 3: batches of fit, evaluate and predict, between the calls of its callbacks.

Batches of training mark steps more surely than the others: a program may evaluate a model before it trains
it.
The list of callbacks is watched, not extended: another callback could change what Keras does.
"""

import sys
from typing import Any, Dict

from . import clocks
from .callers import WatchedCall
from .recorder import Recorder


def watch(recorder: Recorder, module: Any) -> None:
    """Reports the batches of the Keras whose module this is: keras, tf_keras."""
    callbacks = getattr(module.callbacks, "CallbackList", None)
    if callbacks is None:
        callbacks = sys.modules[module.__name__ + ".src.callbacks.callback_list"].CallbackList
    local = recorder.local

    def watched_begin(kind: str) -> Any:
        def make(original: Any) -> Any:
            def on_batch_begin(self: Any, *args: Any, **kwargs: Any) -> Any:
                if recorder.listening:
                    begun = begun_batches(local)
                    if kind == "train":
                        begun.clear()  # of what was left by an exception
                    begun[kind] = clocks.time_ns()
                return original(self, *args, **kwargs)

            return on_batch_begin

        return make

    def watched_end(kind: str) -> Any:
        def make(original: Any) -> Any:
            def on_batch_end(self: Any, *args: Any, **kwargs: Any) -> Any:
                result = original(self, *args, **kwargs)
                begun = begun_batches(local)
                begin_ns = begun.pop(kind, None)
                # A batch within another is part of that one's step.
                if begin_ns is not None and not begun and recorder.listening:
                    end_ns = clocks.time_ns()
                    recorder.step(
                        WatchedCall(
                            "keras_batch" if kind == "train" else "keras_evaluation",
                            ("keras", kind),
                            f"{kind} batch",
                            begin_ns,
                            end_ns,
                            source=getattr(local, "function", lambda: None)(),
                            begin_ns=begin_ns,
                        )
                    )
                return result

            return on_batch_end

        return make

    for kind in ("train", "test", "predict"):
        recorder.patches.wrap(callbacks, f"on_{kind}_batch_begin", watched_begin(kind))
        recorder.patches.wrap(callbacks, f"on_{kind}_batch_end", watched_end(kind))


def begun_batches(local: Any) -> Dict[str, int]:
    """When a batch of each kind began in this thread: a callback of training may evaluate within one."""
    if not hasattr(local, "batches_begun_ns"):
        local.batches_begun_ns = {}
    begun: Dict[str, int] = local.batches_begun_ns
    return begun
