"""Finds what to read: files, folders, archives, standard input and remote paths, as sources of runs."""
