"""Memory: who holds it, when it peaks, how long tensors live, and what would lower the peak.

* moves.py reads what allocators recorded, whatever kind of recording it is.
* blocks.py pairs allocations with what freed them.
* peak.py follows how much is held, and says by whom.
* lifetimes.py tells from the executed graph how long each tensor has to live.
* lanes.py packs blocks into rows to be drawn on.
* whatif.py holds the peak against what it would be after a change.
* allocators.py brings it together for a trace, and makes the table `buffer`.
"""
