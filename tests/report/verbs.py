"""Reports of verbs from what instruments found, one for each thing that can be said."""

from collections.abc import Iterator
from dataclasses import replace

from stepscope.instruments.flame import Flame, FlameBox, FlameFrame
from stepscope.instruments.pipeline.changes import PredictedChange
from stepscope.instruments.pipeline.model import Prediction
from stepscope.instruments.pipeline.places import UserStage
from stepscope.instruments.pipeline.verify import ChainEdit, Neighbours, Verification
from stepscope.report import flame, verification
from stepscope.report.parts import Report, Section

MS = 10**9
_MAP = UserStage(0, 1, "map", "ParallelMapDataset", "data.py", 12, "ds.map(decode)")
_CHANGE = PredictedChange("parallel", "Map", {}, Prediction(8 * MS, 7 * MS, 9 * MS, "cpu"), True)
_HELD = Verification((ChainEdit("parallelism", _MAP, None, -1),), _CHANGE, 20 * MS, 8 * MS, True)
VERIFIED: dict[str, Verification] = {
    "a prediction that held": _HELD,
    "a shorter step": replace(_HELD, after_ps=5 * MS, untraced=False),
    "a longer step": replace(
        _HELD, after_ps=15 * MS, edits=(ChainEdit("added", _MAP), ChainEdit("removed", _MAP))
    ),
    "a change without a prediction": replace(_HELD, change=None, edits=()),
    "an unknown gain": replace(_HELD, change=replace(_CHANGE, unknown="files"), turns=3),
    "neighbours that changed as well": replace(_HELD, neighbours=Neighbours(0.1, 3.0, 4)),
    "neighbours that changed instead": replace(_HELD, neighbours=Neighbours(0.1, 1.0, 1), edits=()),
}


_MAIN = FlameFrame("main", "train.py", 9, "program")
_BOXES = (
    FlameBox(0, (_MAIN,), 80 * MS, 20 * MS, {"python": 60 * MS}, 0),
    FlameBox(1, (), 20 * MS, 20 * MS, {}, 2),
)
_THREAD = Flame("r", "h", "MainThread", 2, 100 * MS, 80 * MS, _BOXES, 2, MS // 4)
FLAMES: dict[str, list[Flame]] = {
    "the thread of the steps": [_THREAD],
    "one step, one small frame": [_THREAD._replace(steps=1, folded=1)],
    "many threads": [_THREAD, *[_THREAD._replace(steps=None, thread=None)] * 5],
}


def reports() -> Iterator[tuple[str, Report]]:
    """Each report by the name of what it is about."""
    for name, result in VERIFIED.items():
        yield f"verify: {name}", verification.build(result, "before", "after")
    for name, threads in FLAMES.items():
        if (section := flame.section(threads)) is not None:
            yield f"flame graph: {name}", Report("", (), (section,))


def lines(report: Report) -> Iterator[str]:
    """All that a report says."""
    yield from report.headline
    for section in (inner for outer in report.sections for inner in outer.walk()):
        yield from _of(section)


def _of(section: Section) -> Iterator[str]:
    if section.question:
        yield f"{section.title}: {section.question}"
    yield from (f"{section.title}: {sentence}" for sentence in (section.subject, *section.answer) if sentence)
    if section.tree is not None:
        yield f"{section.title}: {section.tree.note}"
        yield from (f"{section.title}, {one.title}: {one.about}" for one in section.tree.columns)
        yield from (f"{section.title}, a box: {node.name}" for node in section.tree.nodes)
