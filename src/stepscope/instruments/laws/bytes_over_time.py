"""Nothing moves bytes faster than the link or the memory can."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from stepscope import strict_json, units
from stepscope.instruments.laws.broken import Broken, Weakens
from stepscope.library.statements import Query, statement

HOLDS = (
    "Bytes over time are at most what the link between host and device, or the memory of the device, "
    "moves in a second: as the recording says of the device, else by devices.json."
)
TOLERANCE = "10 %, and copies of less than 1 MB in all: caches are faster than memory."
WEAKENS: tuple[Weakens, ...] = ("rate",)

FASTER = 1.1
LEAST_BYTES = 2**20
_PEAK = "peak_hbm_bw_gigabytes_per_second"


def broken(query: Query) -> list[Broken]:
    """Sources with copies that are too fast."""
    found = []
    for row in query(statement("law_bytes_over_time")).rows():
        source_id, run_id, host_id, device, about, way, name, copies, moved, took_ps = row
        rate = moved * 1e12 / took_ps
        peak = _peak(about, way)
        if moved < LEAST_BYTES or rate <= FASTER * peak:
            continue
        what = "link" if way == "link" else "memory"
        said = (
            f"{units.count(copies, 'copy', 'copies')} called {name} on {device} would move "
            f"{units.show(rate, 'bytes')} a second, more than the {units.show(peak, 'bytes')} of its "
            f"{what}: they took longer than is shown"
        )
        found.append(Broken(run_id, host_id, source_id, "bytes_over_time", copies, copies, said))
    return found


def _peak(about_json: str | None, way: str) -> float:
    """What a device can move, in bytes of a second."""
    about = strict_json.members(about_json)
    told = about.get(_PEAK)
    if way == "memory" and isinstance(told, (int, float)) and told > 0:
        return float(told) * 1e9
    name = str(about.get("name") or about.get("device_type_string") or "").lower()
    for one in _devices():
        if one["name"].lower() in name:
            return float(one[way]) * 1e9
    return float(_devices()[-1][way]) * 1e9


@cache
def _devices() -> list[dict[str, Any]]:
    """Devices with their peaks, the last one for any other; a name that is part of another comes behind
    it."""
    found = json.loads(Path(__file__).with_name("devices.json").read_text(encoding="utf-8"))
    return list(found["devices"])
