"""Small random traces for the twins: every kind of track, names of every class, nesting, overlaps."""

from hypothesis import strategies as st

from stepscope.instruments.step_breakdown.labels import LABELS
from tests.draw import Row, Tables, args
from tests.library.twins import CLASSES, NAME_CLASSES, UNIT, WAITS

KINDS = (
    ("thread", "execution"),
    ("device_stream", "execution"),
    ("lane", "execution"),
    ("lane", "dispatch"),
    ("thread", "annotation"),
    ("derived", "unknown"),
    ("async", "unknown"),
)
CATEGORIES = (None, None, "cpu_op", "cuda_sync", "user_annotation", "python_function")

_names = st.sampled_from([*NAME_CLASSES, *WAITS])
_types = st.sampled_from(sorted(CLASSES))


@st.composite
def slices(draw: st.DrawFn, tracks: int) -> Row:
    """One slice on one of the tracks."""
    op_type = draw(st.none() | _types)
    name = f"{draw(st.sampled_from('ab'))}:{op_type}" if op_type else draw(_names)
    row: Row = {
        "track_id": draw(st.integers(0, tracks - 1)),
        "name": name,
        "op_type": op_type,
        "op_name": name[0] if op_type else None,
        "category": draw(st.sampled_from(CATEGORIES)),
        "ts_ps": draw(st.integers(0, 24)) * UNIT,
        "dur_ps": draw(st.integers(0, 9)) * UNIT,
        "correlation_id": draw(st.none() | st.integers(1, 3)),
    }
    if draw(st.booleans()):
        row["args_json"] = args(bytes=draw(st.integers(0, 9)))
    return row


@st.composite
def worlds(draw: st.DrawFn) -> Tables:
    """One or two sources with devices, tracks, slices and steps.

    Either all steps are recordings of their own or none is, and then there are too few for one to be warm-up:
    what the view `step` makes of those is tested in instruments/test_warm_up.py.
    """
    tables = Tables()
    apart, sources = draw(st.booleans()), draw(st.integers(1, 2))
    for source_id in range(sources):
        producer = draw(st.sampled_from(["tf_profiler", "kineto", "unknown"]))
        tables.source(source_id, producer=producer)
        for _ in range(draw(st.integers(1, 2))):
            name = draw(st.sampled_from(["gpu", "cpu"]))
            tables.add("device", source_id=source_id, name=name, kind=name)
        own = [d["id"] for d in tables.rows["device"] if d["source_id"] == source_id]
        first = len(tables.rows["track"])
        number = draw(st.integers(1, 4))
        for _ in range(number):
            kind, records = draw(st.sampled_from(KINDS))
            name = draw(st.sampled_from(["stream:1", "stream:all"])) if kind == "device_stream" else "row"
            device = draw(st.none() | st.sampled_from(own))
            facts = {"kind": kind, "records": records, "name": name, "process": "process"}
            tables.add("track", source_id=source_id, device_id=device, **facts)
        drawn = draw(st.lists(slices(number), max_size=12))
        tables.slices(source_id, [{**row, "track_id": row["track_id"] + first} for row in drawn])
        _steps(draw, tables, source_id, 7 // sources if apart else 8, apart)
        _stacks(draw, tables, source_id)
    tables.assign_steps()
    return tables


def _steps(draw: st.DrawFn, tables: Tables, source_id: int, most: int, apart: bool) -> None:
    """most: edges of steps. apart: every step is a recording of its own."""
    edges = sorted(draw(st.sets(st.integers(0, 30), min_size=2, max_size=most)))
    for number, (begin, end) in enumerate(zip(edges[::2], edges[1::2], strict=False)):
        kind = draw(st.sampled_from(["train", "train", "eval", "compile"]))
        told = "file" if apart else draw(st.sampled_from(["marker", "marker", "whole_capture"]))
        averaged = kind != "compile" and told != "whole_capture"
        facts = {"name": kind, "kind": kind, "recovered_from": told, "averaged": averaged, "reason": "drawn"}
        facts["work"] = draw(st.sampled_from([None, "a (1)", "b (2)"])) if apart else None
        span = {"ts_ps": begin * UNIT, "dur_ps": (end - begin) * UNIT}
        step = tables.add("step_stored", source_id=source_id, step=number, **facts, **span)
        left = end - begin
        for label in draw(st.permutations(LABELS))[:3]:
            part = draw(st.integers(0, left))
            left -= part
            hidden = draw(st.integers(0, 3)) * UNIT
            where = {"source_id": source_id, "step_id": step["id"], "label": label}
            tables.add("step_part", **where, dur_ps=part * UNIT, hidden_ps=hidden)


def _stacks(draw: st.DrawFn, tables: Tables, source_id: int) -> None:
    """Stacks of the source, and what parts of its steps they had."""
    frames = [
        tables.add("frame", source_id=source_id, **draw(_frames)) for _ in range(draw(st.integers(0, 3)))
    ]
    stacks: list[Row] = []
    for frame in frames:
        around = draw(st.sampled_from([None, *stacks]))
        own = frame["id"] if frame["code"] == "program" else None
        place = own if own is not None or around is None else around["place_id"]
        facts = {"parent_id": None if around is None else around["id"], "place_id": place}
        stacks.append(tables.add("stack", source_id=source_id, frame_id=frame["id"], **facts))
    parts = [row for row in tables.rows["step_part"] if row["source_id"] == source_id and row["dur_ps"]]
    for part in parts if stacks else ():
        left = part["dur_ps"] // UNIT
        for stack in draw(st.lists(st.sampled_from(stacks), max_size=2, unique_by=lambda row: row["id"])):
            share = draw(st.integers(0, left))
            left -= share
            facts = {"source_id": source_id, "step_id": part["step_id"], "label": part["label"]}
            tables.add("stack_part", stack_id=stack["id"], dur_ps=share * UNIT, **facts)


_frames = st.fixed_dictionaries(
    {
        "function": st.sampled_from(["f", "g"]),
        "file": st.sampled_from(["a.py", None]),
        "line": st.sampled_from([1, 2, None]),
        "module": st.sampled_from(["m", None]),
        "code": st.sampled_from(["program", "library"]),
    }
)
