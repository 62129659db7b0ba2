"""The sides of a comparison: runs or hosts of a recording, with their figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from stepscope.errors import NothingFound, UsageError
from stepscope.instruments.compare import figures, sides

if TYPE_CHECKING:
    from stepscope.instruments.compare.figures import Measured
    from stepscope.library.statements import Query
    from stepscope.session.trace import OpenTrace


class ComparedSide(NamedTuple):
    """A side. host_id: the first of its hosts."""

    measured: Measured
    host_id: str


def need_time(trace: OpenTrace) -> None:
    """NothingFound where nothing was recorded that could be compared."""
    if sides.only_programs(trace.query):
        raise NothingFound(
            "A dump of XLA holds no times to compare",
            seen=f"nothing but dumps in {' '.join(trace.given)}",
            todo="stepscope xla diff A B compares what was compiled; for times, give recordings",
            path=trace.given[0] if trace.given else None,
        )


def measured_sides(
    query: Query, wanted: Sequence[str | None], path: str, tell: Callable[[str], object], with_steps: bool
) -> list[ComparedSide]:
    """As many sides of a recording as are `wanted`, by name where there is one. path: what the recording is
    called in messages. tell: hears what is left out. with_steps: figures of a step, else of the whole."""
    chosen = _chosen(query, wanted, path, tell)
    return [ComparedSide(figures.measure(side, with_steps=with_steps), side.host_ids[0]) for side in chosen]


def _chosen(
    query: Query, wanted: Sequence[str | None], path: str, tell: Callable[[str], object]
) -> list[sides.Side]:
    if all(wanted):
        return [sides.named(query, name) for name in wanted if name is not None]
    run_sides = sides.runs(query)
    if len(wanted) == 1:
        if len(run_sides) > 1:
            tell(f"{path} has {len(run_sides)} runs; {run_sides[0].name} is compared (see --a and --b)")
        if run_sides and run_sides[0].others:
            tell(f"hosts without steps are left out: {', '.join(run_sides[0].others)}")
        return run_sides[:1]
    if any(wanted):
        raise UsageError("A comparison has two sides", seen="one of --a and --b", todo="name both")
    if len(run_sides) == 1:
        return sides.hosts(run_sides[0])
    return run_sides


def comparable(measure: Callable[[bool], list[ComparedSide]]) -> list[ComparedSide]:
    """Both sides by their steps; as whole recordings where only one of them has steps. measure: gives the
    sides, by their steps or not."""
    found = measure(True)
    if len(found) == 2 and bool(found[0].measured.steps) != bool(found[1].measured.steps):
        return measure(False)
    return found
