"""Leftovers of dead writers in a lake, and their removal.

A plan (see stepscope.lake.writer) names files to unlink, and a lake may come from anybody. So no link is
followed here, a file is only removed where stepscope gives such names, and no file that a manifest lists is
removed, whatever a plan says.
"""

import json
import os
import re
import stat
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from stepscope import strict_json
from stepscope.errors import LakeError
from stepscope.lake import derived_tables, disk, manifest, reader
from stepscope.lake import snapshot as snapshots

STAGE = "_stage"
PLAN = "plan.json"
COMMIT_LOCK = "commit.lock"
OLD_SECONDS = 3600
"""How long files that a newer decoder replaced stay, for readers that opened the lake before."""

_MOST_PLAN_BYTES = 1 << 20
_MARK = re.compile(r"[0-9a-f]{32}\.mark")
_LOCK = re.compile(r"[0-9a-f]{32}\.lock")
_OLD = re.compile(r"old-[0-9a-f]{32}\.json")


class Swept(NamedTuple):
    """The result of a sweep."""

    removed: int
    """Removed leftovers."""
    refused: tuple[tuple[str, str], ...]
    """Names under _stage that stepscope does not leave, and why; their plans were ignored."""


def sweep(folder: Path) -> Swept:
    """Removes what dead writers left. Leaves alone what a living writer owns, and foreign files. LakeError
    when _stage is not a folder; nothing inside it is an error."""
    removed = 0
    refused: list[tuple[str, str]] = []
    with disk.opened_folder(folder, (STAGE,)) as stage:
        if stage is None:
            raise linked(folder / STAGE)
        for name in disk.names(stage):
            try:
                done, seen = _leftover(folder, stage, name)
            except (OSError, LakeError) as error:
                # Files that cannot be removed now are tried again by the next sweep.
                done, seen = False, str(error.strerror if isinstance(error, OSError) else error.happened)
            removed += done
            if seen:
                refused.append((name, seen))
    try:
        removed += _past_snapshots(folder)
    except (OSError, LakeError) as error:
        # Reading the lake reports a damaged snapshot; nothing is removed on its word.
        refused.append((snapshots.FOLDER, str(getattr(error, "happened", error))))
    return Swept(removed, tuple(refused))


def _leftover(folder: Path, stage: int, name: str) -> tuple[bool, str]:
    """Removes a leftover: whether it is gone, and what is odd about it."""
    if _LOCK.fullmatch(name):
        # Its folder goes with it; a held lock belongs to a living writer.
        with disk.locked(folder / STAGE / name, wait=False) as ours:
            if not ours:
                return False, ""
            seen = undo(folder, name.removesuffix(".lock"))
            os.unlink(name, dir_fd=stage)
            return True, seen
    if not (_MARK.fullmatch(name) or _OLD.fullmatch(name)):
        return False, ""
    status = os.stat(name, dir_fd=stage, follow_symlinks=False)
    if not stat.S_ISREG(status.st_mode):
        return False, "it is not a plain file"
    if time.time() - status.st_mtime <= OLD_SECONDS:
        return False, ""
    seen = _remove_unlisted(folder, folder / STAGE / name) if _OLD.fullmatch(name) else ""
    os.unlink(name, dir_fd=stage)
    return True, seen


def retire(folder: Path, paths: Sequence[str]) -> None:
    """Schedules files for removal in an hour, unless a manifest lists them by then."""
    if paths:
        plan = json.dumps({"files": list(paths)}).encode()
        disk.write_synced(folder / STAGE / f"old-{os.urandom(16).hex()}.json", plan)


def _past_snapshots(folder: Path) -> int:
    """Removes the files of superseded snapshots, and of snapshots that were never committed."""
    current = snapshots.current(folder)
    removed = 0
    with disk.opened_folder(folder, (snapshots.FOLDER,)) as opened:
        for name in [] if opened is None else disk.names(opened):
            number = snapshots.number_of(name)
            if number is None and not snapshots.is_part(name):
                continue
            parts = () if current is None else (current.commit.sources.name, current.commit.files.name)
            if name in parts or (current is not None and number is not None and number >= current.number):
                continue
            status = os.stat(name, dir_fd=opened, follow_symlinks=False)
            if stat.S_ISREG(status.st_mode) and time.time() - status.st_mtime > OLD_SECONDS:
                os.unlink(name, dir_fd=opened)
                removed += 1
    return removed


def undo(folder: Path, name: str) -> str:
    """Undoes a writer's unfinished work: files given names but never announced, and its stage. Returns what
    is odd about its plan, or nothing."""
    seen = ""
    plan = folder / STAGE / name / PLAN
    with disk.opened_folder(folder, (STAGE, name)) as stage:
        if stage is not None and PLAN in disk.names(stage):
            seen = _remove_unlisted(folder, plan)
    with disk.opened_folder(folder, (STAGE,)) as above:
        if above is not None:
            disk.remove_within(above, name)
    return seen


def _remove_unlisted(folder: Path, plan: Path) -> str:
    """Removes the files of a plan that no manifest lists; returns what is odd about the plan, or nothing."""
    try:
        found = strict_json.read(plan, _MOST_PLAN_BYTES)
    except strict_json.OddJson as error:
        # A writer that died while it wrote its plan had not given any file its name.
        return str(error)
    paths = found.get("files") if isinstance(found, dict) else None
    if not isinstance(paths, list):
        return "it is not a plan"
    table_paths = [path for path in paths if isinstance(path, str) and manifest.table_of(path) is not None]
    existing = [path for path in table_paths if os.path.lexists(folder / path)]
    seen = "" if len(table_paths) == len(paths) else "it names files that are not a table's"
    if existing:
        with disk.locked(folder / STAGE / COMMIT_LOCK):
            listed = _listed(folder)
            for path in existing:
                if path not in listed and not _unlink(folder, path):
                    seen = f"{path} lies behind a link or is not a plain file"
    return seen


def _listed(folder: Path) -> set[str]:
    """The paths that manifests and derived tables list."""
    listed = {file.path for file in reader.contents(folder).files_of()}
    return listed | {file.path for derived in derived_tables.read_all(folder) for file in derived.files}


def _unlink(folder: Path, path: str) -> bool:
    """Unlinks a plain file of the lake; False for anything else, and for a file behind a link."""
    *above, name = path.split("/")
    with disk.opened_folder(folder, above) as parent:
        if parent is None:
            return False
        try:
            if not stat.S_ISREG(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
                return False
            os.unlink(name, dir_fd=parent)
        except FileNotFoundError:
            pass
        return True


def linked(path: Path) -> LakeError:
    """The error for a folder of a lake that is not a folder."""
    return LakeError(
        "A folder of the lake is a link, or not a folder.",
        seen=f"{path.name} leads elsewhere",
        todo="move the folder itself into the lake; stepscope writes and removes nothing behind links",
        path=str(path),
    )
