"""Several ranks of one job: their collectives matched, their clocks aligned, who waits for whom."""
