"""MonitoredTrainingSession with hooks, a checkpoint folder, and an initializable iterator."""

import sys
import tempfile
from pathlib import Path

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
steps = int(sys.argv[1]) if len(sys.argv) > 1 else 30
tf.set_random_seed(1)
dataset = tf.data.Dataset.range(1000).map(lambda x: tf.cast(x % 5, tf.float32)).batch(4).repeat()
iterator = tf.data.make_initializable_iterator(dataset)
tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
x = tf.reshape(iterator.get_next(), [4, 1])
w = tf.get_variable("w", [1, 4], initializer=tf.random_normal_initializer())
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))
train = tf.train.GradientDescentOptimizer(0.001).minimize(loss, tf.train.get_or_create_global_step())
# It traces steps by itself, and goes on doing so.
traces = tempfile.mkdtemp()
profiler = tf.train.ProfilerHook(save_steps=9, output_dir=traces)
with tempfile.TemporaryDirectory() as folder:
    with tf.train.MonitoredTrainingSession(
        checkpoint_dir=folder,
        hooks=[profiler, tf.train.StopAtStepHook(last_step=steps)],
        save_summaries_steps=None,
    ) as session:
        while not session.should_stop():
            _, value, weights = session.run([train, loss, w])
            print(repr(float(value)))
    print(weights.tobytes().hex(), len(list(Path(traces).iterdir())))
