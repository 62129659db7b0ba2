"""Views of tfprof as reports, and what is told of options."""

from collections.abc import Iterator

from stepscope.instruments.tfprof import ViewOutput
from stepscope.instruments.tfprof.tree import Figures, ViewNode
from stepscope.report import tfprof
from stepscope.report.parts import Report

_NONE = Figures(*[0] * 11)
_ROOT = ViewNode("_TFProfRoot", False, _NONE, _NONE, select=("micros", "bytes", "params"))
OPTIONS: dict[str, tuple[dict[str, str], str]] = {
    "variables": ({"account_type_regexes": "Variable"}, "_TFProfRoot (--/0 params)"),
    "a device in capitals": ({"account_type_regexes": ".*CPU:0.*"}, ""),
    "no such order": ({"order_by": "duration"}, ""),
    "hidden ops": ({"select": "num_hidden_ops"}, ""),
    "no such column": ({"select": "duration,size"}, ""),
}


def reports() -> Iterator[tuple[str, Report]]:
    """Each report by the name of what it is about."""
    for view in ("scope", "graph", "op", "code"):
        yield f"tfprof: {view}", tfprof.build(view, _ROOT)
    for name, (words, text) in OPTIONS.items():
        answer = ViewOutput(text, [], [])
        yield f"tfprof: {name}", tfprof.build("scope", _ROOT, tfprof.advice(words, answer))
