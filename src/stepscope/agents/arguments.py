"""What a tool takes: JSON schemas of its arguments, and the check of what an agent gives."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from stepscope.errors import UsageError

if TYPE_CHECKING:
    from stepscope.agents.recordings import Recordings

MOST_ROWS = 200
"""That a tool can be asked for at once; the size of an answer is the other limit."""


Answer = dict[str, Any]


Call = Callable[["Recordings", Mapping[str, Any]], Awaitable[Answer]]


class Tool(NamedTuple):
    """A tool as agents see it. properties: JSON schemas of its arguments by name."""

    name: str
    about: str
    properties: Mapping[str, Mapping[str, Any]]
    required: tuple[str, ...]
    call: Call

    @property
    def schema(self) -> Answer:
        """The JSON schema of its arguments."""
        return {
            "type": "object",
            "properties": dict(self.properties),
            "required": list(self.required),
            "additionalProperties": False,
        }


def check_arguments(tool: Tool, arguments: Mapping[str, Any]) -> None:
    """UsageError unless the arguments are those of the schema."""
    for name in tool.required:
        if name not in arguments:
            raise bad_call(f"no {name}", f"give {', '.join(tool.required)}")
    for name, value in arguments.items():
        if name not in tool.properties:
            raise bad_call(f"an argument {name[:60]!r}", f"{tool.name} takes {', '.join(tool.properties)}")
        wanted = tool.properties[name]
        if not _fits(value, wanted):
            raise bad_call(f"{name}={value!r}"[:200], f"give {json.dumps(wanted)}")


def _fits(value: Any, schema: Mapping[str, Any]) -> bool:
    kind = schema["type"]
    if kind == "integer":
        whole = isinstance(value, int) and not isinstance(value, bool)
        return whole and schema["minimum"] <= value <= schema.get("maximum", 1 << 53)
    if kind == "string":
        return isinstance(value, str) and 0 < len(value) <= schema["maxLength"]
    if kind == "array":
        few = (
            isinstance(value, Sequence)
            and not isinstance(value, str)
            and 0 < len(value) <= schema["maxItems"]
        )
        return few and all(_fits(item, schema["items"]) for item in value)
    return isinstance(value, dict) and len(value) <= schema["maxProperties"]


def bad_call(seen: str, todo: str) -> UsageError:
    """The error for a call that does not make sense."""
    return UsageError("This call does not make sense.", seen=seen, todo=todo)


def text_of(about: str, most: int = 4096) -> Answer:
    """The schema of a text of so many characters at most."""
    return {"type": "string", "description": about, "maxLength": most}


def number_of(about: str, low: int, high: int | None = None) -> Answer:
    """The schema of a whole number."""
    found: Answer = {"type": "integer", "description": about, "minimum": low}
    return found if high is None else {**found, "maximum": high}
