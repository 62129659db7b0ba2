"""The files of a TensorFlow model, recognised by content: graph, steps, op log, checkpoint, profile."""
