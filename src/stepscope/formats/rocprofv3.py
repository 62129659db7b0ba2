"""JSON of AMD's rocprofv3 (`--output-format json`): work of GPUs, and the calls that asked for it.

Format: <https://rocm.docs.amd.com/projects/rocprofiler-sdk/en/latest/how-to/using-rocprofv3.html>.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from stepscope._core import Store
from stepscope.formats import Pieces
from stepscope.formats._profile_events import MOST_BYTES, Events, listed, member, parse
from stepscope.formats._rocprof_rows import MOST_NS, NS, Span, copies_track, queue_track, stored, thread_track
from stepscope.sources.source import Traits

NAME = "rocprofv3"
TRAITS = Traits(endings=(".db",))
_TOP = re.compile(rb'\{\s*"rocprofiler-sdk-tool"\s*:')
_GPU = 2
"""Type of an agent that is a GPU."""


def sniff(head: bytes, name: str) -> bool:
    """An object that begins with the tool's name."""
    return _TOP.match(head.lstrip()) is not None


def build(pieces: Pieces) -> Store:
    """Kernels and copies on the GPUs that ran them, and calls on their threads."""
    data = pieces.read(MOST_BYTES)
    processes = listed(member(parse(data), "rocprofiler-sdk-tool"))
    events = Events()
    spans = [span for process in processes for span in _spans(process, events)]
    return stored(events, spans, pieces, data, "rocprofv3")


class _ProfiledProcess(NamedTuple):
    """A process whose calls and kernels were recorded."""

    pid: int
    gpus: Mapping[int, int]
    """Numbers of GPUs, by the handles of their agents."""
    kernels: Mapping[Any, str]
    """Names of kernels, by their ids."""

    def placed(self, group: str, row: Any, name: str, events: Events) -> tuple[Any, ...]:
        """Name, process, thread, category and args of a record: of a queue, of copies, or of a thread."""
        correlation = member(member(row, "correlation_id"), "internal")
        args = {"correlation": correlation} if isinstance(correlation, int) else {}
        info = member(row, "dispatch_info")
        if group == "kernel_dispatch" or info is not None:
            gpu = self.gpus.get(_handle(member(info, "agent_id")), 0)
            queue = _handle(member(info, "queue_id"))
            name = self.kernels.get(_handle(member(info, "kernel_id")), name or "kernel")
            *place, placed = queue_track(events, gpu, queue)
            return (name, *place, {**args, **placed, "stream": queue})
        if group == "memory_copy":
            ends = (_handle(member(row, "dst_agent_id")), _handle(member(row, "src_agent_id")))
            gpu = next((self.gpus[end] for end in ends if end in self.gpus), 0)
            *place, placed = copies_track(events, gpu)
            return (f"Memcpy {name}".strip(), *place, {**args, **placed, "bytes": member(row, "bytes")})
        thread = member(row, "thread_id")
        category = "user_annotation" if "marker" in group else f"{group.removesuffix('_api')}_runtime"
        *place, _ = thread_track(events, self.pid, thread if isinstance(thread, int) else 0, category)
        return (name or group, *place, args)


def _spans(process: Any, events: Events) -> Iterator[Span]:
    pid = member(member(process, "metadata"), "pid")
    recording = _ProfiledProcess(
        pid if isinstance(pid, int) else 0,
        _gpus(listed(member(process, "agents"))),
        _kernel_names(listed(member(process, "kernel_symbols"))),
    )
    kinds = listed(member(member(process, "strings"), "buffer_records"))
    records = member(process, "buffer_records")
    for group, rows in (records or {}).items() if isinstance(records, dict) else ():
        for row in listed(rows):
            times = (member(row, "start_timestamp"), member(row, "end_timestamp"))
            if not all(isinstance(time, int) and 0 < time < MOST_NS for time in times):
                if times != (None, None):
                    events.miss()
                continue
            yield (
                times[0] * NS,
                times[1] * NS,
                *recording.placed(group, row, _operation(kinds, row), events),
            )


def _kernel_names(symbols: Sequence[Any]) -> dict[Any, str]:
    """Names of kernels as people write them, by their ids."""
    return {
        member(symbol, "kernel_id"): str(
            member(symbol, "formatted_kernel_name")
            or member(symbol, "demangled_kernel_name")
            or member(symbol, "kernel_name")
        )
        for symbol in symbols
        if isinstance(member(symbol, "kernel_id"), int)
    }


def _gpus(agents: Sequence[Any]) -> dict[int, int]:
    """Numbers of GPUs, counted from 0, by the handle of their agent."""
    found: dict[int, int] = {}
    for agent in agents:
        if member(agent, "type") == _GPU:
            gpu_number = member(agent, "logical_node_type_id")
            found[_handle(member(agent, "id"))] = (
                gpu_number if isinstance(gpu_number, int) and gpu_number >= 0 else len(found)
            )
    return found


def _handle(value: Any) -> int:
    found = member(value, "handle") if isinstance(value, dict) else value
    return found if isinstance(found, int) and not isinstance(found, bool) else 0


def _operation(kinds: Sequence[Any], row: Any) -> str:
    """What a record is called: the name of its operation among those of its kind."""
    kind, operation = member(row, "kind"), member(row, "operation")
    if not isinstance(kind, int) or not isinstance(operation, int) or not 0 <= kind < len(kinds):
        return ""
    names = listed(member(kinds[kind], "operations"))
    return str(names[operation]) if 0 <= operation < len(names) else ""
