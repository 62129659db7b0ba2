"""The tool that compares two recordings, or two hosts of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from stepscope.agents import answer_limits
from stepscope.agents.arguments import Answer, bad_call
from stepscope.errors import NothingFound
from stepscope.instruments.compare import figures, sides
from stepscope.library.statements import text
from stepscope.report import comparing

if TYPE_CHECKING:
    from stepscope.agents.recordings import OpenRecording, Recordings
    from stepscope.instruments.compare.figures import Measured
    from stepscope.instruments.compare.sides import Side
    from stepscope.report.parts import Section
    from stepscope.session.trace import OpenTrace


async def compare(recordings: Recordings, given: Mapping[str, Any]) -> Answer:
    """What changed between two sides."""
    a, b = recordings.get(given["a"]), recordings.get(given["b"])
    first = await _measured(a, given.get("host_a"), 0 if a is b else None)
    later = 1 if "host_a" not in given else 0
    second = await _measured(b, given.get("host_b"), later if a is b else None)
    if a is b and (first[1].run_id, first[1].host_ids) == (second[1].run_id, second[1].host_ids):
        raise bad_call("one host of one recording on both sides", "give host_a and host_b, or two handles")
    names = _names(a, first[0], b, second[0])
    built = comparing.build(replace(first[0], name=names[0]), replace(second[0], name=names[1]))
    wanted = given.get("section")
    sections = [section.name.removeprefix("compared_") for section in built.sections]
    if wanted is not None and wanted not in sections:
        raise bad_call(f"section={wanted[:60]!r}", f"ask for one of {', '.join(sections)}")
    rows = [row for section in built.sections for row in _changes(section, wanted)]
    offset = given.get("offset", 0)
    again = ", ".join(f"{key}={value!r}" for key, value in given.items() if key != "offset")
    return answer_limits.fitted(
        {
            "a": names[0],
            "b": names[1],
            "answer": list(built.headline),
            "steps": [{"side": side, **_steps(spec[0])} for side, spec in (("a", first), ("b", second))],
            "sections": sections,
            "rows_of_a_section": None if wanted else "the 5 largest changes; section=NAME has all",
            "sql": first[2],
            "sql_of_b": f"the same with run_id {second[1].run_id!r} and host_id {second[1].host_ids[0]!r}",
        },
        "changes",
        rows,
        offset=offset,
        more=lambda end: f"compare({again}, offset={end})",
    )


def _names(a: OpenRecording, first: Measured, b: OpenRecording, second: Measured) -> tuple[str, str]:
    """What the sides are called: with their handles where they have one name."""
    if first.name != second.name:
        return first.name, second.name
    return f"{a.handle} {first.name}", f"{b.handle} {second.name}"


def _changes(section: Section, wanted: str | None) -> list[Answer]:
    """Rows of a section of changes; the largest ones where no section is asked for."""
    name = section.name.removeprefix("compared_")
    if section.table is None or wanted not in (None, name) or name == "steps":
        return []
    columns = [column.name for column in section.table.columns]
    unit = next((str(c.unit) for c in section.table.columns if c.name == "change"), "")
    every = [dict(zip(columns, row, strict=True)) for row in section.table.rows]
    return [{"section": name, "unit": unit, **row} for row in (every if wanted else every[:5])]


def _steps(measured: Measured) -> Answer:
    return {"steps": measured.steps, "mean_ps": measured.mean_ps, "median_ps": measured.median_ps}


async def _measured(recording: OpenRecording, host: str | None, at: int | None) -> tuple[Measured, Side, str]:
    """A side of a comparison, and the SQL of the ops of its first host. host: None for the host at a place
    among all, or for the run with all its hosts where there is no place either."""

    def found(trace: OpenTrace) -> tuple[Measured, Side]:
        each = sides.runs(trace.query) if host is None and at is None else sides.each(trace.query)
        if host is not None:
            chosen = [side for side in each if host in (*side.host_ids, side.name)]
        else:
            chosen = each[at or 0 :]
        if not chosen:
            raise NothingFound(
                "There is no such host to compare.",
                seen=f"{host if host is not None else 'a second host'}; there are "
                + ", ".join(side.name for side in each[:20]),
                todo="give two handles, or host_a and host_b of one",
            )
        return figures.measure(chosen[0]), chosen[0]

    measured, side = await recording.ask(found)
    return measured, side, text("ops_of_host", run_id=side.run_id, host_id=side.host_ids[0])
