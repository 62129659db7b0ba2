"""memory.ndjson: the variables of the program that hold arrays, when a recording begins and when it ends."""

import sys
import weakref
from typing import Any, Callable, Dict, Optional, Tuple

from . import clocks
from .environment import jax_is_used
from .frames import Whose
from .holders import HeldSize, VariableHolder, Walk
from .keeping_lines import Keeping
from .machine import available_bytes, resident_bytes
from .places import is_framework

NAME = "memory.ndjson"
OF_DEVICES = "device_memory.pb.gz"
"""Holdings of the program's lines on JAX's devices, in pprof's format, at the last look: JAX knows the line
of each buffer, also of those that no variable of the program leads to."""
MOST_TOLD = 100
"""Most holders of a look: the largest, and those that grew most."""


def device_profile() -> Optional[bytes]:
    """The current profile of JAX's devices; None without JAX, or without a profile."""
    ask = getattr(getattr(sys.modules.get("jax"), "profiler", None), "device_memory_profile", None)
    if ask is None or not jax_is_used():
        return None
    profile = ask()
    return profile if isinstance(profile, bytes) else None


class MemoryWatch:
    """Looks for the program's arrays. write: takes a line."""

    def __init__(self, write: Callable[[Dict[str, Any]], None]) -> None:
        self._write = write
        self._looks = 0
        self._keeping = Keeping()
        self._before: Dict[VariableHolder, HeldSize] = {}
        self._graphs: weakref.WeakKeyDictionary[Any, Tuple[int, Optional[int]]] = weakref.WeakKeyDictionary()
        """TensorFlow's graphs, with a number and the count of ops of each."""
        self._all_before = True
        """Whether the last look was complete: otherwise, new objects may be older."""

    def look(self, steps: int) -> None:
        """Writes the current holdings. steps: the number of steps so far."""
        walk = Walk()
        begin = clocks.monotonic_ns()
        walk.run()
        self._looks += 1
        now = walk.found
        grown = {
            holder: held.bytes - self._before.get(holder, HeldSize(0, 0)).bytes
            for holder, held in now.items()
        }
        self._write(
            {
                "look": self._looks,
                "unix_ns": clocks.time_ns(),
                "steps": steps,
                "took_ns": clocks.monotonic_ns() - begin,
                "objects": walk.objects,
                "cut": walk.cut,
                "bytes": sum(held.bytes for held in now.values()),
                "arrays": sum(held.arrays for held in now.values()),
                "rss_bytes": resident_bytes(),
                "available_bytes": available_bytes(),
            }
        )
        most_changed = dict.fromkeys(sorted(now, key=lambda holder: -now[holder].bytes)[:MOST_TOLD])
        if self._looks > 1:
            most_changed.update(dict.fromkeys(sorted(now, key=lambda holder: -grown[holder])[:MOST_TOLD]))
        for holder in most_changed:
            self._write_holder(holder, now[holder])
        for graph in walk.graphs:
            self._tell_graph(graph)
        self._before, self._all_before = now, not walk.cut

    def _write_holder(self, holder: VariableHolder, held: HeldSize) -> None:
        root = holder.root
        found = self._keeping.of(root.path, holder.name, None if root.function is None else root.begin)
        line: Dict[str, Any] = {
            "look": self._looks,
            "holder": holder.name,
            "kind": holder.kind,
            "device": holder.device,
            "bytes": held.bytes,
            "arrays": held.arrays,
            "file": root.file,
            "line": found.line if found is not None else None,
            "function": found.function if found is not None else root.function or "<module>",
            "puts": found is not None and found.grows,
        }
        if held.operations:
            line["operations"] = held.operations
        if self._looks > 1 and (self._all_before or holder in self._before):
            before = self._before.get(holder, HeldSize(0, 0))
            line["was_bytes"], line["was_arrays"] = before.bytes, before.arrays
            if held.operations:
                line["was_operations"] = before.operations
        self._write(line)

    def _tell_graph(self, graph: Any) -> None:
        """The number of ops of a graph, and the line that added the last one."""
        ops = graph.get_operations()
        number, before = self._graphs.get(graph, (len(self._graphs) + 1, None))
        self._graphs[graph] = number, len(ops)
        if not ops:
            return
        file, at, function = _made_in(ops[-1])
        line: Dict[str, Any] = {
            "look": self._looks,
            "holder": "the graph" if number == 1 else f"graph {number}",
            "kind": "ops",
            "device": "host",
            "bytes": 0,
            "arrays": len(ops),
            "file": file,
            "line": at,
            "function": function,
            "puts": True,
        }
        if before is not None:
            line["was_bytes"], line["was_arrays"] = 0, before
        self._write(line)


def _made_in(op: Any) -> Tuple[Optional[str], Optional[int], Optional[str]]:
    """The innermost line of the program that made an op: its file, line and function."""
    whose = Whose()
    for place in reversed(list(op.traceback or ())):
        path, line, function = place[0], place[1], place[2]
        if not is_framework(path):
            code, file = whose.of(path, "")
            if code == "program":
                return file, line, function
    return None, None, None
