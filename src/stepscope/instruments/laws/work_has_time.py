"""What ran has a duration."""

from stepscope import units
from stepscope.instruments.laws.violation import Violation, Violations, Weakens
from stepscope.library.statements import Query, statement

HOLDS = "Every kernel has a begin, and an end after it."
TOLERANCE = "A clock that tells whole microseconds only: some kernels may be shorter."
WEAKENS: tuple[Weakens, ...] = ("busy", "share", "left", "mean")
OF_DEVICES = True

BOUND = "at least"


def broken(query: Query) -> Violations:
    """Sources with kernels that take no time."""
    for source_id, run_id, host_id, kernels, timeless in query(statement("law_work_has_time")).rows():
        sentence = (
            f"{timeless:,} of {units.count(kernels, 'kernel')} {units.agree(timeless, 'has', 'have')} no "
            "time: the recorder lost it, so the device was busy for longer than is shown"
        )
        yield Violation(source_id, run_id, host_id, timeless, kernels, sentence)
