"""Facts about the writers of recordings, by the names that decoders give to them."""

from __future__ import annotations

from typing import NamedTuple


class Writer(NamedTuple):
    """A writer of recordings."""

    framework: str | None = None
    """Whose programs it records, as the library calls them."""
    of_session: bool = False
    """It records one run of a session at a time."""


WRITERS = {
    "jax": Writer("jax"),
    "kineto": Writer("pytorch"),
    "step_stats": Writer("tensorflow", of_session=True),
    "tf_profiler": Writer("tensorflow"),
    "tf_timeline": Writer("tensorflow", of_session=True),
}
"""Those of several formats. A format adds its own as WRITERS."""
