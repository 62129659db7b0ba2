"""The rows of a Chrome trace: what their names tell of what they really are.

The core gives rows of a timeline as the file numbers them. TF Timeline's rows, for one, are lanes: places
on a screen that slices were packed into, no threads and no streams, and for an accelerator the slices are
launches, unless the row is a stream. Where categories of slices say what a row is, names come last.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from stepscope import strict_json
from stepscope.formats import _ascend_rows, _host_trace
from stepscope.formats._own_export import restore_devices
from stepscope.store_rows import DEVICE, TRACK, add_notes, note, put

if TYPE_CHECKING:
    from stepscope._core import Store

TRACKS_LIMIT = 200_000
"""Files with more rows than a person could ever look at keep them unclassified."""


_AUTOGRAD = ("pid CPU functions", "pid CUDA functions")
"""Processes of a trace that PyTorch's profiler wrote before there was Kineto: it called them by their ids."""
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
    autograd = tuple(f"{process} tid " for process in _AUTOGRAD)
    if producer == "unknown" and any(track["origin"].startswith(autograd) for track in tracks):
        producer = "autograd"
        store.update_facts({"producer": producer})
    if "stepscope" in meta:
        restore_devices(store, meta, tracks)
        return  # our own export tells what each track is
    file = _ChromeFile(
        strict_json.members(meta.get("processes")),
        _properties(store, meta),
        frozenset(track["process"] for track in tracks if not _empty(track)),
        any(
            _ascend_rows.shows_collectives(track["process"], track["name"])
            for track in tracks
            if not _empty(track)
        ),
    )
    for track in tracks:
        if track["kind"] == "unknown":
            _classify(track, file, classes.get(str(track["id"])), producer)
    put(store, "track", tracks, TRACK)
    put(store, "device", [vars(device) for device in file.devices.values()], DEVICE)
    if producer == "autograd" and file.working.issuperset(_AUTOGRAD):
        add_notes(store, note("times-between-events", "missing", _BETWEEN_EVENTS))


def _classify(track: Track, file: _ChromeFile, device_class: Any, producer: str) -> None:
    """Says what a track is. device_class: what the categories of its events tell."""
    by_category = device_class not in (None, _ascend_rows.EXCHANGES)
    if type(device_class) is int or (by_category and producer == "kineto"):
        _set_by_category(track, file, device_class)
    elif producer not in ("unknown", "kineto") or not _ascend(track, file, device_class):
        _CLASSIFIERS.get(producer, _unknown)(track, file)


Track = dict[str, Any]


@dataclass(frozen=True)
class _KinetoDevice:
    number: int
    name: str
    kind: str
    args_json: str | None


@dataclass
class _ChromeFile:
    """What the file says beside its events, and the devices found so far."""

    processes: dict[str, dict[str, Any]]
    properties: list[dict[str, Any]]
    working: frozenset[str]
    """Names of the processes that have events."""
    collectives: bool = False
    """Whether rows show whole collectives of an Ascend device."""
    devices: dict[str, _KinetoDevice] = field(default_factory=dict)

    def names(self) -> set[str]:
        """Names of the devices whose ops the processes show."""
        process_names = (
            str(about.get("name")) for about in self.processes.values() if isinstance(about, dict)
        )
        return {name.removesuffix(" Compute") for name in process_names if name.endswith(" Compute")}

    @cached_property
    def accelerators(self) -> list[str]:
        """Those that processes with events are named after."""
        found = (_ACCELERATOR.fullmatch(_unnumbered(name)) for name in self.working)
        return sorted({f"{match[1].upper()} {match[2]}" for match in found if match})

    def device(self, name: str, kind: str, args_json: str | None = None) -> int:
        """Number of a device, which is added when it is new."""
        return self.devices.setdefault(name, _KinetoDevice(len(self.devices), name, kind, args_json)).number

    @cached_property
    def by_id(self) -> dict[str, Any]:
        """The properties of each accelerator, by its id as text."""
        devices = [device for device in self.properties if isinstance(device, dict)]
        return {str(device.get("id")): device for device in reversed(devices)}

    def about(self, track: Track) -> dict[str, Any]:
        """What metadata says of the track's process."""
        match = re.match(r"pid (.*?)(?: tid .*)?$", track["origin"], re.DOTALL)
        found = self.processes.get(match[1]) if match else None
        return found if isinstance(found, dict) else {}


def _properties(store: Store, meta: Mapping[str, str]) -> list[dict[str, Any]]:
    """Kineto's properties of each accelerator. Values that make no sense are left out and noted."""
    text = meta.get("deviceProperties")
    found = strict_json.value(text)
    whole = [member for member in found if isinstance(member, dict)] if isinstance(found, list) else []
    if text not in (None, "null") and not (isinstance(found, list) and len(whole) == len(found)):
        detail = "deviceProperties is not a list of objects"
        add_notes(store, note("damaged-metadata", "missing", detail))
    return whole


def _set(track: Track, kind: str, records: str, device_id: int | None = None) -> None:
    track["kind"], track["records"], track["device_id"] = kind, records, device_id


def _empty(track: Track) -> bool:
    """True for a process that metadata names but that has no events."""
    return track["name"] == "" and " tid " not in track["origin"]


def _unnumbered(process: str) -> str:
    """A process's name without its place among the others, which rocprof puts before it."""
    place, _, name = process.partition(" ")
    return (name if place.isdecimal() else process).strip()


_CALLS = re.compile(r"CPU (HIP|HSA|CUDA) API")
_MXNET_DEVICE = re.compile(r"(cpu|gpu)/(\d+)")


def _unknown(track: Track, file: _ChromeFile) -> None:
    """A row whose process is named after an accelerator, as rocprof, rpd and MXNet do, shows what that
    executes; copies belong to the only one. A row of which nothing is known stays unknown."""
    if _empty(track):
        return
    name = _unnumbered(track["process"])
    if found := _MXNET_DEVICE.fullmatch(name):
        kind = found[1]
        on_device = kind == "gpu"
        _set(
            track,
            "device_stream" if on_device else "thread",
            "execution",
            file.device(f"GPU {found[2]}" if on_device else "CPU", kind),
        )
    elif found := _ACCELERATOR.fullmatch(name):
        kind = "gpu" if found[1].upper() in ("GPU", "XPU") else "unknown"
        _set(track, "device_stream", "execution", file.device(f"{found[1].upper()} {found[2]}", kind))
    elif name == "COPY" and len(file.accelerators) == 1:
        _set(track, "device_stream", "execution", file.device(file.accelerators[0], "gpu"))
    elif _CALLS.fullmatch(name):
        _set(track, "thread", "dispatch", file.device("CPU", "cpu"))


def _ascend(track: Track, file: _ChromeFile, device_class: Any) -> bool:
    """Whether a row is one of those that Ascend's profiler adds to the framework's."""
    exchanges = device_class == _ascend_rows.EXCHANGES
    found = _ascend_rows.row(
        track["process"], track["name"], exchanges=exchanges, collectives=file.collectives
    )
    if _empty(track) or found is None:
        return False
    track["name"] = found.name
    device = file.device("NPU", "unknown") if found.of_device else file.device("CPU", "cpu")
    _set(track, found.kind, found.records, device)
    return True


_DEVICE_KIND = re.compile(r"(?:^|[/:])(?:device:)?(cpu|gpu|tpu)\b", re.IGNORECASE)
_STREAM = re.compile(r"^(.*?)/(stream:[^/]*|memcpy)$")


def device_kind(name: str) -> str:
    """cpu, gpu, tpu or unknown, from a device name such as /job:worker/task:0/device:GPU:0."""
    found = _DEVICE_KIND.search(name)
    return found[1].lower() if found else "unknown"


def _tf_timeline(track: Track, file: _ChromeFile) -> None:
    """Rows of tf.compat.v1's Timeline and of tfprof's timelines."""
    process = track["process"]
    if process.startswith("Scope:") or process.startswith("Code:"):
        # tfprof's flame charts of scopes and code: durations stacked by name, no moments in time.
        _set(track, "derived", "annotation")
    elif process.endswith(" Tensors"):
        _set(track, "lane", "annotation", _tf_device(process[: -len(" Tensors")], file))
    elif process.endswith(" Compute"):
        _tf_compute(track, process[: -len(" Compute")], file)
    elif match := re.match(r"Op (scheduling|execution) threads: (.*)$", process):
        _tf_compute(track, match[2], file)


def _tf_device(name: str, file: _ChromeFile) -> int:
    return file.device(name, device_kind(name))


def _tf_compute(track: Track, name: str, file: _ChromeFile) -> None:
    if stream := _STREAM.match(name):
        _set(track, "device_stream", "execution", _tf_device(stream[1], file))
    elif device_kind(name) == "cpu":
        records = "annotation" if _host_trace.annotates(name, file.names()) else "execution"
        _set(track, "lane", records, _tf_device(name, file))
    else:
        # The executor's own rows for an accelerator show when it launched, not when work ran.
        _set(track, "lane", "dispatch", _tf_device(name, file))


_MOST_DEVICES = 64
"""Accelerators that one host may have."""
_ACCELERATOR = re.compile(r"(GPU|XPU|MTIA|HPU|NPU)\s*(\d+)", re.IGNORECASE)
_IDS = re.compile(r"pid (-?\d+)(?: tid (.*))?$", re.DOTALL)


def _label(track: Track, file: _ChromeFile) -> re.Match[str] | None:
    """The label of a process that stands for an accelerator."""
    about = file.about(track)
    texts = (str(about.get("labels") or "").strip(), track["process"])
    return next((found for text in texts if (found := _ACCELERATOR.fullmatch(text))), None)


def _accelerator(track: Track, file: _ChromeFile, number: int | None) -> int:
    """The device of a row of an accelerator: by the number that its slices tell, else by the label of its
    process, else by the process's number."""
    label = _label(track, file)
    if number is None:
        ids = _IDS.match(track["origin"])
        number = int(label[2]) if label else int(ids[1]) if ids else 0
        if not label and number > _MOST_DEVICES and str(number) not in file.by_id:
            # The number of the program's process, among whose threads a tool lists streams.
            return file.device("GPU", "gpu", None)
    name = label[0] if label and int(label[2]) == number else f"{label[1] if label else 'GPU'} {number}"
    kind = "gpu" if name.upper().startswith(("GPU", "XPU")) else "unknown"
    properties = file.by_id.get(str(number))
    args = json.dumps(properties, separators=(",", ":")) if properties else None
    if name != track["process"]:
        track["process"] = f"{track['process']} ({name})"
    return file.device(name, kind, args)


def _set_by_category(track: Track, file: _ChromeFile, device_class: int | str) -> None:
    """A row whose slices have categories of Kineto's: told is the number of a device, or device, host or
    runtime."""
    name = track["name"] = track["name"].strip()
    ids = _IDS.match(track["origin"])
    tid = (ids[2] if ids else None) or ""
    if device_class == "host" or (device_class == "runtime" and _label(track, file) is None):
        # Python calls may lie on the row of a stream, by its numbers; the name is the stream's then.
        track["name"] = f"thread {tid}" if name.lower().startswith("stream") and tid else name
        _set(track, "thread", "execution", file.device("CPU", "cpu"))
    elif device_class == "runtime":
        _set(track, "lane", "dispatch", _accelerator(track, file, None))
    else:
        if "stream" in name.lower():
            track["name"] = name.removeprefix("tid ")
        elif re.fullmatch(r"\d+", tid) and name.startswith((f"tid {tid}", f"thread {tid}")):
            track["name"] = f"stream {tid}"
        device = _accelerator(track, file, device_class if isinstance(device_class, int) else None)
        if device_class == "device" and re.fullmatch(r"-\d+", tid):
            _set(track, "unknown", "annotation", device)  # waits for the whole device lie below its streams
        else:
            _set(track, "device_stream", "execution", device)


def _kineto(track: Track, file: _ChromeFile) -> None:
    """Rows of PyTorch's profiler whose slices do not tell what they are: streams of the device that labels
    the process, else threads."""
    if _label(track, file):
        if _empty(track):
            return
        device = _accelerator(track, file, None)
        track["name"] = track["name"].strip()
        if track["name"].startswith("stream") or re.search(r" tid \d+$", track["origin"]):
            _set(track, "device_stream", "execution", device)
        else:
            _set(track, "unknown", "annotation", device)
    elif track["process"] in ("pid Spans", "pid Traces", "pid "):
        _set(track, "lane", "annotation")
    elif not _empty(track):
        _set(track, "thread", "execution", file.device("CPU", "cpu"))


# Rows that TensorFlow's profiler computes from others; a TPU's "XLA Ops" are the work itself.
_DERIVED = re.compile(
    r"(Steps?|XLA Modules|XLA TraceMe|XLA Ops|Async XLA Ops|TensorFlow (Name Scope|Ops)|Framework .*"
    r"|Source [Cc]ode.*|Launch Stats|Host Offload Ops|GPU Power|Counters|_counters_)$"
)
_TPU_WORK = re.compile(r"(XLA|Sparse ?Core) Ops$")


def _profiler(track: Track, file: _ChromeFile) -> None:
    """Rows of TensorFlow's profiler and JAX: planes as processes, lines as threads."""
    process, name = track["process"], track["name"]
    if _empty(track):
        return
    if process.startswith(("/host:CUPTI", "/host:ROCTRACER")):
        _set(track, "thread", "dispatch", file.device("/host:CPU", "cpu"))
    elif process.startswith(("/host:", "/device:CPU")):
        derived = _DERIVED.match(name) is not None
        device = file.device("/host:CPU", "cpu")
        if derived:
            _set(track, "derived", "annotation", device)
        else:
            _set(track, "thread", "execution", device)
    elif process.startswith("/device:") or "#Chip" in process:
        _profiled_device(track, file)


def _profiled_device(track: Track, file: _ChromeFile) -> None:
    """Rows of a device: its streams, and what the profiler derives from them."""
    process, name = track["process"], track["name"]
    # Some writers put more than the device's name into the name of the process.
    plane = process.split(" ")[0] if process.startswith("/device:") else process
    is_tpu = any(word in process for word in ("TPU", "SPARSECORE", "#Chip"))
    kind = "tpu" if is_tpu else device_kind(plane)
    device = file.device(plane, kind)
    if kind == "tpu" and _TPU_WORK.match(name):
        _set(track, "device_stream", "execution", device)
    elif kind == "tpu" and name == "Async XLA Ops":
        _set(track, "async", "execution", device)
    elif kind == "tpu" or _DERIVED.match(name):
        # What units, bundles and counters show beside the ops is no execution.
        _set(track, "derived", "annotation", device)
    else:
        _set(track, "device_stream", "execution", device)


def _horovod(track: Track, file: _ChromeFile) -> None:
    """Each row is a tensor, shown as a process: neither a thread nor a stream, and no device."""
    if track["process"] in ("", "pid 0"):
        # Marks of cycles belong to no tensor.
        _set(track, "lane", "annotation")
    elif not _empty(track):
        _set(track, "lane", "execution", file.device("Horovod", "unknown"))


def _autograd(track: Track, file: _ChromeFile) -> None:
    """Threads; what it draws of a GPU is the time between two events around each op, and around the ops
    within it: with what the GPU waited for meanwhile, so no execution."""
    if track["origin"].startswith(f"{_AUTOGRAD[0]} tid "):
        _set(track, "thread", "execution", file.device("CPU", "cpu"))
    elif not _empty(track):
        _set(track, "unknown", "annotation")


def _viztracer(track: Track, file: _ChromeFile) -> None:
    """Rows are threads of Python processes."""
    if not _empty(track):
        _set(track, "thread", "execution", file.device("CPU", "cpu"))


_CLASSIFIERS = {
    "tf_timeline": _tf_timeline,
    "kineto": _kineto,
    "jax": _profiler,
    "tf_profiler": _profiler,
    "autograd": _autograd,
    "horovod": _horovod,
    "viztracer": _viztracer,
}
