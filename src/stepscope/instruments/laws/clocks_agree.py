"""Whether host and device tell the same time."""

from stepscope import units
from stepscope.instruments.laws.violation import Violation, Violations, Weakens
from stepscope.library.statements import Query, statement

HOLDS = "When the host has waited for its device, the device is done with what was launched before."
TOLERANCE = (
    "Half of the kernels: nothing tells for which of several devices a call waits. Where more begin after "
    "such a wait, the clocks differ, and a host that seems to run ahead may not."
)
WEAKENS: tuple[Weakens, ...] = ("busy", "share", "left")
OF_DEVICES = True

MOST = 0.5


def broken(query: Query) -> Violations:
    """Sources in which host and device have clocks that differ."""
    for source_id, run_id, host_id, waited_for, late, least_ps in _late(query):
        sentence = (
            f"the clocks of host and device differ, by {units.show(least_ps, 'ps')} or more: {late:,} of "
            f"{units.count(waited_for, 'kernel')} {units.agree(late, 'begins', 'begin')} when the host "
            f"had waited for all of its device's work{busy_of_span(query, source_id)}"
        )
        yield Violation(source_id, run_id, host_id, late, waited_for, sentence)


def sources_that_differ(query: Query) -> set[int]:
    """Sources in which times of the host say nothing of when its device does something."""
    return {source_id for source_id, *_ in _late(query)}


def _late(query: Query) -> list[tuple[int, str, str, int, int, int]]:
    return [row for row in query(statement("law_clocks_agree")).rows() if row[4] > MOST * row[3]]


def busy_of_span(query: Query, source_id: int) -> str:
    """Without steps: the share of the span of a device's work in which it is busy."""
    devices = query(statement("work_from_first_to_last", source_id=source_id)).rows()
    span_ps = max(last_ps for *_, last_ps in devices) - min(first_ps for *_, first_ps, _ in devices)
    share = units.show(sum(busy_ps for _, busy_ps, *_ in devices) / (len(devices) * span_ps), "ratio")
    of = f"{share} of the {units.show(span_ps, 'ps')}"
    if len(devices) == 1:
        return f"; the device works for {of} that its work spans"
    return f"; devices work for {of} that their work spans, on average"
