"""A module, a computation or an instruction of a dump, cut out and run alone: how long it takes, and where a
stage of the compiler changed what comes out."""
