"""Functions that compute do so themselves."""

from stepscope import units
from stepscope.instruments.laws.violation import Violation, Violations, Weakens
from stepscope.library.statements import Query, statement

HOLDS = (
    "Where a recording knows no ops, and every function stands for one, the time that counts to computing is "
    "filled by what functions do themselves: one that waits in what it calls computes nothing."
)
TOLERANCE = "A twentieth of that time."
WEAKENS: tuple[Weakens, ...] = ("share", "left")

SLACK = 0.05


def broken(query: Query) -> Violations:
    """Sources whose functions by themselves take less than what counts to computing."""
    for source_id, run_id, host_id, counted_ps, own_ps in query(
        statement("law_functions_fill_their_time")
    ).rows():
        if own_ps >= (1 - SLACK) * counted_ps:
            continue
        own_time, counted = units.show(own_ps, "ps"), units.show(counted_ps, "ps")
        sentence = (
            f"of the {counted} in which functions were recorded, these ran for {own_time} themselves, and "
            "waited in what they called for the rest"
        )
        yield Violation(source_id, run_id, host_id, own_ps, counted_ps, sentence)
