"""stepscope: where the time of a TensorFlow or XLA job went, why, and what to change.

import stepscope

with stepscope.open("logs/") as trace:
    for row in trace.query("SELECT name, sum(dur_ps) FROM slice GROUP BY name").rows():
        print(row)
"""

from __future__ import annotations

# Type checkers take this for true; importing `typing` would take longer than importing the core.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from stepscope.errors import StepscopeError
    from stepscope.instruments.tfprof.tree import tfprof
    from stepscope.session.trace import Trace, ingest, open

__all__ = ["StepscopeError", "Trace", "__version__", "ingest", "open", "tfprof"]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    # The engine and the core are loaded when something is opened, not when the package is imported.
    if name in ("Trace", "ingest", "open"):
        from stepscope.session import trace

        return getattr(trace, name)
    if name == "tfprof":
        from stepscope.instruments.tfprof.tree import tfprof

        return tfprof
    if name == "StepscopeError":
        from stepscope.errors import StepscopeError

        return StepscopeError
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
