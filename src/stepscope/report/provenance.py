"""The origin of a report: when and where it was recorded, and which program."""

from collections.abc import Iterator
from datetime import datetime, timezone

from stepscope import units
from stepscope.library.statements import Query, statement

_MOST_RUNS = 3
_MOST_MODELS = 4


def sentences(query: Query) -> list[str]:
    """One sentence a run."""
    models: dict[str, list[str]] = {}
    for run, model, number in query(statement("recorded_devices")).rows():
        models.setdefault(run, []).append(model if number == 1 else f"{number} of {model}")
    runs = query(statement("recorded_programs")).rows()
    found = []
    for run, begun_ns, host, hosts, program in runs[:_MOST_RUNS]:
        device_models = models.get(run, [])
        devices = ", ".join(device_models[:_MOST_MODELS]) + (
            ", …" if len(device_models) > _MOST_MODELS else ""
        )
        facts = "; ".join(_facts(begun_ns, host, hosts, program, devices))
        if facts:
            found.append(f"{run}: {facts}." if len(runs) > 1 else f"{facts[0].upper()}{facts[1:]}.")
    if found and len(runs) > _MOST_RUNS:
        found.append(f"{units.count(len(runs) - _MOST_RUNS, 'more run')}.")
    return found


def switched_on(query: Query) -> list[str]:
    """One sentence a run whose program had switches for debugging on."""
    runs = query(statement("debugging_switches")).rows()
    found = []
    for run, names, switches in runs:
        where = f" in {run}" if len(runs) > 1 else ""
        what = units.agree(
            switches, "a switch for debugging, which slows", "switches for debugging, which slow"
        )
        found.append(f"{names} {units.agree(switches, 'is', 'are')} on{where}: {what} steps.")
    return found


def _facts(
    begun_ns: int | None, host: str | None, hosts: int, program: str | None, devices: str
) -> Iterator[str]:
    where = "" if host is None else f" on {host}" if hosts == 1 else f" on {units.count(hosts, 'host')}"
    when = _moment(begun_ns)
    if when or where:
        yield f"recorded{when}{where}"
    if program:
        yield program
    if devices:
        yield f"with {devices}"


def _moment(begun_ns: int | None) -> str:
    """When it began; "" if no file has a valid time."""
    if begun_ns is None:
        return ""
    try:
        return datetime.fromtimestamp(begun_ns / 1e9, timezone.utc).strftime(" %Y-%m-%d %H:%M UTC")
    except (OverflowError, OSError, ValueError):
        return ""
