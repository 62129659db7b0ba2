"""The views of tfprof as rows: the table tfprof_node."""

from collections.abc import Mapping, Sequence
from functools import partial

from stepscope import _core
from stepscope._core import ViewStream
from stepscope.engines import Part, Stream
from stepscope.instruments.tfprof import ModelFile, TfprofModel, show_all
from stepscope.instruments.tfprof.evidence import read
from stepscope.instruments.tfprof.nesting import Query
from stepscope.lake.relation import quoted
from stepscope.lake.source_ids import first_id
from stepscope.library.statements import statement

EVERYTHING = 2**31 - 1
"""Levels that are shown."""


def parts(query: Query, files: Mapping[str, Sequence[ModelFile]]) -> list[Part]:
    """The rows of tfprof_node, one part for each view, which is made when an engine reads it.

    query: asks the tables. files: RunMetadata and graphs by the option of tfprof that takes them; where there
    are none, the slices tell what ran.
    """
    model = _model(query, files)
    sources = [row[:3] for row in query(statement("sources")).rows()]
    if model is None or not sources:
        return []
    options = _core.TfprofOptions()
    options.set("max_depth", str(EVERYTHING))
    show_all(options)
    source_id, run_id, host_id = sources[0]
    # Numbers of its own for each run of a lake.
    views = model.streams(options, first_id(int(source_id)))
    values = {
        "run_id": quoted(str(run_id)),
        "host_id": quoted(str(host_id)),
        "source_id": str(source_id),
        "made_from": quoted("slices" if model.of_trace else "files"),
    }
    return [
        Stream(
            f"tfprof_{view}", partial(_open, stream), tuple(stream.columns), {**values, "view": quoted(view)}
        )
        for view, stream in views.items()
    ]


def _open(stream: ViewStream, columns: Sequence[str] | None, _: bool) -> ViewStream:
    return stream if columns is None else stream.narrowed([stream.columns.index(name) for name in columns])


def _model(query: Query, files: Mapping[str, Sequence[ModelFile]]) -> TfprofModel | None:
    steps = files.get("run_meta_path", ())
    evidence = None if steps else read(query)
    if not steps and not files.get("graph_path") and not (evidence and evidence.nodes):
        return None
    return TfprofModel.of_files(
        {**files, "profile_path": ()}, evidence=evidence if evidence and evidence.nodes else None
    )
