"""Sentences about recordings of nothing but asynchronous spans: how many, how long, and how many at once.

A server of models writes one for each request, say. They lie on no thread and on no device.
"""

from stepscope import units
from stepscope.library.statements import Query, statement
from stepscope.report.names import shortened

_MOST = 3
"""Kinds of spans that get a sentence each."""
_OPEN = 0.25
"""From this part of spans without an end on, durations say nothing of the others."""


def sentences(query: Query) -> list[str]:
    """One for each kind of spans, that with the longest time in all first; none where anything else was
    recorded."""
    rows = query(statement("async_spans")).rows()
    if not rows:
        return []
    ((of_all, unclosed),) = query(statement("async_spans_without_end")).rows()
    if unclosed >= max(_OPEN * of_all, 1):
        began = f"{units.count(of_all, 'asynchronous span')} began, and of {unclosed:,} no end was recorded"
        return [f"{began}: how long they took is unknown, and nothing else was recorded."]
    found = []
    for called, spans, mean_ps, p95_ps, sum_ps, from_ps, to_ps in rows[:_MOST]:
        sentence = f"{units.count(spans, 'span')} of {shortened(called)}: {units.show(mean_ps, 'ps')}"
        if spans > 1 and to_ps > from_ps:
            at_once = sum_ps / (to_ps - from_ps)
            sentence += (
                f" on average, 95 % within {units.show(p95_ps, 'ps')}; {at_once:,.2f} at once on average"
            )
        found.append(f"{sentence}.")
    more = f" of {len(rows):,} kinds" if len(rows) > _MOST else ""
    found.append(
        f"Only asynchronous spans{more} were recorded: they say how long something took, not where its "
        "time went."
    )
    return found
