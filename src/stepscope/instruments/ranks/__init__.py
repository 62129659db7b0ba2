"""Several ranks of one job: matches their collectives, aligns their clocks, and finds who waits for whom."""
