"""Files that make a TensorFlow model: graph, steps, op log, checkpoint, profile. Known by what is in them."""
