"""speedscope's own JSON: a profile for each thread, whose samples come in the order of time.

Slices have no samples: of them, each stack is one sample with its self time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepscope.escapes import escaped_json
from stepscope.exporters import Written
from stepscope.exporters.stack_tree import StackTree, group_by_thread, tree

if TYPE_CHECKING:
    from stepscope.session.trace import OpenTrace

EXTENSIONS = (".speedscope.json", ".speedscope")
TEXT = True
SHOWN = escaped_json
DEFAULT = "stack_sample"
_SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def write(trace: OpenTrace, out: Path, table: str | None) -> Written:
    """Writes the samples of stacks, or the slices as stacks. UsageError for another table."""
    found = tree(trace, table)
    with out.open("w", encoding="utf-8", errors="replace", newline="\n") as file:
        for piece in _pieces(found):
            file.write(piece)
    threads = len({weight.thread for weight in found.weights})
    return Written(str(out), {found.table: found.rows}, (f"{threads:,} threads",) if threads > 1 else ())


def _pieces(found: StackTree) -> Iterator[str]:
    frames = [
        {"name": function, **({"file": file} if file else {}), **({"line": line} if line else {})}
        for function, file, line in found.frames
    ]
    yield json.dumps({"$schema": _SCHEMA, "exporter": "stepscope", "shared": {"frames": frames}})[:-1]
    yield ', "profiles": ['
    for number, (thread, weights) in enumerate(group_by_thread(found.weights)):
        total_ns = sum(weight.time_ps for weight in weights) // 1000
        head: dict[str, Any] = {"type": "sampled", "name": thread, "unit": "nanoseconds"}
        head |= {
            "startValue": 0,
            "endValue": total_ns,
            "weights": [weight.time_ps // 1000 for weight in weights],
        }
        yield (", " if number else "") + json.dumps(head)[:-1] + ', "samples": ['
        for place, weight in enumerate(weights):
            yield (", " if place else "") + json.dumps(found.path(weight.stack))
        yield "]}"
    yield "]}\n"
