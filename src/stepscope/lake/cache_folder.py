"""The user's cache folder: known by a mark, so that nothing of somebody else's is ever removed from it."""

import re
from pathlib import Path

from stepscope.lake import disk

MARK = "stepscope-cache.json"
_OWN = {
    "entries": re.compile(r"[0-9a-f]+-[0-9a-f]{16,64}-(?:d\d+s\d+l\d+|[\d.]+)-[0-9a-f]{8}", re.ASCII),
    "stage": re.compile(r"[0-9a-f]{32}(?:\.lock)?"),
    "index": re.compile(r"\.?[0-9a-f]{32}\.json(?:\.[0-9a-f]{32})?"),
    "stores": re.compile(r"[0-9a-f]{16,64}"),
    "checked": re.compile(r"\.?[0-9a-f]{32}\.json(?:\.[0-9a-f]{32})?"),
}
"""The folders in the cache, and the names that stepscope gives in them. Names of entries have the versions of
decoders, schema and layout: `d1s1l1`. Before the first release it was `13.22.3`; such entries are swept."""


def claim(folder: Path) -> Path:
    """The cache folder itself, marked and with its inner folders; `stepscope` in it when it holds something
    that is not stepscope's. OSError when it cannot be made."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / MARK).is_file():
        if not _is_ours(folder):
            folder = folder / "stepscope"
            folder.mkdir(exist_ok=True)
            if not (folder / MARK).is_file() and not _is_ours(folder):
                raise NotADirectoryError(f"{folder} holds files that stepscope did not write")
        disk.write_whole(folder / MARK, b'{"cache_version": 1}\n')
    for inner in _OWN:
        (folder / inner).mkdir(exist_ok=True)
    return folder


def is_own(inner: str, name: str) -> bool:
    """Whether stepscope gives such a name in that folder of the cache; nothing else is removed there."""
    return _OWN[inner].fullmatch(name) is not None


def _is_ours(folder: Path) -> bool:
    """An empty folder, or one that lost its mark: nothing in it but what stepscope calls so."""
    return all(
        path.name in _OWN
        and path.is_dir()
        and not path.is_symlink()
        and all(is_own(path.name, entry.name) for entry in path.iterdir())
        for path in folder.iterdir()
        if not re.fullmatch(rf"\.{re.escape(MARK)}\.[0-9a-f]{{32}}", path.name)
    )
