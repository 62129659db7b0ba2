"""The model: tfprof's views with their options, of the graphs and steps that were given, or of the trace."""

from __future__ import annotations

import json as python_json
from typing import TYPE_CHECKING, Any

from stepscope import _core
from stepscope.background import go_on
from stepscope.errors import NothingFound, UsageError
from stepscope.formats.models import files
from stepscope.instruments import tfprof
from stepscope.instruments.tfprof import evidence
from stepscope.instruments.tfprof.tree import tree
from stepscope.presenters import json
from stepscope.report import tfprof as report
from stepscope.server.catalog import FORMAT
from stepscope.server.replies import refuse

if TYPE_CHECKING:
    from stepscope.session.trace import OpenTrace

KEYS = ("view", "options")
REFUSED = frozenset({"output"})
"""Options that write files."""
MOST_LINES = 20_000
MOST_TEXT = 4_000_000
"""Characters of tfprof's own text that a page gets."""


def read(trace: OpenTrace) -> tfprof.TfprofModel:
    """The model of what was given: its graph, steps, op log and checkpoint, or else the ops that the trace
    shows. NothingFound when there is neither."""
    found = files.find_files(list(trace.given)).files
    found_evidence = None
    if not found.keys() & {"profile_path", "run_meta_path"}:
        found_evidence = evidence.read(trace.query)
        found_evidence = found_evidence if found_evidence.nodes else None
    named = {name: places for name, places in found.items() if name != files.TRACES}
    if not named and found_evidence is None:
        raise NothingFound(
            "There is no model to look at.",
            seen="no graph, RunMetadata, checkpoint or profile, and no slice that is an op",
            todo="serve a folder that holds the graph or a recording of its steps",
        )
    return tfprof.TfprofModel.of_files(named, evidence=found_evidence)


def about(model: tfprof.TfprofModel) -> dict[str, Any]:
    """What there is to choose."""
    return {
        "format": FORMAT,
        "views": list(tfprof.VIEWS),
        "options": [vars(option) for option in tfprof.options() if option.name not in REFUSED],
        "columns": tfprof.columns(),
        "orders": list(tfprof.orders()),
        "coverage": model.coverage,
        "notes": list(model.notes),
    }


def answer(model: tfprof.TfprofModel, given: dict[str, Any]) -> dict[str, Any]:
    """A view as a report and as tfprof's text. given: {"view": name, "options": {name: text}}. Refused with
    400 for another view, an unknown option and a bad value."""
    view, words = given["view"], given["options"]
    if view not in tfprof.VIEWS:
        refuse("another view", f"send one of {', '.join(tfprof.VIEWS)}")
    if not isinstance(words, dict) or not all(isinstance(value, str) for value in words.values()):
        refuse("other options", "send an object of names and texts")
    chosen = _core.TfprofOptions()
    for name, value in words.items():
        if name in REFUSED or name not in tfprof.names():
            refuse(f"the option {name[:60]}", "send an option of /api/model")
        try:
            tfprof.set_option(chosen, name, value)
        except UsageError as error:
            refuse(error.seen, error.todo, error.happened)
    output = model.show(view, chosen)
    go_on()
    rows, _ = model.outline(view, chosen)
    go_on()
    root = tree(rows[:MOST_LINES], tuple(chosen.select), model.ticks_per_us)
    built = report.build(view, root, [*output.warnings, *report.advice(words, output)])
    go_on()
    text = output.text
    return {
        "format": FORMAT,
        "report": python_json.loads(json.render(built)),
        "lines": len(rows),
        "text": text[:MOST_TEXT],
        "text_left_out": max(len(text) - MOST_TEXT, 0),
    }
