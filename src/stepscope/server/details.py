"""Slices, searches, ranges and counters, on demand; all but ranges are statements of the library."""

from __future__ import annotations

import json
import math
from bisect import bisect_left
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stepscope import strict_json
from stepscope.errors import NothingFound
from stepscope.instruments import python_frame, traced_python
from stepscope.instruments.causes.op_lines import creating_line
from stepscope.kernel_names import function_name
from stepscope.library.statements import statement
from stepscope.server.catalog import Catalog, dicts, timed_row

if TYPE_CHECKING:
    from stepscope._core import Sums
    from stepscope.session.trace import OpenTrace

MOST_CHILDREN = 100
MOST_ARROWS = 200
MOST_NAMES = 200
MOST_LONGEST = 2
MOST_CHILD_NAMES = 40


def slice_of(trace: OpenTrace, catalog: Catalog, slice_id: int) -> dict[str, Any]:
    """All data of a slice. NothingFound for an unknown id."""
    row = _row(trace, slice_id)
    args = row.pop("args_json")
    track = catalog.numbers.get(row.pop("track_id"))
    parent = row["parent_id"]
    above = [] if parent is None else dicts(trace.query(statement("page_slice", slice_id=parent)))
    asked = {"slice_id": slice_id, "most": MOST_CHILDREN}
    children = dicts(trace.query(statement("page_children", **asked)))
    numbers = [row.pop("children") for row in children]
    asked["most"] = MOST_ARROWS
    arrows = dicts(trace.query(statement("page_flows", **asked)))
    launched: list[dict[str, Any]] = []
    if row["correlation_id"] is not None:
        launched = dicts(trace.query(statement("page_launched", **asked)))
        arrows += launched
    launcher = next((row["other_id"] for row in launched if row["direction"] == "from"), None)
    around = _enclosing_slices(trace, slice_id, parent)
    beyond: list[dict[str, Any]] = []
    if launcher is not None:
        (call,) = dicts(trace.query(statement("page_slice", slice_id=launcher)))
        beyond = [call, *_enclosing_slices(trace, launcher, call["parent_id"])]
    return {
        "slice": timed_row(row),
        "args": _args(args),
        "parent": {"id": str(parent), "name": above[0]["name"]} if above else None,
        "children": [timed_row(row) for row in children],
        "children_total": numbers[0] if numbers else 0,
        "children_by_name": _children_by_name(trace, slice_id),
        "around": [_named(row) for row in around],
        "launched_by": [_named(row) for row in beyond],
        "line": _line(trace, row, [row, *around, *beyond]),
        "flows": [_flow(arrow) for arrow in arrows],
        "track": None if track is None else catalog.document["tracks"][track],
    }


def _row(trace: OpenTrace, slice_id: int) -> dict[str, Any]:
    rows = dicts(trace.query(statement("page_slice", slice_id=slice_id)))
    if not rows:
        raise NothingFound(
            "There is no such slice.",
            seen=f"the id {slice_id}",
            todo="load the page again; another recording may be open",
        )
    return rows[0]


def _children_by_name(trace: OpenTrace, slice_id: int) -> list[dict[str, Any]]:
    asked = statement("page_children_by_name", slice_id=slice_id, most=MOST_CHILD_NAMES)
    return [
        {
            "name": row["name"],
            "slices": row["number"],
            "dur_ps": row["all_ps"],
            "longest_id": str(row["longest_id"]),
        }
        for row in dicts(trace.query(asked))
    ]


def _flow(arrow: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "other_id": str(arrow["other_id"]),
        "name": arrow["other_name"],
        "arrow": arrow.get("arrow", "launch"),
        "direction": arrow["direction"],
    }


def _enclosing_slices(trace: OpenTrace, slice_id: int, parent_id: int | None) -> list[dict[str, Any]]:
    """The slices around a slice, innermost first."""
    covering = {row["id"]: row for row in dicts(trace.query(statement("page_around", slice_id=slice_id)))}
    found = []
    at = parent_id
    while at in covering:
        row = covering.pop(at)
        found.append(row)
        at = row["parent_id"]
    return found


def _named(row: dict[str, Any]) -> dict[str, Any]:
    return {"id": str(row["id"]), "name": row["name"], "op_name": row["op_name"], "op_type": row["op_type"]}


def _line(trace: OpenTrace, slice_row: dict[str, Any], chain: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The innermost line of the program behind a slice: that of a Python frame around it or around its
    launch, else the line that created its op."""
    for row in chain:
        frame = python_frame.recorded_call(row["name"])
        if frame is not None and frame[1] and traced_python.is_own(row["name"]):
            return {"file": frame[0], "line": frame[1], "function": frame[2]}
    op = next((row["op_name"] for row in chain if row["op_name"]), None)
    place = None if op is None else creating_line(trace.query, slice_row["run_id"], op)
    return None if place is None else {"file": place.file, "line": place.line, "function": place.function}


def stack_of(trace: OpenTrace, stack_id: int) -> dict[str, Any]:
    """The calls of a stack, innermost first, and the time of the samples that begin with them. NothingFound
    for an unknown stack."""
    frames = dicts(trace.query(statement("page_stack", stack_id=stack_id)))
    if not frames:
        raise NothingFound("There is no such stack.", seen=str(stack_id), todo="use ids of the timeline")
    (time,) = dicts(trace.query(statement("page_stack_time", stack_id=stack_id)))
    return {"id": str(stack_id), "frames": frames, **time}


def search(trace: OpenTrace, catalog: Catalog, text: str, most: int) -> dict[str, Any]:
    """Slices whose name contains a text, ignoring case: how many, and the first of them."""
    found = trace.query(statement("page_search_count", text=text)).rows()[0][1]
    rows = dicts(trace.query(statement("page_search", text=text, most=most))) if found else []
    return {
        "total": found,
        "slices": [
            {
                "id": str(row["id"]),
                "track": catalog.numbers.get(row["track_id"]),
                "name": row["name"],
                "ts_ps": row["begin_ps"],
                "dur_ps": row["dur_ps"],
            }
            for row in rows
        ],
    }


def sums_document(sums: Sums, classes: dict[str, str]) -> dict[str, Any]:
    """The contents of a range by name and op type. classes: of names."""
    rows, names = sums.rows(MOST_NAMES)
    return {
        "rows": [
            {
                "name": name,
                "op_type": op_type,
                "class": classes.get(name, "other"),
                "count": slices,
                "total_ps": total_ps,
                "self_ps": self_ps,
            }
            for name, op_type, slices, total_ps, self_ps in rows
        ],
        "names": names,
        "slices": sums.slices,
        "busy_ps": sums.busy_ps,
        "work_ps": sums.work_ps,
    }


class Parts:
    """The parts of each step, prepared for sums over any range. Thread-safe."""

    def __init__(self, trace: OpenTrace) -> None:
        """Queries the parts of all steps. The first caller waits until they are computed."""
        self._rows = trace.query(statement("page_step_parts")).rows()
        self._begins = [row[1] for row in self._rows]

    def sums_within(self, first_ps: int, until_ps: int) -> dict[str, Any]:
        """The number of steps within a range, and their parts, the largest first."""
        sums: dict[str, list[int]] = {}
        steps = set()
        for row in range(bisect_left(self._begins, first_ps), bisect_left(self._begins, until_ps)):
            step_id, _, end_ps, label, part_ps, behind_ps = self._rows[row]
            if end_ps <= until_ps:
                steps.add(step_id)
                total = sums.setdefault(label, [0, 0, 0])
                total[0] += part_ps
                total[1] += behind_ps
                total[2] += 1  # each label occurs once per step
        parts = [
            {"label": label, "dur_ps": part_ps, "hidden_ps": behind_ps, "steps": having}
            for label, (part_ps, behind_ps, having) in sorted(
                sums.items(), key=lambda sum_: (-sum_[1][0], sum_[0])
            )
        ]
        return {"steps": len(steps), "step_parts": parts}


def longest(trace: OpenTrace, first_ps: int, until_ps: int) -> dict[str, Any]:
    """The longest ops and waits that begin in a range."""
    asked = statement("page_longest", first_ps=first_ps, until_ps=until_ps, most=MOST_LONGEST)
    rows = dicts(trace.query(asked))

    def shown(row: dict[str, Any]) -> dict[str, Any]:
        name = function_name(row["name"]) or row["name"]
        return {"id": str(row["id"]), "name": name, "dur_ps": row["own_ps"], "wait": row["wait"]}

    return {
        "ops": [shown(row) for row in rows if row["wait"] is None],
        "waits": [shown(row) for row in rows if row["wait"] is not None],
    }


def counters(trace: OpenTrace, catalog: Catalog, first_ps: int, until_ps: int, px: int) -> dict[str, Any]:
    """Series of counters, with at most two points per pixel, and the last point before the window."""
    width = max(1, -(-(until_ps - first_ps) // px))
    asked = statement("page_counters", first_ps=first_ps, until_ps=until_ps, width_ps=width)
    series: dict[tuple[int, str, str], list[list[float | int | None]]] = {}
    for row in dicts(trace.query(asked)):
        points = series.setdefault((row["track_id"], row["counter"], row["part"]), [])
        for value in dict.fromkeys((row["low"], row["high"])):
            points.append([row["begin_ps"], value if math.isfinite(value) else None])
    return {
        "series": [
            {"name": name, "series": part, "track": catalog.numbers.get(track), "points": points}
            for (track, name, part), points in series.items()
        ]
    }


def _args(text: str | None) -> Any:
    """Named values of a slice. Integers beyond the precision of a double become text."""
    if text is None:
        return None
    try:
        return _whole(strict_json.parse(text.encode("utf-8", "replace"), lenient=True))
    except strict_json.OddJson:
        return {"args_json": text}


def _whole(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _whole(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_whole(item) for item in value]
    if isinstance(value, int) and abs(value) >= 1 << 53:
        return json.dumps(value)
    return value
