"""Replay: how long a step would take if something in it took less time."""
