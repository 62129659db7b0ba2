"""Peaks of devices: operations in a second by type of number, and bytes.

`devices.csv` has a line for each device as its maker tells it, without sparsity: `words` that its recorded
name has (alternatives divided by |), compute capability, multiprocessors, their clock in MHz, memory in GB,
GB a second of the memory and of the link to the host in one direction, and tera-operations a second of
products of matrices by type of number. What a recording says of its device comes first.
"""

import csv
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

TYPES = ("f64", "f32", "tf32", "f16", "bf16", "f8", "i8")
"""Types of numbers that devices have peaks of, as the columns of the table are called."""
WRONG_RATE = 0.75
"""Memory that a recording calls slower than this part of the maker's figure: the recorder multiplied clock
and width of a memory that moves more at each beat, as those of AMD's MI300X."""
SAME_SIZE = 0.15
"""Two devices differ in memory where their sizes differ by more than this part."""
_WORD = re.compile(r"[a-z0-9]+")
_OTHERS = frozenset({"ti", "super", "laptop", "mobile", "max", "mig", "d"})
"""Words of names that make another device of one: they have to be in the table as well."""


class Device(NamedTuple):
    """A line of the table. memory and link: bytes of a second. flops: operations of a second by type."""

    name: str
    words: tuple[tuple[str, ...], ...]
    capability: str
    cores: int | None
    mhz: int | None
    memory_bytes: tuple[float, ...]
    memory: float
    link: float
    flops: Mapping[str, float]
    source: str


class DevicePeaks(NamedTuple):
    """What a device can do in a second. flops: by type; memory: bytes, None where unknown. told_by: recording
    and table, in words."""

    name: str
    flops: Mapping[str, float]
    memory: float | None
    told_by: str

    def of(self, dtype: str) -> float | None:
        """Operations of a second on numbers of a type; those of the next wider type that the device knows."""
        while dtype not in self.flops and dtype in _WIDER:
            dtype = _WIDER[dtype]
        return self.flops.get(dtype)


_WIDER = {"i8": "f8", "f8": "bf16", "bf16": "f16", "f16": "tf32", "tf32": "f32"}


@cache
def devices() -> tuple[Device, ...]:
    """The table."""
    with Path(__file__).with_name("devices.csv").open(encoding="utf-8", newline="") as file:
        return tuple(_device(row) for row in csv.DictReader(file))


def _device(row: Mapping[str, str]) -> Device:
    return Device(
        row["name"],
        tuple(tuple(words.split()) for words in row["words"].split("|")),
        row["capability"],
        int(row["cores"]) if row["cores"] else None,
        int(row["mhz"]) if row["mhz"] else None,
        tuple(float(size) * 1e9 for size in row["memory_gb"].split("|")),
        float(row["memory"]) * 1e9,
        float(row["link"]) * 1e9,
        {name: float(row[name]) * 1e12 for name in TYPES if row[name]},
        row["source"],
    )


def peaks(about: Mapping[str, Any]) -> DevicePeaks | None:
    """The peaks of a device. about: what the recording says of it, as `device.args_json`. None where neither
    that nor the table tells any."""
    known = fitting(about)
    model = min(known, key=lambda device: device.memory, default=None)
    flops, bandwidth = _recorded_flops(about, model), _number(about, "peak_hbm_bw_gigabytes_per_second")
    memory = bandwidth * 1e9 if bandwidth else _recorded_memory(about, model)
    if not flops and memory is None:
        return None
    by_file = bandwidth or _number(about, "memory_bandwidth") == memory
    names = ["the recording"] if by_file else []
    if model is not None:
        names.append(f"devices.csv: {model.name}")
    title = about.get("name") or about.get("device_type_string") or (model.name if model else "")
    return DevicePeaks(str(title), flops, memory, ", ".join(names))


def fitting(about: Mapping[str, Any]) -> list[Device]:
    """Lines of the table that a device may be: by its name, else by what it consists of; of those, the ones
    with the same size of memory, where the recording has it."""
    name = set(_WORD.findall(str(about.get("name") or about.get("device_type_string") or "").lower()))
    found: list[Device] = []
    if name:
        found = _called(name)
    elif about.get("core_count"):
        major, minor = about.get("compute_cap_major"), about.get("compute_cap_minor")
        made = (f"{major}.{minor}", about["core_count"])
        is_amd = str(about.get("device_vendor", "")).upper() == "AMD"
        found = [
            device
            for device in devices()
            if (device.capability, device.cores) == made and device.name.startswith("AMD") == is_amd
        ]
    size = _number(about, "totalGlobalMem") or _number(about, "memory_size")
    near = [
        device
        for device in found
        if size and min(abs(size / of - 1) for of in device.memory_bytes) <= SAME_SIZE
    ]
    return near or found


def _called(name: set[str]) -> list[Device]:
    """Devices with the most words of a name; where it tells no more than a model, as NVIDIA A100, which may
    have 40 or 80 GB, all of that."""
    sizes: dict[int, int] = {}
    models: dict[int, int] = {}
    for number, device in enumerate(devices()):
        for words in device.words:
            if not name & _OTHERS <= set(words):
                continue
            if set(words) <= name:
                sizes[number] = max(sizes.get(number, 0), len(words))
            if next(word for word in words if any(letter.isdigit() for letter in word)) in name:
                models[number] = 0
    most = max(sizes.values(), default=0)
    return [devices()[number] for number, size in (sizes or models).items() if size == most]


def _recorded_flops(about: Mapping[str, Any], device: Device | None) -> Mapping[str, float]:
    if teraflops := _number(about, "peak_teraflops_per_second"):
        # A TPU multiplies 32-bit floats in its one unit for products, in parts of 16 bits.
        by_trace = dict.fromkeys(("f32", "bf16"), teraflops * 1e12)
        wide = (
            {}
            if device is None
            else {key: value for key, value in device.flops.items() if key not in by_trace}
        )
        return {**wide, **by_trace}
    if device is None:
        return {}
    cores = _number(about, "core_count") or _number(about, "numSms")
    part = cores / device.cores if cores and device.cores else 1.0
    clock = _number(about, "clock_rate")
    if clock and device.mhz:
        part *= clock / 1000 / device.mhz
    return {key: value * part for key, value in device.flops.items()}


def _recorded_memory(about: Mapping[str, Any], device: Device | None) -> float | None:
    bandwidth = _number(about, "memory_bandwidth")
    if device is None:
        return bandwidth
    return bandwidth if bandwidth and bandwidth >= WRONG_RATE * device.memory else device.memory


def _number(about: Mapping[str, Any], key: str) -> float | None:
    value = about.get(key)
    return (
        float(value)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0
        else None
    )
