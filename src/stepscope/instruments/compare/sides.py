"""The sides that can be compared: a run with its hosts, or a host of a run."""

from collections import defaultdict
from dataclasses import dataclass, replace

from stepscope.errors import UsageError
from stepscope.library.statements import Query, statement


@dataclass(frozen=True)
class Side:
    """Hosts of a run, and how to ask about them. name: for people."""

    query: Query
    run_id: str
    host_ids: tuple[str, ...]
    """Those with steps, where any has some."""
    name: str
    others: tuple[str, ...] = ()
    """Hosts without steps, beside those that have some."""


def runs(query: Query) -> list[Side]:
    """The runs of a trace, the one whose steps take most time first."""
    hosts: dict[str, list[str]] = defaultdict(list)
    for run_id, host_id, *_ in query(statement("page_hosts")).rows():
        if host_id not in hosts[run_id]:
            hosts[run_id].append(host_id)
    stepped: dict[tuple[str, str], int] = defaultdict(int)
    for _, run_id, host_id, _, _, dur_ps, *_ in query(statement("timed_steps")).rows():
        stepped[run_id, host_id] += dur_ps
    found = []
    for run_id, all_hosts in hosts.items():
        with_steps = [host for host in all_hosts if stepped[run_id, host]]
        chosen = with_steps or all_hosts
        others = tuple(host for host in all_hosts if host not in chosen)
        found.append(Side(query, run_id, tuple(chosen), run_id, others))
    return sorted(
        found, key=lambda side: (-sum(stepped[side.run_id, host] for host in side.host_ids), side.run_id)
    )


def only_programs(query: Query) -> bool:
    """Whether there is nothing but what XLA compiled, which holds no time to compare."""
    modules, captures = query(statement("programs_seen")).rows()[0]
    return bool(modules) and not captures


def hosts(side: Side) -> list[Side]:
    """Each host of a side as a side of its own."""
    return [replace(side, host_ids=(host,), name=host) for host in side.host_ids]


def each(query: Query) -> list[Side]:
    """Every host of every run, those with steps first; named as briefly as tells them apart."""
    found = runs(query)
    pairs = [(side, host) for side in found for host in (*side.host_ids, *side.others)]
    stepped = {(row[1], row[2]) for row in query(statement("timed_steps")).rows()}
    one_each = len(pairs) == len(found)
    sides = []
    for side, host in pairs:
        name = side.run_id if one_each else host if len(found) == 1 else f"{side.run_id}/{host}"
        sides.append(replace(side, host_ids=(host,), name=name, others=()))
    return sorted(sides, key=lambda side: (side.run_id, side.host_ids[0]) not in stepped)


def named(query: Query, wanted: str) -> Side:
    """The run, or RUN/HOST, of that name. UsageError when there is none."""
    found = runs(query)
    run, _, host = wanted.partition("/")
    for side in found:
        if side.run_id == wanted or (side.run_id == run and not host):
            return side
        if side.run_id == run and host in (*side.host_ids, *side.others):
            return replace(side, host_ids=(host,), name=wanted, others=())
    run_ids = [side.run_id for side in found]
    raise UsageError(
        f"There is no run or host {wanted}",
        seen=f"{len(run_ids)} runs: {', '.join(run_ids[:5])}{', …' if len(run_ids) > 5 else ''}",
        todo="give the name of one of these, or RUN/HOST",
    )
