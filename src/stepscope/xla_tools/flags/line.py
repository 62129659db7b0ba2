"""A line of flags, taken apart as XLA does."""

import re
from typing import NamedTuple

_WORD = re.compile(r"""(?P<name>-*[^\s='"]+)(?:=(?P<value>'[^']*'|"(?:[^"\\]|\\.)*"|[^\s]*))?""")
_VARIABLE = re.compile(r"\s*(?:export\s+)?(TF_XLA_FLAGS|XLA_FLAGS)\s*=\s*", re.ASCII)


class Flag(NamedTuple):
    """A flag of a line: as it is written, its name without dashes, and its value; None without one."""

    word: str
    name: str
    value: str | None


class FlagLine(NamedTuple):
    """The variable that a line is for, and its flags."""

    variable: str
    flags: list[Flag]


def parse(text: str, variable: str | None = None) -> FlagLine:
    """Takes `[export] XLA_FLAGS="…"`, or the value alone; then most flags decide the variable."""
    named = _VARIABLE.match(text)
    if named is not None:
        variable = variable or named[1]
        text = text[named.end() :].strip()
        if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
            text = text[1:-1]
    flags = [
        Flag(match[0], match["name"].lstrip("-"), _bare(match["value"])) for match in _WORD.finditer(text)
    ]
    if variable is None:
        of_tf = sum(flag.name.startswith("tf_") for flag in flags)
        variable = "TF_XLA_FLAGS" if of_tf * 2 > len(flags) else "XLA_FLAGS"
    return FlagLine(variable, flags)


def _bare(value: str | None) -> str | None:
    if value and len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1]
    return value
