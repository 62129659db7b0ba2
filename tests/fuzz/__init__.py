"""Hostile input, searched for: Python targets here, those of the decoders in crates/fuzz."""
