"""Rows of TensorFlow's Timeline, of tfprof, and of the profiler of TensorFlow and JAX."""

import re

from stepscope.formats import _host_trace
from stepscope.formats._chrome_file import ChromeFile, Track, is_empty, set_kind

_DEVICE_KIND = re.compile(r"(?:^|[/:])(?:device:)?(cpu|gpu|tpu)\b", re.IGNORECASE)
_STREAM = re.compile(r"^(.*?)/(stream:[^/]*|memcpy)$")


def device_kind(name: str) -> str:
    """cpu, gpu, tpu or unknown, from a device name such as /job:worker/task:0/device:GPU:0."""
    found = _DEVICE_KIND.search(name)
    return found[1].lower() if found else "unknown"


def timeline_row(track: Track, file: ChromeFile) -> None:
    """Rows of tf.compat.v1's Timeline and of tfprof's timelines."""
    process = track["process"]
    if process.startswith("Scope:") or process.startswith("Code:"):
        # tfprof's flame charts of scopes and code: durations stacked by name, no moments in time.
        set_kind(track, "derived", "annotation")
    elif process.endswith(" Tensors"):
        set_kind(track, "lane", "annotation", _tf_device(process[: -len(" Tensors")], file))
    elif process.endswith(" Compute"):
        _tf_compute(track, process[: -len(" Compute")], file)
    elif match := re.match(r"Op (scheduling|execution) threads: (.*)$", process):
        _tf_compute(track, match[2], file)


def _tf_device(name: str, file: ChromeFile) -> int:
    return file.device(name, device_kind(name))


def _tf_compute(track: Track, name: str, file: ChromeFile) -> None:
    if stream := _STREAM.match(name):
        set_kind(track, "device_stream", "execution", _tf_device(stream[1], file))
    elif device_kind(name) == "cpu":
        records = "annotation" if _host_trace.annotates(name, file.names()) else "execution"
        set_kind(track, "lane", records, _tf_device(name, file))
    else:
        # The executor's own rows for an accelerator show when it launched, not when work ran.
        set_kind(track, "lane", "dispatch", _tf_device(name, file))


# Rows that TensorFlow's profiler computes from others; a TPU's "XLA Ops" are the work itself.
_DERIVED = re.compile(
    r"(Steps?|XLA Modules|XLA TraceMe|XLA Ops|Async XLA Ops|TensorFlow (Name Scope|Ops)|Framework .*"
    r"|Source [Cc]ode.*|Launch Stats|Host Offload Ops|GPU Power|Counters|_counters_)$"
)
_TPU_WORK = re.compile(r"(XLA|Sparse ?Core) Ops$")


def profiler_row(track: Track, file: ChromeFile) -> None:
    """Rows of TensorFlow's profiler and JAX: planes as processes, lines as threads."""
    process, name = track["process"], track["name"]
    if is_empty(track):
        return
    if process.startswith(("/host:CUPTI", "/host:ROCTRACER")):
        set_kind(track, "thread", "dispatch", file.device("/host:CPU", "cpu"))
    elif process.startswith(("/host:", "/device:CPU")):
        derived = _DERIVED.match(name) is not None
        device = file.device("/host:CPU", "cpu")
        if derived:
            set_kind(track, "derived", "annotation", device)
        else:
            set_kind(track, "thread", "execution", device)
    elif process.startswith("/device:") or "#Chip" in process:
        _profiled_device(track, file)


def _profiled_device(track: Track, file: ChromeFile) -> None:
    """Rows of a device: its streams, and what the profiler derives from them."""
    process, name = track["process"], track["name"]
    # Some writers put more than the device's name into the name of the process.
    plane = process.split(" ")[0] if process.startswith("/device:") else process
    is_tpu = any(word in process for word in ("TPU", "SPARSECORE", "#Chip"))
    kind = "tpu" if is_tpu else device_kind(plane)
    device = file.device(plane, kind)
    if kind == "tpu" and _TPU_WORK.match(name):
        set_kind(track, "device_stream", "execution", device)
    elif kind == "tpu" and name == "Async XLA Ops":
        set_kind(track, "async", "execution", device)
    elif kind == "tpu" or _DERIVED.match(name):
        # What units, bundles and counters show beside the ops is no execution.
        set_kind(track, "derived", "annotation", device)
    else:
        set_kind(track, "device_stream", "execution", device)
