"""stepscope.tfprof(): a model by name scope, graph, code or op type, as trees of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike, fspath
from typing import TYPE_CHECKING, Union

from stepscope.errors import UsageError
from stepscope.formats.models.files import TRACES, ModelFiles, find_files, place_of
from stepscope.formats.models.place import ModelPlace
from stepscope.instruments.tfprof import TfprofModel
from stepscope.instruments.tfprof.evidence import Evidence
from stepscope.instruments.tfprof.evidence import read as evidence_of
from stepscope.instruments.tfprof.tree import TfprofProfile

if TYPE_CHECKING:
    from stepscope.objects.trace import Trace

Path = Union[str, "PathLike[str]"]


def tfprof(
    *paths: Path | Trace,
    graph: Path | None = None,
    run_metadata: Sequence[Path] = (),
    op_log: Path | None = None,
    checkpoint: Path | None = None,
    profile: Path | None = None,
    own_flops: bool = False,
) -> TfprofProfile:
    """A model, from files that are named or from whatever is found under paths; or, where nothing but a trace
    tells what ran, from a trace that was opened: tfprof(stepscope.open("trace.json")).

    own_flops: count floating point operations for nodes that no op log has. UnreadableSource for a
    file that is not there or something else; UsageError when nothing is named.
    """
    named = [fspath(path) for path in paths if isinstance(path, (str, PathLike))]
    traces = [path for path in paths if not isinstance(path, (str, PathLike))]
    found = find_files(named) if named else ModelFiles()
    evidence = _evidence(traces)

    files = {name: places for name, places in found.files.items() if name != TRACES and places}
    given = {
        "graph_path": graph,
        "op_log_path": op_log,
        "checkpoint_path": checkpoint,
        "profile_path": profile,
    }
    files |= {name: [place_of(name, fspath(path))] for name, path in given.items() if path is not None}
    if run_metadata:
        files["run_meta_path"] = [ModelPlace.of_file(fspath(path)) for path in run_metadata]
    if not files and evidence is None:
        raise _nothing_to_read(found.one(TRACES), len(paths))
    model = TfprofModel.of_files(files, evidence=evidence, own_flops=own_flops)
    model.notes[:0] = [*found.odd, *found.chosen.values(), *found.passed]
    return TfprofProfile(model)


def _evidence(traces: Sequence[Trace]) -> Evidence | None:
    """The ops that ran, as a trace shows them."""
    if len(traces) > 1:
        raise UsageError(
            "tfprof looks at one trace",
            seen=f"{len(traces)} of them",
            todo="open their files together: stepscope.open(a, b)",
        )
    return evidence_of(traces[0].query) if traces else None


def _nothing_to_read(trace: ModelPlace | None, paths: int) -> UsageError:
    return UsageError(
        "There is no model to look at",
        seen=f"a trace, {trace.shown}, that is not open"
        if trace
        else f"{paths} paths without a graph, RunMetadata, op log, checkpoint or profile",
        todo="stepscope.tfprof(stepscope.open(path))"
        if trace
        else 'stepscope.tfprof(graph="graph.pb", run_metadata=["run_meta.pb"])',
    )
