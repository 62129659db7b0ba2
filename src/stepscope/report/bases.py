"""The reason why two names are the same thing, in words, and one name for several."""

from collections.abc import Sequence

BASES = {
    "name": "name",
    "name_in_other_scope": "name, with other types or in another scope",
    "no_suffix": "name without the number at its end",
    "no_numbers": "name without numbers",
    "no_arguments": "name without template arguments",
    "no_architecture": "kernel without its architecture and tiles",
    "neighbours": "type, neighbours and scope",
    "line": "source line",
    "scope": "what was added for what was removed in one scope",
    "added": "B only",
    "removed": "A only",
}


def called(names: Sequence[str]) -> str:
    """One name for all: the first, and how many there are besides."""
    if not names:
        return ""
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
