"""The rows that Ascend's profilers add to a framework's, all of one process of a program: what its device
ran, its collectives, and the calls that asked for both.

Tasks of collectives are drawn again by plane, and what overlaps is worked out from the others.
"""

from typing import NamedTuple

EXCHANGES = "exchanges"
"""What the core tells of a stream that carries out collectives and does nothing else."""
_TASKS = "Ascend Hardware"
"""What the process of a device's streams is called."""
_COLLECTIVES = ("HCCL", "Communication")
"""What its process of whole collectives is called."""
_CALLS = "CANN"
_DRAWN_AGAIN = ("Overlap Analysis", f"{_TASKS}: Step Trace", "HCCL: Plane", "Communication: Plane")


class AscendRow(NamedTuple):
    """What a row is: as in the table track."""

    name: str
    kind: str
    records: str
    of_device: bool = True


def shows_collectives(process: str, name: str) -> bool:
    """Whether a row shows whole collectives."""
    return process in _COLLECTIVES and not _draws_again(process, name)


def _draws_again(process: str, name: str) -> bool:
    return f"{process}: {name}".startswith(_DRAWN_AGAIN)


def row(process: str, name: str, *, exchanges: bool, collectives: bool) -> AscendRow | None:
    """The row of a process; None where it is none of these. exchanges: it is a stream that carries out
    collectives, which stands for them unless rows show them whole (collectives)."""
    exchanges = exchanges and process == _TASKS
    if _draws_again(process, name) or (exchanges and collectives):
        return AscendRow(name, "derived", "annotation")
    if process in (_TASKS, *_COLLECTIVES):
        return AscendRow(f"{name} of collectives" if exchanges else name, "device_stream", "execution")
    if process == _CALLS:
        return AscendRow(name, "thread", "dispatch", of_device=False)
    return None
