"""What waits for an event waits for the stream that recorded it."""

from stepscope import units
from stepscope.instruments.laws.violation import Violation, Violations, Weakens
from stepscope.library.statements import Query, statement

HOLDS = "A wait for an event of a device names the stream in which the event was recorded."
TOLERANCE = "Half of the waits: an event that was recorded before the recording began has no stream in it."
WEAKENS: tuple[Weakens, ...] = ("place",)

MOST = 0.5


def broken(query: Query) -> Violations:
    """Sources whose waits name no stream."""
    for source_id, run_id, host_id, waits, nameless in query(statement("law_waits_name_streams")).rows():
        if nameless <= MOST * waits:
            continue
        sentence = (
            f"{nameless:,} of {units.count(waits, 'wait')} for an event "
            f"{units.agree(nameless, 'does', 'do')} not tell which stream recorded it: what is waited "
            "for is unknown"
        )
        yield Violation(source_id, run_id, host_id, nameless, waits, sentence)
