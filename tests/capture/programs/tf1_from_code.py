"""Several traced steps of TensorFlow 1 sessions; the folder for them is the first argument."""

import sys

import tensorflow.compat.v1 as tf

from stepscope import capture

tf.disable_v2_behavior()
out = sys.argv[1]
global_step = tf.train.get_or_create_global_step()
w = tf.get_variable("w", [4, 4])
train = tf.group(w.assign_add(tf.matmul(w, w) * 0.001), global_step.assign_add(1))
hooks = [
    capture.SessionHook(f"{out}/hook", steps=range(3, 9, 2), show_memory=True),
    tf.train.StopAtStepHook(12),
]
with tf.train.MonitoredTrainingSession(hooks=hooks) as session:
    while not session.should_stop():
        session.run(train)
with capture.Session(
    tf.Session(), f"{out}/session", every_steps=5, show_dataflow=True, partition_graphs=False
) as session:
    session.run(tf.global_variables_initializer())
    for _ in range(16):
        session.run(train)
