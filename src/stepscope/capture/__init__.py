"""Recording from inside a program: TensorFlow 1 and 2, Keras, JAX, with what the program has.

    from stepscope import capture

    with capture.record("capture"):              # frameworks are watched while it lasts
        train()

    model.fit(..., callbacks=[capture.KerasCallback("capture")])
    tf.compat.v1.train.MonitoredSession(hooks=[capture.SessionHook("steps", every_steps=100)])

`stepscope record -- python train.py` does the same without an edit. This package imports nothing else of
stepscope and none of its dependencies. It is written for Python 3.6; from code it can be used from 3.7 on.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .recording import record, step, step_function, steps
    from .sessions import Session

__all__ = ["KerasCallback", "Session", "SessionHook", "record", "step", "step_function", "steps"]


def __getattr__(name: str) -> Any:
    # Made on first use: the hook at Python's start loads this file, and frameworks are loaded by none of it.
    from importlib import import_module

    if name in ("record", "step", "step_function", "steps"):
        value = getattr(import_module(".recording", __name__), name)
    elif name == "Session":
        value = import_module(".sessions", __name__).Session
    elif name == "SessionHook":
        value = import_module(".sessions", __name__).session_hook()
    elif name == "KerasCallback":
        value = import_module(".sessions", __name__).keras_callback()
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value
