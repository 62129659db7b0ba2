"""Cuts a module, a computation or an instruction out of a dump and runs it alone, to time it or to find the
compiler stage that changed its result."""
