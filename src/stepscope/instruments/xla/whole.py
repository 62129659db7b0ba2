"""A program of a dump with all its instructions in memory: about 4 KB each, so the largest are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stepscope import _core
from stepscope.errors import LimitReached

MOST_INSTRUCTIONS = 500_000
_LARGE_BYTES = 1 << 25
"""Smaller files hold fewer instructions than that."""


def module(path: str) -> dict[str, Any]:
    """What _core.hlo_module() gives for a file. LimitReached when it has too many instructions; OSError and
    CoreError as there."""
    if Path(path).stat().st_size > _LARGE_BYTES:
        (summed,) = _core.hlo_summaries([path])
        if isinstance(summed, dict) and summed["instructions"] > MOST_INSTRUCTIONS:
            raise LimitReached(
                "A program is too large to be held in memory with all its instructions",
                seen=f"{summed['instructions']:,} instructions; the most are {MOST_INSTRUCTIONS:,}",
                todo="ask for a part of it in SQL: stepscope query DUMP @hlo_instructions",
                path=path,
            )
    made: dict[str, Any] = _core.hlo_module(Path(path).read_bytes())
    return made
