"""The modules of programs that may be those of a recording: kept by its XPlanes, and in dump folders."""

import contextlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from stepscope import _core
from stepscope.errors import LimitReached, UnreadableSource
from stepscope.escapes import printable
from stepscope.formats import xplane as xplane_format
from stepscope.formats.xla import dump_files, hlo_files, hlo_protos
from stepscope.sources.source import Source
from stepscope.sources.spool import Spool

_MOST_FILE_BYTES = 1 << 30


class KnownModule(NamedTuple):
    """A module as _core.hlo_module() gives it; None when it is damaged. source: the number of the source that
    keeps it, and program: its number there; None for one of a dump folder."""

    source: int | None
    program: str | None
    module: Mapping[str, Any] | None
    file: str


def find(
    sources: Sequence[Any], folders: Sequence[str], modules: Collection[str] | None, ids: Collection[str]
) -> Iterator[KnownModule]:
    """The modules whose name or id is asked for (all, when modules is None), and those that are damaged.

    sources: those of a trace; those of a lake give none, since their files may be gone. folders: paths that
    may be dump folders.
    """
    with contextlib.closing(Spool()) as spool:
        for found in chain(_programs_of_sources(sources, modules, ids, spool), _programs_of_folders(folders)):
            module = found.module
            if (
                module is None
                or modules is None
                or printable(module["name"]) in modules
                or found.program in ids
                or str(module["id"]) in ids
            ):
                yield found


def _programs_of_sources(
    sources: Sequence[Any], modules: Collection[str] | None, ids: Collection[str], spool: Spool
) -> Iterator[KnownModule]:
    """The programs that XPlanes keep, others than those asked for left unread where their name says so."""
    for at, source in enumerate(sources):
        if not isinstance(source, Source) or source.format != xplane_format.NAME:
            continue
        for number, proto in hlo_protos.programs(hlo_protos.bytes_of(source, spool)[0]):
            name = printable(hlo_protos.module_of(proto))
            if name and modules is not None and name not in modules and number not in ids:
                continue
            try:
                yield KnownModule(at, number, _core.hlo_module(bytes(proto)), source.path)
            except _core.CoreError:
                yield KnownModule(at, number, None, source.path)


def _programs_of_folders(folders: Sequence[str]) -> Iterator[KnownModule]:
    """The programs of dump folders; where the proto of one is damaged, its text."""
    for files in dump_files.finished([path for path in folders if Path(path).exists()]):
        for file in files:
            if file.size > _MOST_FILE_BYTES:
                continue
            try:
                module = hlo_files.module(file.path)
            except (OSError, _core.CoreError, LimitReached):
                continue
            if module["id"] is None and file.named is not None:
                module["id"] = file.named.id  # a text does not say it
            yield KnownModule(None, None, module, file.relative)
            break
        else:
            yield KnownModule(None, None, None, files[0].relative)


def module_in_xplane(source: Source, program_id: str) -> dict[str, Any]:
    """The module of a program that an XPlane keeps. UnreadableSource when the file is gone or has changed
    since it was read."""
    seen = "the program is no longer in it"
    with contextlib.closing(Spool()) as spool:
        for number, proto in hlo_protos.programs(hlo_protos.bytes_of(source, spool)[0]):
            if number == program_id:
                try:
                    made: dict[str, Any] = _core.hlo_module(bytes(proto))
                    return made
                except _core.CoreError as error:
                    seen = str(error)
    raise UnreadableSource(
        "The program can no longer be read", seen=seen, todo="open the recording again", path=source.path
    )
