"""The costs of a program of a dump folder, and what they leave out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stepscope import units
from stepscope.formats.xla.hlo_files import largest as program
from stepscope.instruments.xla.costs import BY, COLUMNS, rows

__all__ = ["BY", "COLUMNS", "left_out", "program", "rows"]


def left_out(program: Mapping[str, Any]) -> list[str]:
    """What the rows lack."""
    sentences = []
    if program["run_custom_calls"]:
        sentences.append(
            f"{units.count(int(program['run_custom_calls']), 'custom call')} of unknown cost left out"
        )
    if program["run_open_loops"]:
        sentences.append(
            f"{units.count(int(program['run_open_loops']), 'loop')} of unknown length counted once"
        )
    return sentences
