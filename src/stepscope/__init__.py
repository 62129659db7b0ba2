"""stepscope: where the time of a TensorFlow or XLA job went, why, and what to change.

import stepscope

trace = stepscope.open("logs/")
trace.summary()
trace.answer.cause
trace.analysis("op_types").df()
for row in trace.query("SELECT name, sum(dur_ps) AS total_ps FROM slice GROUP BY name"):
    print(row.name, row.total_ps)

with stepscope.record("recording"):
    train()
stepscope.diff("recording", "logs/")
stepscope.check(baseline="old/", candidate="new/").verdict
"""

from __future__ import annotations

# Type checkers take this for true; importing `typing` would take longer than importing the core.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from stepscope.capture.recording import record
    from stepscope.errors import StepscopeError
    from stepscope.objects.answers import Answer, Finding, Findings
    from stepscope.objects.comparison import Check, Comparison, check, diff
    from stepscope.objects.report_views import Memory, Pipeline, Summary
    from stepscope.objects.result import Result
    from stepscope.objects.tfprof import tfprof
    from stepscope.objects.trace import Trace, open
    from stepscope.session.trace import ingest

_PLACES = {
    "Answer": "objects.answers",
    "Check": "objects.comparison",
    "Comparison": "objects.comparison",
    "Finding": "objects.answers",
    "Findings": "objects.answers",
    "Memory": "objects.report_views",
    "Pipeline": "objects.report_views",
    "Result": "objects.result",
    "StepscopeError": "errors",
    "Summary": "objects.report_views",
    "Trace": "objects.trace",
    "check": "objects.comparison",
    "diff": "objects.comparison",
    "ingest": "session.trace",
    "open": "objects.trace",
    "record": "capture.recording",
    "tfprof": "objects.tfprof",
}
"""Where the public names come from: modules are loaded when a name is first used."""

__all__ = [
    "Answer",
    "Check",
    "Comparison",
    "Finding",
    "Findings",
    "Memory",
    "Pipeline",
    "Result",
    "StepscopeError",
    "Summary",
    "Trace",
    "__version__",
    "check",
    "diff",
    "ingest",
    "open",
    "record",
    "tfprof",
]

__version__ = "0.1.0"


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    # The engine and the core are loaded when something is opened, not when the package is imported.
    if name in _PLACES:
        from importlib import import_module

        return getattr(import_module(f"stepscope.{_PLACES[name]}"), name)
    if name == "load_ipython_extension":  # %load_ext stepscope
        from stepscope.notebook import load

        return load
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
