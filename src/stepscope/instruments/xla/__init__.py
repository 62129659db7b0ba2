"""What compiled programs of XLA tell of the ops that were compiled."""
