"""The rows `/host:CPU` of a run of a session, as TensorFlow 1.12 to 2.3 writes them.

Threads of the host say there what they do: calls of tf.data iterators, which go on before and after a run,
and ops a second time, as `node:Type`. The executor's own rows of a device tell when each op ran. So beside
these the host's rows annotate: they are stages of an input pipeline to be read by name, and no ops to be
counted again.
"""

from collections.abc import Collection, Iterable
from typing import Any

from stepscope._core import Store
from stepscope.formats import Pieces
from stepscope.store_rows import TRACK, put

HOST = "/host:CPU"


def annotates(name: str, others: Collection[str]) -> bool:
    """Whether a device of a run is the host's threads, beside executors. others: names of all devices."""
    return name == HOST and any(other and not other.startswith(HOST) for other in others)


def mark(tracks: Iterable[dict[str, Any]], devices: Collection[str]) -> bool:
    """Says of the host's rows that they annotate; False when there are none. devices: names of all."""
    found = False
    if annotates(HOST, devices):
        for track in tracks:
            # The process is the device, and the tag of the run where a file holds several.
            if str(track["process"]).partition(" [")[0] == HOST and track["records"] in (
                "execution",
                "unknown",
            ):
                track["records"] = "annotation"
                found = True
    return found


def decode(pieces: Pieces, name: str) -> Store:
    """What the decoder of this name, one of StepStats, makes of a file, with the host's rows marked."""
    store = pieces.decode(name)
    tables = store.tables()
    if "track" not in tables or "device" not in tables:
        return store
    devices = {str(row["name"]) for row in store.rows("device")}
    if HOST in devices and mark(tracks := store.rows("track"), devices):
        put(store, "track", tracks, TRACK)
    return store
