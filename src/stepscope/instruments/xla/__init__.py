"""Programs that XLA compiled: their cost, their memory, and the time of their instructions."""
