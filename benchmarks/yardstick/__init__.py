"""How often profilers are right: programs with a planted cause, traces of other projects. See README.md."""
