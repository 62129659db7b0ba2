"""Sentences about a check of flags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stepscope import units

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
HARMLESS = ("ok", "repeated", "idle")


def sentence(row: Mapping[str, Any]) -> str:
    """One flag of a checked line."""
    value = f"={row['value']}" if row["value"] is not None else ""
    text = f"--{row['flag']}{value}: {_WHY[row['verdict']]}"
    if row["nearest"]:
        text += f"; write {row['nearest']}" if row["verdict"] != "removed" else f"; near it: {row['nearest']}"
    return text


def conclusion(rows: Sequence[Mapping[str, Any]], variable: str) -> str:
    """The line below the table."""
    bad = [row for row in rows if row["verdict"] not in HARMLESS]
    checked = units.count(len(rows), "flag")
    if not bad:
        idle = sum(row["verdict"] == "idle" for row in rows)
        return f"{checked} of {variable} checked, " + (f"{idle:,} without an effect" if idle else "all fine")
    verb = "stops" if len(bad) == 1 else "stop"
    return f"{len(bad)} of {checked} of {variable} {verb} a program from starting"


def warning_of_dead() -> str:
    """The variable that old instructions name."""
    return (
        "TF_CPP_MIN_VLOG_LEVEL does nothing in TensorFlow 2.21: set TF_CPP_MAX_VLOG_LEVEL, "
        "or TF_CPP_VMODULE for single files"
    )
