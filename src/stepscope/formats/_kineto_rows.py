"""Rows of PyTorch's profilers, and of others whose slices have categories of Kineto's."""

import json
import re

from stepscope.formats._chrome_file import ACCELERATOR, ChromeFile, Track, is_empty, set_host_thread, set_kind

AUTOGRAD = ("pid CPU functions", "pid CUDA functions")
"""Processes of a trace that PyTorch's profiler wrote before there was Kineto: it called them by their ids."""
_MOST_DEVICES = 64
"""Accelerators that one host may have."""
_IDS = re.compile(r"pid (-?\d+)(?: tid (.*))?$", re.DOTALL)


def _label(track: Track, file: ChromeFile) -> re.Match[str] | None:
    """The label of a process that stands for an accelerator."""
    about = file.about(track)
    texts = (str(about.get("labels") or "").strip(), track["process"])
    return next((found for text in texts if (found := ACCELERATOR.fullmatch(text))), None)


def _accelerator(track: Track, file: ChromeFile, number: int | None) -> int:
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


def set_by_category(track: Track, file: ChromeFile, device_class: int | str) -> None:
    """A row whose slices have categories of Kineto's: told is the number of a device, or device, host or
    runtime."""
    name = track["name"] = track["name"].strip()
    ids = _IDS.match(track["origin"])
    tid = (ids[2] if ids else None) or ""
    if device_class == "host" or (device_class == "runtime" and _label(track, file) is None):
        # Python calls may lie on the row of a stream, by its numbers; the name is the stream's then.
        track["name"] = f"thread {tid}" if name.lower().startswith("stream") and tid else name
        set_host_thread(track, file)
    elif device_class == "runtime":
        set_kind(track, "lane", "dispatch", _accelerator(track, file, None))
    else:
        if "stream" in name.lower():
            track["name"] = name.removeprefix("tid ")
        elif re.fullmatch(r"\d+", tid) and name.startswith((f"tid {tid}", f"thread {tid}")):
            track["name"] = f"stream {tid}"
        device = _accelerator(track, file, device_class if isinstance(device_class, int) else None)
        if device_class == "device" and re.fullmatch(r"-\d+", tid):
            set_kind(
                track, "unknown", "annotation", device
            )  # waits for the whole device lie below its streams
        else:
            set_kind(track, "device_stream", "execution", device)


def kineto_row(track: Track, file: ChromeFile) -> None:
    """Rows of PyTorch's profiler whose slices do not tell what they are: streams of the device that labels
    the process, else threads."""
    if _label(track, file):
        if is_empty(track):
            return
        device = _accelerator(track, file, None)
        track["name"] = track["name"].strip()
        if track["name"].startswith("stream") or re.search(r" tid \d+$", track["origin"]):
            set_kind(track, "device_stream", "execution", device)
        else:
            set_kind(track, "unknown", "annotation", device)
    elif track["process"] in ("pid Spans", "pid Traces", "pid "):
        set_kind(track, "lane", "annotation")
    elif not is_empty(track):
        set_host_thread(track, file)


def autograd_row(track: Track, file: ChromeFile) -> None:
    """Threads; what it draws of a GPU is the time between two events around each op, and around the ops
    within it: with what the GPU waited for meanwhile, so no execution."""
    if track["origin"].startswith(f"{AUTOGRAD[0]} tid "):
        set_host_thread(track, file)
    elif not is_empty(track):
        set_kind(track, "unknown", "annotation")
