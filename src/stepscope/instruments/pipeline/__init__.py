"""The tf.data pipeline from its calls: is the input the bottleneck, which stage, and what would help."""
