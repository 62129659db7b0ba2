"""Whose step a step is."""

from stepscope import units
from stepscope.instruments.laws import clocks_agree
from stepscope.instruments.laws.violation import Violation, Violations, Weakens
from stepscope.library.statements import Query, statement

HOLDS = (
    "Where the host runs ahead of its device, a step is the device's own: a slice of its row of steps, else "
    "a run of its main program, with what the device waits for before it, where that is a tenth of the loop "
    "or more. A host that runs ahead says nothing of the length of a step."
)
TOLERANCE = (
    "A quarter of the device's steps may lie in none of the host's, each by more than a twentieth of itself; "
    "where the device shows no steps, half of its work may come after the last step of the host, and a tenth "
    "where a device works a tenth longer than the steps take that launched its work."
)
WEAKENS: tuple[Weakens, ...] = ("busy", "share", "left", "mean")
OF_DEVICES = True
KEPT_BY = "stepscope.instruments.device_steps.runs_ahead"

MOST = 0.5
AFTER, LONGER = 0.1, 1.1


def broken(query: Query) -> Violations:
    """Sources whose devices work when the host's steps are over."""
    for source_id, run_id, host_id, work_ps, after_ps in query(statement("law_step_of_the_device")).rows():
        if after_ps <= AFTER * work_ps or source_id in clocks_agree.sources_that_differ(query):
            continue
        if after_ps <= MOST * work_ps and (
            source_id in steps_that_grow(query) or not _launch_too_much(query, source_id)
        ):
            continue
        share = units.show(after_ps / work_ps, "ratio")
        sentence = (
            f"{share} of the device's work came after the last step of the host, which runs ahead: its steps "
            f"say nothing of how long a step takes{clocks_agree.busy_of_span(query, source_id)}"
        )
        yield Violation(source_id, run_id, host_id, after_ps, work_ps, sentence)


def steps_that_grow(query: Query) -> dict[int, int]:
    """The middle step of each source whose first steps are shorter than the others, by the source."""
    steps = query(statement("law_work_within_steps")).rows()
    return {source_id: median_ps for source_id, mean_ps, median_ps in steps if median_ps >= LONGER * mean_ps}


def _launch_too_much(query: Query, source_id: int) -> bool:
    """Whether what the steps launched keeps a device busy for longer than they take."""
    devices = query(statement("work_of_steps", source_id=source_id)).rows()
    return any(busy_ps > LONGER * steps_ps for _, busy_ps, steps_ps in devices)
