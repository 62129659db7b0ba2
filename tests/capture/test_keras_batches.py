"""Batches of Keras as the recorder hears of them: those of training, and others within them."""

import threading
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

from stepscope.capture import keras
from stepscope.capture.patches import Patches


class CallbackList:
    """As in Keras, with a callback that does something at the end of a batch of training."""

    def __init__(self, at_end: Any) -> None:
        self.at_end = at_end

    def on_train_batch_begin(self, batch: int) -> None: ...
    def on_test_batch_begin(self, batch: int) -> None: ...
    def on_predict_batch_begin(self, batch: int) -> None: ...
    def on_test_batch_end(self, batch: int) -> None: ...
    def on_predict_batch_end(self, batch: int) -> None: ...

    def on_train_batch_end(self, batch: int) -> None:
        self.at_end()


def test_a_batch_of_training_lasts_until_what_it_evaluates_has_ended() -> None:
    steps: list[Any] = []
    recorder = SimpleNamespace(
        patches=Patches(), local=threading.local(), listening=True, step=steps.append, unharmed=nullcontext
    )
    keras.watch(recorder, SimpleNamespace(callbacks=SimpleNamespace(CallbackList=CallbackList)))  # type: ignore[arg-type]
    try:
        within = CallbackList(None)

        def evaluate() -> None:
            for batch in range(2):
                within.on_test_batch_begin(batch)
                assert keras.begun_batches(recorder.local).keys() == {"train", "test"}
                within.on_test_batch_end(batch)

        callbacks = CallbackList(evaluate)
        callbacks.on_train_batch_begin(0)
        callbacks.on_train_batch_end(0)
        assert [call.name for call in steps] == ["train batch"]
        within.on_test_batch_begin(0)
        within.on_test_batch_end(0)
        assert [call.name for call in steps] == ["train batch", "test batch"]
        within.on_test_batch_begin(1)  # and fails
        callbacks.on_train_batch_begin(1)
        callbacks.on_train_batch_end(1)
    finally:
        recorder.patches.undo()
    assert [call.name for call in steps] == ["train batch", "test batch", "train batch"]
    assert not keras.begun_batches(recorder.local)
