"""Reading a lake: which files hold which table, and whether they are as they were written."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from stepscope import config, strict_json
from stepscope.errors import LakeError
from stepscope.lake import manifest as manifests
from stepscope.lake.checked import Checked
from stepscope.lake.manifest import File, Manifest
from stepscope.lake.schema import schema
from stepscope.sources.given import LAKE_MARK

MANIFESTS = "_manifest"
CHECKED_BYTES = 64 << 20
CHECKED_FILES = 1000
"""A lake up to this size is hashed when it is opened; of a larger one each table when it is first read."""


class _Mark(NamedTuple):
    """The file stepscope-lake.json."""

    schema_version: int


@dataclass(frozen=True)
class Lake:
    """A lake as it was when it was opened: later ingests do not change it."""

    folder: Path
    manifests: tuple[Manifest, ...]

    @property
    def is_small(self) -> bool:
        """Whether the contents are compared whenever the lake is opened, in a few milliseconds."""
        sizes = [file.bytes for one in self.manifests for file in one.files]
        return len(sizes) <= CHECKED_FILES and sum(sizes) <= CHECKED_BYTES

    def files(self, root: Path | None = None) -> dict[str, list[str]]:
        """Paths of the files of each table, in the order of the sources. root: a folder that stands for the
        lake's own."""
        found: dict[str, list[str]] = defaultdict(list)
        above = str(root or self.folder)
        for one in self.manifests:
            for file in one.files:
                found[file.table].append(f"{above}/{file.path}")
        return dict(found)

    def verify(self, *, contents: bool, table: str | None = None, checked: Checked | None = None) -> None:
        """Compares files with their manifests: sizes, and with `contents` also hashes.

        table: only files of that table. checked: remembers which contents need no second look. LakeError
        for the first that is missing or differs.
        """
        todo: list[tuple[Manifest, File, os.stat_result]] = []
        for one in self.manifests:
            for file in one.files:
                if table is None or file.table == table:
                    status = self._sized(one, file)
                    if contents and not (checked is not None and checked.knows(file, status)):
                        todo.append((one, file, status))
        if not todo:
            return
        # Imported here: a lake that was looked at before needs neither.
        from concurrent.futures import ThreadPoolExecutor

        from stepscope import _core

        with ThreadPoolExecutor(min(config.threads(), len(todo))) as pool:
            found = [pool.submit(content_hash, self.folder / file.path) for _, file, _ in todo]
        for (one, file, _), done in zip(todo, found, strict=True):
            path = self.folder / file.path
            try:
                same = done.result() == file.hash
            except _core.CoreError as error:
                raise _broken(path, one, error.seen) from None
            if not same:
                raise _broken(path, one, "its bytes are not those that were written")
        if checked is not None:
            checked.keep({file: status for _, file, status in todo})

    def _sized(self, one: Manifest, file: File) -> os.stat_result:
        try:
            status = os.stat(f"{self.folder}/{file.path}")  # noqa: PTH116 - there may be many thousands
        except OSError as error:
            raise _broken(self.folder / file.path, one, error.strerror or str(error)) from None
        if status.st_size != file.bytes or not stat.S_ISREG(status.st_mode):
            seen = f"{status.st_size:,} bytes instead of {file.bytes:,}"
            raise _broken(self.folder / file.path, one, seen)
        return status


def content_hash(path: Path) -> str:
    """Hash of a whole file."""
    from stepscope import _core

    return _core.hash_file(str(path))


def open_lake(folder: Path) -> Lake:
    """Opens a lake for reading. LakeError when it is none, of another version, or damaged.

    Only a small lake's contents are compared here: see Lake.is_small.
    """
    check_mark(folder)
    found = Lake(folder, read_manifests(folder))
    found.verify(contents=found.is_small)
    return found


def check_mark(folder: Path) -> None:
    """LakeError unless the folder is a lake of this version's schema."""
    mark = folder / LAKE_MARK
    try:
        version = strict_json.record(_Mark, strict_json.read(mark)).schema_version
    except FileNotFoundError:
        raise LakeError(
            f"{folder} is not a lake.",
            seen=f"no {LAKE_MARK} in it",
            todo="stepscope ingest PATH --lake DIR makes one",
            path=str(folder),
        ) from None
    except (OSError, strict_json.OddJson) as error:
        raise LakeError(
            "The mark of the lake cannot be read.",
            seen=str(error),
            todo=f'write {{"schema_version": {schema().version}}} into it if the lake is of this version',
            path=str(mark),
        ) from None
    if version != schema().version:
        newer = version > schema().version
        raise LakeError(
            f"The lake was written by {'a newer' if newer else 'an older'} stepscope.",
            seen=f"schema version {version}, this stepscope knows {schema().version}",
            todo="pip install --upgrade stepscope" if newer else "ingest its sources into a new lake",
            path=str(folder),
        )


def whole_manifests(folder: Path) -> tuple[Manifest, ...]:
    """The manifests whose files are all there, with the sizes that they had."""
    return tuple(one for one in read_manifests(folder) if is_whole(folder, one))


def is_whole(folder: Path, one: Manifest) -> bool:
    """Whether the files of a source are all there, with the sizes that they had."""
    try:
        Lake(folder, (one,)).verify(contents=False)
    except LakeError:
        return False
    return True


def read_manifests(folder: Path) -> tuple[Manifest, ...]:
    """All manifests, in the order of source_id."""
    return tuple(manifests.read(path) for path in sorted((folder / MANIFESTS).glob("[0-9]*.json")))


_PLAIN = re.compile(r"[^*?\[\]\\\x00-\x1f\ud800-\udfff]+")


@contextlib.contextmanager
def plain_folder(folder: Path) -> Iterator[Path]:
    """A path to the folder that no engine takes for a pattern: its own, or a link that lasts as long as the
    block. LakeError when there is no place for the link."""
    if _PLAIN.fullmatch(str(folder)):
        yield folder
        return
    import tempfile

    with tempfile.TemporaryDirectory(prefix="stepscope-lake-") as place:
        if not _PLAIN.fullmatch(place):
            raise LakeError(
                "The path of the lake cannot be read.",
                seen="characters in it that stand for patterns of file names, or are not UTF-8",
                todo="rename the folder, or set TMPDIR to one with a plain name",
                path=str(folder),
            )
        link = Path(place, "lake")
        link.symlink_to(folder)
        yield link


def _broken(path: Path, manifest: Manifest, seen: str) -> LakeError:
    return LakeError(
        "A file of the lake is missing or damaged.",
        seen=seen,
        todo=f"remove {MANIFESTS}/{manifests.file_name(manifest.source.source_id)} from the lake and ingest "
        f"{manifest.source.path} again; the other sources are not affected",
        path=str(path),
    )
