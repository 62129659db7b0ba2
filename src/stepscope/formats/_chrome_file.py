"""What a Chrome trace says of its rows beside their events, and the devices that rows belong to."""

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

Track = dict[str, Any]


@dataclass(frozen=True)
class RowDevice:
    number: int
    name: str
    kind: str
    args_json: str | None


@dataclass
class ChromeFile:
    """What the file says beside its events, and the devices found so far."""

    processes: dict[str, dict[str, Any]]
    properties: list[dict[str, Any]]
    working: frozenset[str]
    """Names of the processes that have events."""
    collectives: bool = False
    """Whether rows show whole collectives of an Ascend device."""
    devices: dict[str, RowDevice] = field(default_factory=dict)

    def names(self) -> set[str]:
        """Names of the devices whose ops the processes show."""
        process_names = (
            str(about.get("name")) for about in self.processes.values() if isinstance(about, dict)
        )
        return {name.removesuffix(" Compute") for name in process_names if name.endswith(" Compute")}

    @cached_property
    def accelerators(self) -> list[str]:
        """Those that processes with events are named after."""
        found = (ACCELERATOR.fullmatch(unnumbered(name)) for name in self.working)
        return sorted({f"{match[1].upper()} {match[2]}" for match in found if match})

    def device(self, name: str, kind: str, args_json: str | None = None) -> int:
        """Number of a device, which is added when it is new."""
        return self.devices.setdefault(name, RowDevice(len(self.devices), name, kind, args_json)).number

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


def set_kind(track: Track, kind: str, records: str, device_id: int | None = None) -> None:
    """Says what a track is and what its slices record."""
    track["kind"], track["records"], track["device_id"] = kind, records, device_id


def set_host_thread(track: Track, file: ChromeFile) -> None:
    """Says that a track is a thread of the host."""
    set_kind(track, "thread", "execution", file.device("CPU", "cpu"))


def is_empty(track: Track) -> bool:
    """True for a process that metadata names but that has no events."""
    return track["name"] == "" and " tid " not in track["origin"]


def unnumbered(process: str) -> str:
    """A process's name without its place among the others, which rocprof puts before it."""
    place, _, name = process.partition(" ")
    return (name if place.isdecimal() else process).strip()


ACCELERATOR = re.compile(r"(GPU|XPU|MTIA|HPU|NPU)\s*(\d+)", re.IGNORECASE)
