"""Nothing moves bytes faster than the link or the memory can."""

from typing import Literal

from stepscope import strict_json, units
from stepscope.instruments.laws.violation import Violation, Violations, Weakens
from stepscope.instruments.roofline.devices import devices, fitting
from stepscope.library.statements import Query, statement

HOLDS = (
    "Bytes over time are at most what the link between host and device, or the memory of the device, "
    "moves in a second: as the recording says of the device, else by `stepscope docs devices`."
)
TOLERANCE = "10 %, and copies of less than 1 MB in all: caches are faster than memory."
WEAKENS: tuple[Weakens, ...] = ("rate",)
OF_DEVICES = True

FASTER = 1.1
LEAST_BYTES = 2**20
_PEAK = "peak_hbm_bw_gigabytes_per_second"


def broken(query: Query) -> Violations:
    """Sources with copies that are too fast."""
    for row in query(statement("law_bytes_over_time")).rows():
        source_id, run_id, host_id, device, about, way, name, copies, moved, took_ps = row
        rate = moved * 1e12 / took_ps
        peak = _peak(about, "link" if way == "link" else "memory")
        if moved < LEAST_BYTES or rate <= FASTER * peak:
            continue
        what = "link" if way == "link" else "memory"
        sentence = (
            f"{units.count(copies, 'copy', 'copies')} called {name} on {device} would move "
            f"{units.show(rate, 'bytes')} a second, more than the {units.show(peak, 'bytes')} of its "
            f"{what}: they took longer than is shown"
        )
        yield Violation(source_id, run_id, host_id, copies, copies, sentence)


def _peak(about_json: str | None, way: Literal["link", "memory"]) -> float:
    """The most that a device can move, in bytes of a second."""
    about = strict_json.members(about_json)
    rate = about.get(_PEAK)
    if way == "memory" and isinstance(rate, (int, float)) and rate > 0:
        return float(rate) * 1e9
    # Where host and device share a memory, that of other devices is no link.
    known = fitting(about) or [device for device in devices() if device.link < device.memory]
    return max(device.link if way == "link" else device.memory for device in known)
