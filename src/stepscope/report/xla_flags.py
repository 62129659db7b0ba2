"""The flags of the installed libraries, and a line of flags held against them."""

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from stepscope import units
from stepscope.errors import NothingFound, UsageError
from stepscope.report.listing import Listing
from stepscope.xla_tools.flags import check, table, variables
from stepscope.xla_tools.flags.installed import TRIGGERS, Library
from stepscope.xla_tools.flags.line import FlagLine

_WHY = {
    "unknown": "the library does not know it",
    "removed": "the library no longer has it",
    "replaced": "the library no longer has it",
    "idle": "accepted, does nothing; use `stepscope xla ops`",
    "no_flag": "it is a field of DebugOptions that no flag sets",
    "other_variable": "it belongs into the other variable",
    "bad_value": "its value is refused",
    "no_dashes": "it does not begin with two dashes",
    "undecided": "the library could not be asked",
    "repeated": "it is given more than once, and the last value counts",
}
_HARMLESS = ("ok", "repeated", "idle")
_FOR_PEOPLE = ("name", "library", "type", "default", "values", "status", "since", "until", "doc")


_DEAD = (
    "TF_CPP_MIN_VLOG_LEVEL does nothing in TensorFlow 2.21: set TF_CPP_MAX_VLOG_LEVEL, "
    "or TF_CPP_VMODULE for single files"
)
"""About the variable that old instructions name."""


def listed(name: str | None, libraries: list[Library], python: str | None, *, asking: bool) -> Listing:
    """The flags and variables that libraries know, or without any stepscope's own catalogue. name: one of
    them, or a part of names. asking: in child processes, for texts and defaults."""
    rows: Sequence[Mapping[str, Any]] = table.rows(libraries, python, asking=asking)
    if name is not None:
        rows = named(rows, name)
    where = ", ".join(library.title for library in libraries) or "the catalogue; no library was asked"
    dead = [_DEAD] if any(row["name"] == variables.DEAD for row in rows) else []
    return Listing(table.COLUMNS, rows, [f"from {where}", *dead], _FOR_PEOPLE)


def named(rows: Sequence[Mapping[str, Any]], word: str) -> Sequence[Mapping[str, Any]]:
    """Rows of a name, else of names that contain it. NothingFound when there is none."""
    name = word.lstrip("-").partition("=")[0]
    found = [row for row in rows if row["name"] == name]
    found = found or [row for row in rows if name.lower() in str(row["name"]).lower()]
    if found and name:
        return found
    near = difflib.get_close_matches(name, {str(row["name"]) for row in rows}, 3)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    raise NothingFound(
        "There is no flag or variable of this name",
        seen=word,
        todo=f"{hint}stepscope xla flags lists all",
        slug="no-flag",
    )


def checked(
    lines: Sequence[FlagLine],
    libraries: Sequence[Library],
    python: str | None,
    environment: Mapping[str, str],
) -> Listing:
    """A row for each flag of the lines. libraries: those that may be asked, else the catalogue is."""
    rows: list[dict[str, str | None]] = []
    sentences: list[str] = []
    for line in lines:
        if not line.flags:
            raise UsageError("The line has no flags", seen=line.variable, todo="give it a --flag=value")
        # jaxlib answers ten times sooner; TensorFlow has an XLA of its own, which --library asks.
        library = next((known for known in libraries if (known.name, line.variable) in TRIGGERS), None)
        found = check.check(line, library, python)
        rows += found
        sentences += [_sentence(row) for row in found if row["verdict"] != "ok"]
        sentences.append(_conclusion(found, line.variable))
    dead = [_DEAD] if variables.DEAD in environment else []
    return Listing(check.COLUMNS, rows, [*sentences, *dead])


def is_refused(listing: Listing) -> bool:
    """Whether a flag of a checked line stops a program."""
    return any(row["verdict"] not in _HARMLESS for row in listing.rows)


def _sentence(row: Mapping[str, Any]) -> str:
    """One flag of a checked line."""
    value = f"={row['value']}" if row["value"] is not None else ""
    text = f"--{row['flag']}{value}: {_WHY[row['verdict']]}"
    if row["nearest"]:
        text += f"; write {row['nearest']}" if row["verdict"] != "removed" else f"; near it: {row['nearest']}"
    return text


def _conclusion(rows: Sequence[Mapping[str, Any]], variable: str) -> str:
    """The line below the table."""
    bad = [row for row in rows if row["verdict"] not in _HARMLESS]
    checked = units.count(len(rows), "flag")
    if not bad:
        idle = sum(row["verdict"] == "idle" for row in rows)
        return f"{checked} of {variable} checked, " + (f"{idle:,} without an effect" if idle else "all fine")
    verb = "stops" if len(bad) == 1 else "stop"
    return f"{len(bad)} of {checked} of {variable} {verb} a program from starting"
