"""Communication that no compute hides."""

from __future__ import annotations

from stepscope.instruments.causes.cause import Cause


class CommunicationCause(Cause):
    """Communication."""

    name = "communication"
