"""Compares two versions of a program: matches their names, and decides which differences exceed noise."""
