"""Recording from inside a program: TensorFlow 1 and 2, Keras, JAX, with what the program has.

    from stepscope import capture

    with capture.record("capture"):              # frameworks are watched while it lasts
        train()

    model.fit(..., callbacks=[capture.KerasCallback("capture")])
    tf.compat.v1.train.MonitoredSession(hooks=[capture.SessionHook("steps", every_steps=100)])

`stepscope record -- python train.py` does the same without an edit. This package imports nothing else of
stepscope and none of its dependencies, and runs on Python 3.8.
"""

from __future__ import annotations
