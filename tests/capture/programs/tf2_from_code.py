"""Recordings that the program makes itself; the folder for them is the first argument."""

import sys
import warnings

import tensorflow as tf

from stepscope import capture

out = sys.argv[1]
capture.record  # noqa: B018  loads no framework by itself


def numbers(count):
    return tf.data.Dataset.range(count).map(lambda x: tf.cast(x, tf.float32)).batch(8)


@tf.function
def total(x):
    return tf.reduce_sum(x)


# An iterator that was alive before anything watched is followed, too; its lines are not known.
before = iter(numbers(10_000))
for _ in range(3):
    total(next(before))

with capture.record(f"{out}/within", steps=4) as recording:
    validation = numbers(100)
    training = iter(numbers(10_000).prefetch(3))
    for _ in range(12):
        total(next(training))
print("within", recording.recorded_steps)

with capture.record(f"{out}/every", warmup=1, steps=2, every=10) as recording:
    for _ in range(35):
        total(next(before))
print("every", recording.recorded_steps)

with capture.record(f"{out}/own", steps=3) as recording:
    for batch in capture.steps(numbers(100)):
        float(tf.reduce_sum(batch))
print("own", recording.recorded_steps)

callback = capture.KerasCallback(f"{out}/keras", steps=4)
pairs = tf.data.Dataset.from_tensor_slices((tf.ones([64, 8]), tf.zeros([64, 1]))).batch(8).repeat()
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(pairs, epochs=1, steps_per_epoch=15, verbose=0, callbacks=[callback])

with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    with capture.record(f"{out}/nothing"):
        pass
    print([str(one.message) for one in told])

try:
    capture.record(f"{out}/keras")
except ValueError as error:
    print(str(error).removeprefix(out))

# While the program's own profiler runs, ours waits.
tf.profiler.experimental.start(f"{out}/own_profiler")
with capture.record(f"{out}/busy", warmup=1, steps=2) as recording:
    for _ in range(6):
        total(next(before))
    print("busy", recording.recorded_steps)
    tf.profiler.experimental.stop()
    for _ in range(6):
        total(next(before))
print("then", recording.recorded_steps)

called = type(total).__call__
print([name for name in sys.modules if name.startswith("_stepscope")], called.__code__.co_filename[-19:])
