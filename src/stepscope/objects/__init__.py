"""The public Python API: a Trace, its results, and reports that a notebook displays."""
