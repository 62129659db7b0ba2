"""Compiled programs of XLA: what they tell of the ops that were compiled."""
