"""What a worker of another process does. It imports no more than that, for each such process does."""

import pickle

from stepscope.lake.rows import SourceRow
from stepscope.session.ingest import WorkItem, ingest_one


def work(pickled: bytes, lake: str) -> SourceRow:
    """Takes nothing but the bytes of an item and the name of the lake."""
    item: WorkItem = pickle.loads(pickled)
    return ingest_one(item, lake)
