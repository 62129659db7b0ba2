"""An XSpace as TensorFlow's own protobuf classes read it, and small ones written with them.

The generated module is loaded by its path: importing TensorFlow for it takes seconds.
"""

import base64
import functools
import importlib.util
import json
import math
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pytest

UNIX_FROM_NS = 10**17
BASE64_LIMIT_BYTES = 256


class Slice(NamedTuple):
    """What an event has to become."""

    plane: str
    line: str
    origin: str
    name: str
    ts_ps: int
    dur_ps: int
    args: str | None


@functools.cache
def messages() -> Any:
    """TensorFlow's xplane_pb2, without TensorFlow."""
    package = importlib.util.find_spec("tensorflow")
    if package is None or package.origin is None:
        pytest.skip("tensorflow is not installed: no reference reader of XPlane")
    path = Path(package.origin).parent / "tsl" / "profiler" / "protobuf" / "xplane_pb2.py"
    spec = importlib.util.spec_from_file_location("xplane_pb2", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def parse(data: bytes) -> Any:
    """The XSpace; raises google.protobuf.message.DecodeError."""
    return messages().XSpace.FromString(data)


def accepts(data: bytes) -> bool:
    """Whether protobuf takes the bytes for an XSpace."""
    from google.protobuf.message import DecodeError

    try:
        parse(data)
    except DecodeError:
        return False
    return True


def value(plane: Any, stat: Any) -> Any:
    """A stat's value as args_json has to show it."""
    which = stat.WhichOneof("value")
    if which is None:
        return None
    found = getattr(stat, which)
    if which == "ref_value":
        return plane.stat_metadata[found].name if found in plane.stat_metadata else None
    if which == "double_value" and not math.isfinite(found):
        return "NaN" if math.isnan(found) else ("Infinity" if found > 0 else "-Infinity")
    if which == "bytes_value":
        short = len(found) <= BASE64_LIMIT_BYTES
        return base64.b64encode(found).decode() if short else {"bytes": len(found)}
    return found


def args(plane: Any, event: Any) -> str | None:
    """The args of an event as JSON; of two of one name the last counts and stands where it stands."""
    found: dict[str, Any] = {}
    for stat in event.stats:
        known = stat.metadata_id in plane.stat_metadata
        name = plane.stat_metadata[stat.metadata_id].name if known else f"unnamed stat {stat.metadata_id}"
        found.pop(name, None)
        found[name] = value(plane, stat)
    if event.HasField("num_occurrences"):
        found["$occurrences"] = event.num_occurrences
    return json.dumps(found) if found else None


def start_unix_ns(space: Any) -> int | None:
    """Unix time of ts_ps = 0: the recording's start, or the first line that counts from the epoch."""
    for plane in space.planes:
        if plane.name == "Task Environment":
            for stat in plane.stats:
                found = value(plane, stat)
                named = plane.stat_metadata[stat.metadata_id].name == "profile_start_time"
                if named and isinstance(found, int) and UNIX_FROM_NS <= found < 2**63:
                    return found
    lines = [line.timestamp_ns for plane in space.planes for line in plane.lines]
    return min((ns for ns in lines if ns >= UNIX_FROM_NS), default=None)


def slices(space: Any) -> Counter[Slice]:
    """Every event of the space."""
    found: Counter[Slice] = Counter()
    start = start_unix_ns(space) or 0
    for plane in space.planes:
        for line in plane.lines:
            base_ns = line.timestamp_ns - start if line.timestamp_ns >= UNIX_FROM_NS else line.timestamp_ns
            for event in line.events:
                known = event.metadata_id in plane.event_metadata
                name = (
                    plane.event_metadata[event.metadata_id].name
                    if known
                    else f"unnamed event {event.metadata_id}"
                )
                found[
                    Slice(
                        plane.name,
                        line.display_name or line.name,
                        f"plane {plane.id} line {line.id}",
                        name,
                        base_ns * 1000 + event.offset_ps,
                        max(event.duration_ps, 0),
                        args(plane, event),
                    )
                ] += 1
    return found
