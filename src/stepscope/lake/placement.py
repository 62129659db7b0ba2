"""Gives written parts of a lake the names that manifests list."""

import os
from collections.abc import Collection, Iterable
from pathlib import Path

from stepscope.lake import disk, leftovers


def place(folder: Path, made: Iterable[tuple[str, Path]], changed: Collection[Path] = ()) -> None:
    """Gives the files their names, durably. made: path within the lake, and the part for it. changed: further
    changed folders. LakeError where a folder is a link."""
    folders = {folder, *changed}
    for path, part in made:
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        with disk.opened_folder(folder, path.split("/")[:-1]) as parent:
            if parent is None:
                raise leftovers.linked(target.parent)
            # Without a manifest that lists it, a file of that name is a dead writer's leftover.
            os.replace(part, target.name, dst_dir_fd=parent)
        # Existing folders, too: their maker may have died before it synced them.
        folders.update(above for above in target.parents if above.is_relative_to(folder))
    disk.sync_folders(folders)
