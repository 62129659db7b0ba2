"""The tool that explains tables, analyses, findings and messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stepscope import reference
from stepscope.agents import answer_limits
from stepscope.agents.arguments import Answer

if TYPE_CHECKING:
    from stepscope.agents.recordings import Recordings


async def describe(_: Recordings, given: Mapping[str, Any]) -> Answer:
    """What the reference says of a name, or the names of a chapter."""
    name, offset = given.get("name"), given.get("offset", 0)
    if name is None:
        entries = reference.entries()
        chapters = {
            chapter: sum(entry.chapter == chapter for entry in entries) for chapter in reference.CHAPTERS
        }
        listed = [
            entry.name for entry in entries if entry.chapter in ("tables", "views", "analyses", "findings")
        ]
        return answer_limits.fitted(
            {"chapters": chapters, "next": "describe(name=…), with a chapter, or a name or table.column"},
            "names",
            listed,
            offset=offset,
            more=lambda end: f"describe(offset={end})",
        )
    if name in reference.CHAPTERS:
        lines = [f"{entry.name}: {entry.line}" for entry in reference.entries() if entry.chapter == name]
    else:
        lines = reference.look_up(name).splitlines()
    return answer_limits.fitted(
        {"name": name},
        "lines",
        lines,
        offset=offset,
        more=lambda end: f"describe(name={name!r}, offset={end})",
    )
