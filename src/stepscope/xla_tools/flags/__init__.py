"""Flags and variables of XLA: what a library knows, what a line of flags says, what to set."""
