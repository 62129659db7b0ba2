"""What a step would take if something in it took less time: the step is replayed from what was recorded."""
