"""Whether the input is the bottleneck of each host, and which stage limits it, in a sentence or two."""

from collections.abc import Iterable, Mapping
from typing import Any

from stepscope import units
from stepscope.instruments.pipeline.stages import branch, words
from stepscope.report import runs
from stepscope.report.names import host_of
from stepscope.report.parts import Rows

_VERDICTS = {
    "input_bound": "The input{} is the bottleneck.",
    "partly_input_bound": "The input{} is part of the bottleneck: waiting for it takes {} of a step.",
    "not_input_bound": "The input{} is not the bottleneck.",
}
_UNJUDGED = "The recording does not show whether the input{} is the bottleneck."
_MOST_HOSTS = 6
"""Hosts that get a verdict each; a table has the others."""


def sentences(rows_of: Mapping[str, Rows]) -> Iterable[str]:
    """One verdict for each host with a pipeline, the one that waits most first."""
    hosts: dict[tuple[Any, Any], Rows] = {}
    for row in rows_of["pipeline_stages"]:
        hosts.setdefault((row["run_id"], row["host_id"]), []).append(row)
    ordered = sorted(hosts.items(), key=lambda stages_of: -(stages_of[1][0]["wait_share"] or 0.0))
    for (run, host), stages in ordered[:_MOST_HOSTS]:
        whose = f" of {host_of(host)}" if runs.are_several(rows_of) or len(hosts) > 1 else ""
        whose += f" in {run}" if runs.are_several(rows_of) else ""
        share = units.show(stages[0]["wait_share"] or 0.0, "ratio")
        yield _VERDICTS.get(stages[0]["verdict"], _UNJUDGED).format(whose, share)
        yield from _limit(stages)
    if len(ordered) > _MOST_HOSTS:
        yield f"{units.count(len(ordered) - _MOST_HOSTS, 'more host')}: `pipeline_stages` lists them."


def _limit(stages: Rows) -> Iterable[str]:
    """Which stage limits the input. stages: of a host, the one first that does."""
    first = stages[0]
    if first["limits"] is None:
        if first["verdict"] in ("input_bound", "partly_input_bound"):
            yield "No stage limits it by itself."
        return
    yield f"{_written(first)} limits it: it needs {units.show(first['service_ps'], 'ps')} per step."
    others = [row for row in stages if row["pipeline"] == first["pipeline"]]
    most = max(others, key=lambda row: row["service_ps"] or 0)
    if (most["service_ps"] or 0) > first["service_ps"]:
        needs = units.show(most["service_ps"], "ps")
        yield f"{_written(most)} needs more, {needs}, but in parallel with the others."


def _written(stage: Mapping[str, Any]) -> str:
    """A stage as the user wrote it: map with batch. In one of several branches, TensorFlow's name."""
    name = branch(stage["stage"])
    return name if "::" in name else " with ".join(words(stage["user_stage"])) or name
