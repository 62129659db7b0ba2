"""TensorBoard event files: run metadata of TF1 and TF2 steps, and graphs, among scalars and the like."""

from stepscope import _core, units
from stepscope._core import Store
from stepscope.formats import Pieces
from stepscope.sources.source import Traits
from stepscope.store_rows import add_notes, note

NAME = "event_file"
TRAITS = Traits(sessions=True, op_logs=True, endings=(".events", ".event"))


_SUMMARIES = "records.summary "
"""How the core calls its counts of what summaries hold."""


def sniff(head: bytes, name: str) -> bool:
    """A record whose length carries the right checksum, and in it the beginning of an event."""
    return _core.sniff(NAME, head, name)


def build(pieces: Pieces) -> Store:
    """The native core reads all that the file holds but summaries: a note says how many records hold these,
    where others have a trace."""
    from stepscope.formats import _host_trace

    store = _host_trace.decode(pieces, NAME)
    meta = store.facts["meta"]
    unread = {key.removeprefix(_SUMMARIES): int(value) for key, value in meta.items() if _SUMMARIES in key}
    if unread and not any(known["slug"] == "no-trace-in-events" for known in store.facts["notes"]):
        held = ", ".join(units.count(number, f"{kind} value") for kind, number in unread.items())
        detail = f"summaries among the {meta['records']} records are not read: {held}"
        add_notes(store, note("summaries-unread", "info", detail, sum(unread.values())))
    return store
