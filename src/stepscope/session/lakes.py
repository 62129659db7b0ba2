"""The place of a lake: a folder here, or a URL of an object store with its mirror here."""

import os
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from stepscope import config
from stepscope.lake import marker_file, reader
from stepscope.lake.mirror import Mirror, lake_in_store
from stepscope.lake.reader import Lake
from stepscope.sources.stores import is_installed, is_store
from stepscope.sources.user_paths import is_lake, local_lake

Given = str | os.PathLike[str]


def store_mirror(lake: Given, cache: Path | None = None) -> Mirror | None:
    """The mirror of a lake in an object store; None for one that is a folder. cache: the folder that keeps
    what is read; None is the user's. UsageError for other URLs; errors as those of Mirror."""
    url = os.fspath(lake)
    if is_store(url):
        return _mirror(url.rstrip("/"), str(cache or config.cache_dir()))
    local_lake(url)
    return None


@lru_cache(maxsize=8)
def _mirror(url: str, cache: str) -> Mirror:
    """One for each process: ingest asks for it source by source."""
    return Mirror(url, Path(cache))


def is_lake_at(given: str) -> bool:
    """Whether a path or URL is a lake. LakeError when the store does not answer."""
    if not is_store(given):
        return is_lake(Path(given))
    if not is_installed():
        return False  # what reads it instead says what is missing
    return lake_in_store(given)


def contents(lake: Given) -> Lake | None:
    """What a lake holds, without a look at its files; None when there is none yet. LakeError when it is of
    another version, damaged, or its store does not answer."""
    mirror = store_mirror(lake)
    if mirror is not None:
        return mirror.lake() if is_lake_at(mirror.url) else None
    folder = Path(os.fspath(lake))
    if not is_lake(folder):
        return None
    marker_file.check(folder)
    found = reader.contents(folder)
    return replace(found, manifests=reader.whole_manifests(found))
