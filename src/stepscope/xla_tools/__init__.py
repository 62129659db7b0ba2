"""Asks installed XLA libraries for their flags, ops and symbols, and runs programs of a dump again."""
