"""Work launched is work done."""

from stepscope import units
from stepscope.instruments.laws.violation import Violation, Violations, Weakens
from stepscope.library.statements import Query, statement

HOLDS = "Every kernel that was launched ran: what a device did is recorded as often as it was launched."
TOLERANCE = (
    "5 % of the launches, and one, where the device did something: a recording may end between a launch and "
    "its kernel."
)
WEAKENS: tuple[Weakens, ...] = ("busy", "share", "left")

BOUND = "at least"
"""What a device is seen to do is so much of what it did."""
MISSING = 0.05
_HALF = (0.45, 0.55)


def broken(query: Query) -> Violations:
    """Sources in which kernels are missing."""
    rows = query(statement("law_work_launched")).rows()
    for source_id, run_id, host_id, launches, kernels, beside_work in rows:
        missing = launches - kernels
        if missing <= (max(1, MISSING * launches) if beside_work else 0):
            continue
        share = missing / launches
        part = "half" if _HALF[0] <= share <= _HALF[1] else units.show(share, "ratio")
        what = "all" if not kernels else part
        sentence = (
            f"{units.count(launches, 'launch', 'launches')}, {units.count(kernels, 'kernel')}: {what} of the "
            f"device's work is missing from the recording, so the device did more than is shown"
        )
        yield Violation(source_id, run_id, host_id, missing, launches, sentence)
