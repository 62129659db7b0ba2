"""The views of tfprof as rows: the table tfprof_node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from stepscope import _core
from stepscope.engines import Arrow, Part, Stream
from stepscope.errors import UnreadableSource
from stepscope.instruments.tfprof import VIEWS, ModelFile, TfprofModel, show_all
from stepscope.instruments.tfprof.evidence import read
from stepscope.instruments.tfprof.nesting import Query
from stepscope.lake.relation import quoted
from stepscope.lake.source_ids import first_id
from stepscope.library.statements import statement

if TYPE_CHECKING:
    from stepscope._core import Store, TfprofOptions

EVERYTHING = 2**31 - 1
"""Levels that are shown."""
_TIMES = {"time": "ps", "accelerator_time": "accelerator_ps", "cpu_time": "cpu_ps"}
_FIGURES = (
    "runs", "nodes", "time", "accelerator_time", "cpu_time", "requested_bytes", "peak_bytes",
    "residual_bytes", "output_bytes", "params", "float_ops",
)  # fmt: skip
_MOST_PS = 2**63 - 1


def parts(query: Query, files: Mapping[str, Sequence[ModelFile]]) -> list[Part]:
    """The rows of tfprof_node, one part for each view that has rows.

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
    store = _core.build()
    found: list[Part] = []
    # Numbers of its own for each run of a lake.
    before = first_id(int(sources[0][0]))
    for view in VIEWS:
        if not _tabulated(model, view, options, store):
            continue
        rows = store.tables()[view]
        columns = tuple(store.stream(view).columns)
        values = _values(view, before, sources[0], of_trace=model.of_trace)
        found.append(Stream(f"tfprof_{view}", partial(_stream, store, view), columns, values))
        before += rows
    return found


def _stream(store: Store, view: str, columns: Sequence[str] | None, mapped: bool) -> Arrow:
    return store.stream(view, mapped=mapped, columns=columns)


def _tabulated(model: TfprofModel, view: str, options: TfprofOptions, store: object) -> bool:
    """Whether the model has the view; the code view needs lines of code."""
    try:
        model.tabulate(view, options, store)  # type: ignore[arg-type]
    except UnreadableSource:
        if view != "code":
            raise
        return False
    return True


def _model(query: Query, files: Mapping[str, Sequence[ModelFile]]) -> TfprofModel | None:
    steps = files.get("run_meta_path", ())
    evidence = None if steps else read(query)
    if not steps and not files.get("graph_path") and not (evidence and evidence.nodes):
        return None
    return TfprofModel.of_files(
        {**files, "profile_path": ()}, evidence=evidence if evidence and evidence.nodes else None
    )


def _values(view: str, before: int, source: tuple[object, ...], *, of_trace: bool) -> dict[str, str]:
    """What each column is made of."""
    source_id, run_id, host_id = source
    values = {
        "id": f"position + {before}",
        "run_id": quoted(str(run_id)),
        "host_id": quoted(str(host_id)),
        "source_id": str(source_id),
        "view": quoted(view),
        "made_from": quoted("slices" if of_trace else "files"),
        "parent_id": f"parent + {before}",
        "depth": "depth",
        "name": "name",
        "is_node": "is_node",
        "op_types": "op_types",
        "devices": "devices",
        "shape": "shape",
    }
    for kind in ("self", "total"):
        for figure in _FIGURES:
            held = f"{kind}_{figure}"
            if figure in _TIMES:
                least, most = -_MOST_PS - 1, _MOST_PS
                values[f"{kind}_{_TIMES[figure]}"] = (
                    held
                    if of_trace
                    # Files may hold any number; a time that does not fit is the longest that does.
                    else f"GREATEST(LEAST(CAST({held} AS HUGEINT) * 1000000, {most}), {least})"
                )
            else:
                values[held] = held
    return values
