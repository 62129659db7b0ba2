"""The test whether a JSON timeline was made from the StepStats in another file, by content.

A timeline keeps of each node its name and its start in microseconds since 1970. In StepStats these two lie
side by side, so a few bytes with both are proof: no other step ran a node of that name at that time.
"""

import mmap
import re
from pathlib import Path

from stepscope import protobuf, strict_json
from stepscope.sources.source import Source

_HEAD_BYTES = 1 << 16
_MOST_BYTES = 32 << 20
_PROCESSES = re.compile(rb" (?:Compute|Tensors)\"|\"Allocators\"")
"""The names of processes, with which every timeline begins."""
_COMPLETE = re.compile(rb"\"ph\":\s*\"X\"")
_MOST_NODES = 8
"""Nodes that are looked for. Names are rewritten now and then, so not every one must be found."""
_ENOUGH = 2
_FLAT = re.compile(r"\{(?:[^{}]|\{[^{}]*\})*\}")
"""An event of a timeline: an object whose members hold no more than one object deep."""


def is_timeline(text: bytes | bytearray) -> bool:
    """Whether a JSON trace begins as timelines do."""
    return _PROCESSES.search(text, 0, _HEAD_BYTES) is not None


def nodes(timeline: Source) -> list[tuple[str, int]]:
    """Names and starts of the first nodes of a timeline; empty if the file is packed or not a timeline."""
    if not _is_plain(timeline):
        return []
    with Path(timeline.bytes.path).open("rb") as file:
        file.seek(timeline.bytes.offset)
        length = timeline.bytes.length or timeline.size
        text = file.read(min(_HEAD_BYTES, length))
        if not is_timeline(text):
            return []
        text += file.read(min(_MOST_BYTES, length - len(text)))
    # With memory shown, everything about tensors comes before the first node.
    first = _COMPLETE.search(text)
    head = text[max(0, first.start() - _HEAD_BYTES) : first.start() + _HEAD_BYTES] if first else b""
    found: list[tuple[str, int]] = []
    for match in _FLAT.finditer(head.decode("utf-8", "replace")):
        event = strict_json.members(match[0])  # empty for a piece that only looked like one
        args = event.get("args")
        if event.get("ph") != "X" or not isinstance(args, dict) or "op" not in args:
            continue
        name, ts = args.get("name"), event.get("ts")
        if isinstance(name, str) and isinstance(ts, int) and 0 < ts < 2**63:
            found.append((name, ts))
            if len(found) == _MOST_NODES:
                break
    return found


def holds(stats: Source, wanted: list[tuple[str, int]]) -> bool:
    """Whether a file holds the StepStats of these nodes; False for packed files, which are not searched."""
    if not wanted or not _is_plain(stats) or not stats.size:
        return False
    begin = stats.bytes.offset
    end = begin + (stats.bytes.length or stats.size)
    matches = 0
    with (
        Path(stats.bytes.path).open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
    ):
        for name, ts in wanted:
            matches += data.find(_encoded(name, ts), begin, end) >= 0
            if matches >= min(_ENOUGH, len(wanted)):
                return True
    return False


def _is_plain(source: Source) -> bool:
    return source.bytes.codec == "plain" and not source.bytes.unpack


def _encoded(name: str, ts_us: int) -> bytes:
    """node_name and all_start_micros of a NodeExecStats, fields 1 and 2, as written."""
    return protobuf.record(1, name.encode("utf-8", "surrogatepass")) + protobuf.record(2, ts_us)
