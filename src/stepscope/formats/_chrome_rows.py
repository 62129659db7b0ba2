"""The rows of a Chrome trace: what their names tell of what they really are.

The core gives rows of a timeline as the file numbers them. TF Timeline's rows, for one, are lanes: places
on a screen that slices were packed into, no threads and no streams, and for an accelerator the slices are
launches, unless the row is a stream. Where categories of slices say what a row is, names come last.
"""

import re
from collections.abc import Mapping
from typing import Any

from stepscope import strict_json
from stepscope._core import Store
from stepscope.formats import _ascend_rows
from stepscope.formats._chrome_file import (
    ACCELERATOR,
    ChromeFile,
    Track,
    is_empty,
    set_host_thread,
    set_kind,
    unnumbered,
)
from stepscope.formats._kineto_rows import AUTOGRAD, autograd_row, kineto_row, set_by_category
from stepscope.formats._own_export import restore_devices
from stepscope.formats._tensorflow_rows import profiler_row, timeline_row
from stepscope.store_rows import DEVICE, TRACK, add_notes, note, put

TRACKS_LIMIT = 200_000
"""Files with more rows than a person could ever look at keep them unclassified."""
_BETWEEN_EVENTS = (
    "the times of the GPU lie between two events around each call: they hold what it waits for the host, and "
    "those of calls within"
)
_CLASSES = "classes of rows"
"""Member of meta in which the core tells what categories say of rows."""


def classify(store: Store) -> None:
    """Says what the tracks are, and adds the devices that they belong to."""
    facts = store.facts
    producer = str(facts.get("producer", "unknown"))
    meta = dict(facts.get("meta", {}))
    classes = strict_json.members(meta.pop(_CLASSES, None))
    if classes:
        store.update_facts({"meta": meta})
    if store.tables().get("track", 0) > TRACKS_LIMIT:
        return
    tracks = store.rows("track") if "track" in store.tables() else []
    autograd = tuple(f"{process} tid " for process in AUTOGRAD)
    if producer == "unknown" and any(track["origin"].startswith(autograd) for track in tracks):
        producer = "autograd"
        store.update_facts({"producer": producer})
    if "stepscope" in meta:
        restore_devices(store, meta, tracks)
        return  # our own export tells what each track is
    file = ChromeFile(
        strict_json.members(meta.get("processes")),
        _properties(store, meta),
        frozenset(track["process"] for track in tracks if not is_empty(track)),
        any(
            _ascend_rows.shows_collectives(track["process"], track["name"])
            for track in tracks
            if not is_empty(track)
        ),
    )
    for track in tracks:
        if track["kind"] == "unknown":
            _classify(track, file, classes.get(str(track["id"])), producer)
    put(store, "track", tracks, TRACK)
    put(store, "device", [vars(device) for device in file.devices.values()], DEVICE)
    if producer == "autograd" and file.working.issuperset(AUTOGRAD):
        add_notes(store, note("times-between-events", "missing", _BETWEEN_EVENTS))


def _classify(track: Track, file: ChromeFile, device_class: Any, producer: str) -> None:
    """Says what a track is. device_class: what the categories of its events tell."""
    by_category = device_class not in (None, _ascend_rows.EXCHANGES)
    if type(device_class) is int or (by_category and producer == "kineto"):
        set_by_category(track, file, device_class)
    elif producer not in ("unknown", "kineto") or not _ascend_row(track, file, device_class):
        _CLASSIFIERS.get(producer, _unknown_row)(track, file)


def _properties(store: Store, meta: Mapping[str, str]) -> list[dict[str, Any]]:
    """Kineto's properties of each accelerator. Values that make no sense are left out and noted."""
    text = meta.get("deviceProperties")
    found = strict_json.value(text)
    whole = [member for member in found if isinstance(member, dict)] if isinstance(found, list) else []
    if text not in (None, "null") and not (isinstance(found, list) and len(whole) == len(found)):
        detail = "deviceProperties is not a list of objects"
        add_notes(store, note("damaged-metadata", "missing", detail))
    return whole


_CALLS = re.compile(r"CPU (HIP|HSA|CUDA) API")
_MXNET_DEVICE = re.compile(r"(cpu|gpu)/(\d+)")


def _unknown_row(track: Track, file: ChromeFile) -> None:
    """A row whose process is named after an accelerator, as rocprof, rpd and MXNet do, shows what that
    executes; copies belong to the only one. A row of which nothing is known stays unknown."""
    if is_empty(track):
        return
    name = unnumbered(track["process"])
    if found := _MXNET_DEVICE.fullmatch(name):
        kind = found[1]
        on_device = kind == "gpu"
        set_kind(
            track,
            "device_stream" if on_device else "thread",
            "execution",
            file.device(f"GPU {found[2]}" if on_device else "CPU", kind),
        )
    elif found := ACCELERATOR.fullmatch(name):
        kind = "gpu" if found[1].upper() in ("GPU", "XPU") else "unknown"
        set_kind(track, "device_stream", "execution", file.device(f"{found[1].upper()} {found[2]}", kind))
    elif name == "COPY" and len(file.accelerators) == 1:
        set_kind(track, "device_stream", "execution", file.device(file.accelerators[0], "gpu"))
    elif _CALLS.fullmatch(name):
        set_kind(track, "thread", "dispatch", file.device("CPU", "cpu"))


def _ascend_row(track: Track, file: ChromeFile, device_class: Any) -> bool:
    """Whether a row is one of those that Ascend's profiler adds to the framework's."""
    exchanges = device_class == _ascend_rows.EXCHANGES
    found = _ascend_rows.row(
        track["process"], track["name"], exchanges=exchanges, collectives=file.collectives
    )
    if is_empty(track) or found is None:
        return False
    track["name"] = found.name
    device = file.device("NPU", "unknown") if found.of_device else file.device("CPU", "cpu")
    set_kind(track, found.kind, found.records, device)
    return True


def _horovod_row(track: Track, file: ChromeFile) -> None:
    """Each row is a tensor, shown as a process: neither a thread nor a stream, and no device."""
    if track["process"] in ("", "pid 0"):
        # Marks of cycles belong to no tensor.
        set_kind(track, "lane", "annotation")
    elif not is_empty(track):
        set_kind(track, "lane", "execution", file.device("Horovod", "unknown"))


def _viztracer_row(track: Track, file: ChromeFile) -> None:
    """Rows are threads of Python processes."""
    if not is_empty(track):
        set_host_thread(track, file)


_CLASSIFIERS = {
    "tf_timeline": timeline_row,
    "kineto": kineto_row,
    "jax": profiler_row,
    "tf_profiler": profiler_row,
    "autograd": autograd_row,
    "horovod": _horovod_row,
    "viztracer": _viztracer_row,
}
