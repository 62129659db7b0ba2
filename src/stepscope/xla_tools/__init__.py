"""What installed libraries of XLA say of their flags, ops and symbols, and programs that they run again."""
