"""Collapsed stacks: a line of text for each stack, for flamegraph.pl, inferno, speedscope and grep.

    MainThread;main (train.py:62);token_f1 (train.py:31) 4200

The number is in microseconds. The thread comes first; a semicolon within a name is written as a comma.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.escapes import escaped_lines
from stepscope.exporters import Written
from stepscope.exporters.stack_tree import group_by_thread, label, tree

if TYPE_CHECKING:
    from stepscope.session.trace import OpenTrace

EXTENSIONS = (".collapsed", ".folded")
TEXT = True
SHOWN = escaped_lines
DEFAULT = "stack_sample"
_PS = 1_000_000
"""Picoseconds in a microsecond."""


def write(trace: OpenTrace, out: Path, table: str | None) -> Written:
    """Writes the samples of stacks, or the slices as stacks. UsageError for another table."""
    found = tree(trace, table)
    names = [_word(label(frame)) for frame in found.frames]
    shares: dict[str, int] = {}
    for thread, weights in group_by_thread(found.weights):
        for weight in weights:
            path = ";".join([_word(thread), *(names[frame] for frame in found.path(weight.stack))])
            shares[path] = shares.get(path, 0) + weight.time_ps
    with out.open("w", encoding="utf-8", errors="replace", newline="\n") as file:
        for path, time_ps in shares.items():
            if time_ps >= _PS:
                file.write(f"{path} {time_ps // _PS}\n")
    short = sum(time_ps < _PS for time_ps in shares.values())
    notes = (f"numbers are microseconds; {len(shares) - short:,} different stacks",)
    return Written(str(out), {found.table: found.rows}, notes)


def _word(text: str) -> str:
    """Text that ends neither a frame nor a line."""
    return " ".join(text.replace(";", ",").split()) or "?"
