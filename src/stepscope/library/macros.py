"""Macros of the library's SQL: `share!(a, b)` in a file stands for text that all engines answer alike.

`macros.sql` has them. They are replaced when a file is read: the linter, the engines and users see plain SQL.
"""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

_DEFINITION = re.compile(
    r"-- (?P<name>[a-z_]+)!\((?P<parameters>[^)]*)\): (?P<about>.+)\n(?P<text>(?:(?!--).+\n?)+)"
)
_MARK = re.compile(r"'[^']*'|[(),]")
_FOR_EACH = re.compile(r"\{(\w+)…: ((?:[^{}]|\{\w+\})*)\}")
_NAME = re.compile(r"\{(\w+)\}")
_LETTERS = "abcdefghijklmnopqrstuvwxyz_"
_WIDTH = 120


class MacroError(ValueError):
    """A macro that there is not, or that takes other arguments. Found by the tests, not by users."""


class Macro(NamedTuple):
    """What `name!(parameters)` stands for. A last parameter that takes all that are left ends in `…`."""

    name: str
    parameters: tuple[str, ...]
    about: str
    text: str

    def expand(self, arguments: list[str], line: str) -> str:
        """The text with the arguments in it, behind what the line has so far."""
        *_, last = self.parameters
        named = len(self.parameters) - last.endswith("…")
        if len(arguments) < len(self.parameters) or (named == len(self.parameters) != len(arguments)):
            raise MacroError(f"{self.name}! takes {', '.join(self.parameters)}, not {', '.join(arguments)}")
        values = dict(zip(self.parameters[:named], arguments, strict=False))

        def each(match: re.Match[str]) -> str:
            parts = [
                _filled(match[2], {**values, match[1]: argument.strip()}) for argument in arguments[named:]
            ]
            if not match.start() and not line.strip():
                return f",\n{line}".join(parts)
            fits = len(line) + sum(len(part) + 2 for part in parts) <= _WIDTH
            return ", ".join(parts) if fits else ",".join(f"\n{indent}  {part}" for part in parts)

        indent = line[: len(line) - len(line.lstrip())]
        text = self.text.replace("\n", f"\n{indent}")
        return _filled(_FOR_EACH.sub(each, text), values)


def _filled(text: str, values: Mapping[str, str]) -> str:
    return _NAME.sub(lambda name: values[name[1]], text)


@cache
def macros() -> dict[str, Macro]:
    """All of them by their names."""
    text = Path(__file__).with_name("macros.sql").read_text(encoding="utf-8")
    found = (
        Macro(at["name"], tuple(at["parameters"].split(", ")), at["about"], at["text"].strip())
        for at in _DEFINITION.finditer(text)
    )
    return {macro.name: macro for macro in found}


def expanded(sql: str) -> str:
    """SQL with each macro replaced by what it stands for. MacroError for one that there is not."""
    while (mark := sql.rfind("!(")) >= 0:  # what is innermost comes last
        before = sql[:mark].rstrip(_LETTERS)
        if (name := sql[len(before) : mark]) not in macros():
            raise MacroError(f"{name}! is no macro")
        arguments, end = _arguments(sql, mark + 2)
        line = before[before.rfind("\n") + 1 :]
        sql = before + macros()[name].expand(arguments, line) + sql[end:]
    return sql


def _arguments(sql: str, start: int) -> tuple[list[str], int]:
    """The arguments whose first character `start` is, and where what follows their bracket begins."""
    arguments: list[str] = []
    depth = 0
    for mark in _MARK.finditer(sql, start):
        if mark[0] in ",)" and not depth:
            arguments.append(sql[start : mark.start()].strip(" "))
            start = mark.end()
            if mark[0] == ")":
                return arguments, start
        depth += (mark[0] == "(") - (mark[0] == ")")
    raise MacroError(f"no bracket ends the arguments at {sql[start : start + 40]!r}")
