"""Reads back what stepscope's own export wrote beside the events: the devices of a Chrome trace's rows.

A file may say anything there, so whatever has not the form that the export writes is passed over.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from stepscope import strict_json
from stepscope._core import Store
from stepscope.store_rows import DEVICE, TRACK, put

_LAST = 10**13
_ROW = re.compile(r"pid (\d{1,12})(?: tid (\d{1,12}))?(?: |$)")


def restore_devices(store: Store, meta: Mapping[str, str], tracks: list[dict[str, Any]]) -> None:
    """Fills the table device, and says of each track which one it belongs to."""
    devices = [entry for entry in _listed(meta, "stepscopeDevices") if _is_device(entry)]
    if not devices or not tracks:
        return
    _assign_devices(tracks, devices)
    put(store, "track", tracks, TRACK)
    put(store, "device", [{**device, "args_json": device["args"]} for device in devices], DEVICE)


def _assign_devices(tracks: Iterable[dict[str, Any]], devices: Sequence[dict[str, Any]]) -> None:
    """Says of each track which device it belongs to."""
    stretches = {
        of: sorted((first, last, number) for number, entry in enumerate(devices) for first, last in entry[of])
        for of in ("tids", "pids")
    }
    for track in tracks:
        if match := _ROW.match(track["origin"]):
            of, row = ("tids", int(match[2])) if match[2] else ("pids", int(match[1]))
            at = bisect_right(stretches[of], (row, _LAST, 0)) - 1
            if at >= 0 and row <= stretches[of][at][1]:
                track["device_id"] = stretches[of][at][2]


def _listed(meta: Mapping[str, str], name: str) -> Iterator[Any]:
    number = 0
    while (text := meta.get(f"{name}{number}")) is not None:
        number += 1
        yield from strict_json.elements(text)  # nothing of what is cut, or not ours


def _is_device(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and _is_text(value.get("name"))
        and value.get("kind") in ("cpu", "gpu", "tpu", "unknown")
        and _is_json(value.get("args"))
        and all(_are_stretches(value.get(of)) for of in ("tids", "pids"))
    )


def _is_text(text: Any) -> bool:
    # A lone surrogate cannot be kept.
    return isinstance(text, str) and not any("\ud800" <= char <= "\udfff" for char in text)


def _is_json(text: Any) -> bool:
    return text is None or (_is_text(text) and isinstance(strict_json.value(text), dict))


def _are_stretches(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(pair, list) and len(pair) == 2 and all(type(number) is int for number in pair)
        for pair in value
    )
