"""A program of a dump with all its instructions in memory: about 4 KB each, so the largest are refused."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stepscope import _core
from stepscope.errors import LimitReached, UnreadableSource
from stepscope.formats.xla import dumps

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


def known_module(path: str) -> dict[str, Any]:
    """The same for a file that was read before: UnreadableSource when it is gone or damaged since."""
    try:
        return module(path)
    except (OSError, _core.CoreError) as error:
        raise UnreadableSource(
            "The module can no longer be read", seen=str(error), todo="dump it again", path=path
        ) from error


def largest(paths: Sequence[str], module: str | None = None) -> dict[str, Any]:
    """The program of a dump that runs most flops, or the first whose name contains `module`: as
    _core.hlo_module() gives it, with `module` and `file`. NothingFound when there is none,
    LimitReached when it is too large."""
    wanted = dumps.rows_of_module(dumps.finals(dumps.read(paths).rows), module, paths)
    # A program that runs says more than one that is still to be compiled.
    row = max(wanted, key=lambda row: (dumps.is_final(row), row["run_flops"] or 0, row["run_bytes"] or 0))
    return {**known_module(row["path"]), "module": row["module"], "id": row["id"], "file": row["file"]}


def graphs(paths: Sequence[str]) -> list[dict[str, Any]]:
    """The programs of dump folders, the largest first: run_id (the folder), graph (module and number), nodes
    and path. NothingFound when there is no dump."""
    rows = [
        {
            "run_id": row["folder"] or Path(row["path"]).parent.name or ".",
            "graph": row["module"] if row["id"] is None else f"{row['module']}.{row['id']}",
            "nodes": row["instructions"],
            "path": row["path"],
        }
        for row in dumps.finals(dumps.read(paths).rows)
    ]
    return sorted(rows, key=lambda row: (-row["nodes"], row["graph"]))
