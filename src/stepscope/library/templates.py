"""The templates of findings: sentences with the names of columns in braces."""

import re
from collections.abc import Mapping

_OPTIONAL = re.compile(r"\[([^\[\]]*)\]")
_TYPED = re.compile(r"\{([a-z0-9_]+)\} \(\{([a-z0-9_]+)\}\)")
PLACEHOLDER = re.compile(r"\{([a-z0-9_]+)(?::([^{}|]*)\|([^{}|]*))?\}")
"""A column, or the forms of a word for one and for many."""


def fill(template: str, values: Mapping[str, object], shown: Mapping[str, str]) -> str:
    """A template of a finding with its columns filled in: as they are shown, and by their values where they
    decide between singular and plural. What is in brackets is left out where a column in it is NULL, and a
    type in parentheses behind a name that is no other. Names in the values are not templates themselves."""

    def one(match: re.Match[str]) -> str:
        if match[2] is None:
            return shown[match[1]]
        return match[2] if values[match[1]] == 1 else match[3]

    def some(match: re.Match[str]) -> str:
        lacks = any(values[found[1]] is None for found in PLACEHOLDER.finditer(match[1]))
        return "" if lacks else match[1]

    def typed(match: re.Match[str]) -> str:
        return f"{{{match[1]}}}" if values[match[1]] == values[match[2]] else match[0]

    return PLACEHOLDER.sub(one, _TYPED.sub(typed, _OPTIONAL.sub(some, template)))


def open_template(template: str) -> str:
    """A template with its columns left open, for a reader of the reference."""
    return PLACEHOLDER.sub(lambda match: match[0] if match[2] is None else match[3], template)
