"""XLA flags and environment variables: which a library accepts, what a line of flags does, what to set."""
