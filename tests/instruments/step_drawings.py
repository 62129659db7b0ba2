"""Drawn recordings, their steps taken apart."""

from collections import defaultdict

from stepscope.instruments.step_breakdown import part_tables
from tests.asked import Asked
from tests.draw import UNIT_PS, Tables, draw


def asked(tables: Tables) -> Asked:
    """Queries of drawn tables, as a trace answers them."""
    return Asked(tables.shared(sums=False))


def rows(tables: Tables) -> part_tables.PartRows:
    ask = asked(tables)
    return part_tables.rows(ask, ask.stream)


def parts(tables: Tables) -> dict[int, dict[str, float]]:
    """Units of time by step and label, what is hidden with a `+` before it."""
    found: dict[int, dict[str, float]] = defaultdict(dict)
    for row in rows(tables).step_part:
        for key, sign in (("dur_ps", ""), ("hidden_ps", "+")):
            if row[key]:
                found[row["step_id"]][sign + row["label"]] = row[key] / UNIT_PS
    return dict(found)


def drawn(text: str, **names: str) -> Tables:
    """A drawing, in which slices called as a key get the name behind it, and ops the type."""
    tables = draw(text)
    for row in tables.rows["slice"]:
        row["name"] = names.get(row["name"], row["name"])
    return tables


def sample(
    tables: Tables,
    begin: int,
    end: int,
    *frames: tuple[str, str, str],
    cpu: float | None = None,
    queued: float | None = None,
) -> None:
    """A sample of the main thread's stack, outermost frame first."""
    parent = None
    for file, function, code in frames:
        frame = tables.add("frame", file=file, function=function, code=code, line=1)
        parent = tables.add("stack", parent_id=parent, frame_id=frame["id"])["id"]
    weight = (end - begin) * UNIT_PS
    tables.add(
        "stack_sample",
        is_main=True,
        ts_ps=begin * UNIT_PS,
        weight_ps=weight,
        stack_id=parent,
        **({} if cpu is None else {"cpu_ps": round(cpu * weight)}),
        **({} if queued is None else {"queued_ps": round(queued * weight)}),
    )
