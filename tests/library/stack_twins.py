"""The analyses of step parts by line, function and module once more: loops over rows, no joins."""

from collections import Counter, defaultdict
from typing import Any

from tests.draw import Row, Tables


def _by(tables: Tables, of: str, keys: tuple[str, ...]) -> list[tuple[Any, ...]]:
    """Time by host, part and `keys` of a frame. of: the column of a stack that names the frame."""
    frames = {row["id"]: row for row in tables.rows["frame"]}
    stacks = {row["id"]: row for row in tables.rows["stack"]}
    hosts: dict[Any, list[Row]] = defaultdict(list)
    for step in tables.rows["step_stored"]:
        if step["dur_ps"]:
            hosts[step["run_id"], step["host_id"]].append(step)
    rows = []
    for host, steps in hosts.items():
        counted = [step for step in steps if step["averaged"]] or steps
        numbers = {step["id"] for step in counted}
        whole = sum(step["dur_ps"] for step in counted)
        labels: Counter[str] = Counter()
        for part in tables.rows["step_part"]:
            if part["step_id"] in numbers:
                labels[part["label"]] += part["dur_ps"]
        found: Counter[tuple[Any, ...]] = Counter()
        for part in tables.rows["stack_part"]:
            frame = frames.get(stacks[part["stack_id"]][of])
            if part["step_id"] in numbers and frame is not None:
                found[(part["label"], *(frame[key] for key in keys))] += part["dur_ps"]
        for (label, *place), time in found.items():
            share = time / labels[label] if labels[label] else None
            rows.append((*host, label, *place, time, time // len(counted), share, time / whole))
    at = 3 + len(keys)
    return sorted(rows, key=lambda row: (-row[at], *((value is None, value) for value in row[:at])))


def step_part_lines(tables: Tables) -> list[tuple[Any, ...]]:
    """Twin of step_part_lines."""
    return _by(tables, "place_id", ("file", "line", "function"))


def step_part_functions(tables: Tables) -> list[tuple[Any, ...]]:
    """Twin of step_part_functions."""
    return _by(tables, "frame_id", ("function", "file", "module", "code"))


def step_part_modules(tables: Tables) -> list[tuple[Any, ...]]:
    """Twin of step_part_modules."""
    return _by(tables, "frame_id", ("module", "code"))


STACK_TWINS = {twin.__name__: twin for twin in (step_part_lines, step_part_functions, step_part_modules)}
