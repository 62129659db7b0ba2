"""A MonitoredTrainingSession in the words of TensorFlow 1.1 to 1.15, fed by a queue that threads fill."""

import tempfile

import tensorflow as tf

queue = tf.FIFOQueue(100, tf.float32, shapes=[[64]])
tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(tf.random_uniform([64]))] * 2))
x = tf.reshape(queue.dequeue(), [-1, 1])
w = tf.get_variable("w", [1, 256], initializer=tf.random_normal_initializer())
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))
step = tf.contrib.framework.get_or_create_global_step()
train = tf.train.GradientDescentOptimizer(0.001).minimize(loss, step)
with tempfile.TemporaryDirectory() as folder:
    hooks = [tf.train.StopAtStepHook(last_step=120)]
    with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, hooks=hooks) as session:
        while not session.should_stop():
            number = session.run([train, step])[1]
    print("trained", number >= 119)
