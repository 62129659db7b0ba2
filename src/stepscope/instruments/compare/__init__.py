"""Compares two versions of a program: matches their names, and decides which differences exceed noise.

* names.py and matching.py find what is the same thing under another name.
* sides.py and figures.py describe one recording of each; nothing is judged there.
* recordings.py takes robust figures of many recordings, gate.py judges them, budgets.py has the limits.
* statistics.py is the arithmetic of that, history.py finds when a figure changed.
"""
