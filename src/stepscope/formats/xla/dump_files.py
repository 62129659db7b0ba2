"""The files of dump folders of XLA: found by walking, known by their names, nothing opened."""

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from stepscope._core import Input
from stepscope.escapes import printable
from stepscope.formats.xla import dump_names
from stepscope.formats.xla.dump_names import CHAIN, MODULES, Named
from stepscope.sources.source import ByteLocation

FILE_COLUMNS = ("module", "id", "place", "kind", "stage", "pass", "pass_number", "what", "file", "file_bytes")
"""A row is a file. place: input, options, sharding, before, pass, after, memory, kernel, object or other."""


_MOST_FILES = 1_000_000


class File(NamedTuple):
    """A file of a folder. base: the folder of the dump, relative to what was asked for. packed: its bytes,
    where they do not lie at the path as they are."""

    path: str
    relative: str
    base: str
    size: int
    named: Named | None
    packed: ByteLocation | None = None

    @property
    def given(self) -> str | Input:
        """What the core is given to read it."""
        return self.path if self.packed is None else self.packed.input()


def finished(paths: Sequence[str]) -> list[list[File]]:
    """The files of each module after optimization, unopened, the best first; none where nothing is dumped."""
    after = (file for file in find_files(paths) if file.named is not None and file.named.place == "after")
    return list(group_by_stage(after).values())


def group_by_stage(files: Iterable[File]) -> dict[tuple[Any, ...], list[File]]:
    """The files that hold one stage or pass, by what their names have in common; the best first."""
    groups: dict[Any, list[File]] = defaultdict(list)
    for file in files:
        if file.named is not None and _holds_module(file):
            groups[stage(file)].append(file)
    return {key: sorted(group, key=_preference) for key, group in groups.items()}


def find_files(paths: Iterable[str]) -> Iterator[File]:
    """Every file under folders with what its name says, links to folders not followed."""
    for path in paths:
        yield from _files(path)


def _files(path: str) -> Iterator[File]:
    root = Path(path)
    if root.is_file():
        yield File(path, root.name, "", root.stat().st_size, dump_names.parsed(root.name))
        return
    number = 0
    for folder, inner, names in os.walk(root):
        inner.sort()
        parents = Path(folder).relative_to(root).parts
        base = _base(parents)
        for name in sorted(names):
            number += 1
            if number > _MOST_FILES:
                return
            full = os.path.join(folder, name)  # noqa: PTH118 - a Path for each of thousands takes half the time
            try:
                size = os.stat(full).st_size  # noqa: PTH116
            except OSError:
                continue
            named = dump_names.folder_name(name, parents) or dump_names.named(name)
            yield File(full, "/".join((*parents, name)), base, size, named)


def _base(parents: tuple[str, ...]) -> str:
    """The dump's folder: that around the folders that JAX makes for modules and shardings."""
    kept = []
    for parent in parents:
        if parent == "shardy" or dump_names.folder(parent):
            break
        kept.append(parent)
    return "/".join(kept)


def _holds_module(file: File) -> bool:
    named = file.named
    return (
        named is not None and named.place in ("before", "pass", "after", "other") and named.suffix in MODULES
    )


def stage(file: File) -> tuple[Any, ...]:
    """What files of one stage or pass have in common."""
    named = file.named
    assert named is not None
    snapshot = file.relative if named.stage in ("snapshot", None) else ""
    return (file.base, named.clock, named.id, named.module, named.stage, named.number, named.passed, snapshot)


def _preference(file: File) -> tuple[int, str]:
    assert file.named is not None
    return MODULES.index(file.named.suffix), file.relative


def rows(files: Iterable[File]) -> list[dict[str, Any]]:
    """Rows with FILE_COLUMNS, by module and in the order of a compile."""
    return sorted(map(_row, files), key=_order)


def _row(file: File) -> dict[str, Any]:
    named = file.named or Named("", None, "other", "not of a dump")
    return {
        "module": printable(named.module) or None,
        "id": named.id,
        "place": named.place,
        "kind": named.kind,
        "stage": named.stage,
        "pass": named.passed,
        "pass_number": named.number,
        "what": printable(named.what) if named.what else None,
        "file": printable(file.relative),
        "file_bytes": file.size,
    }


def _order(row: Mapping[str, Any]) -> tuple[Any, ...]:
    number = row["id"]
    return (number is None, number or 0, row["module"] or "", CHAIN.index(row["place"]), row["file"])
