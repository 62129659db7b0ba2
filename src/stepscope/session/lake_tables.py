"""The tables of a Trace that reads a lake."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.engines import Files, Relation
from stepscope.errors import LakeError, StepscopeError
from stepscope.lake import reader
from stepscope.lake.checked import Checked
from stepscope.lake.rows import SourceRow
from stepscope.lake.schema import schema
from stepscope.session.derived import DERIVED, derive

if TYPE_CHECKING:
    from stepscope.engines import Engine, Part, Reads
    from stepscope.sources.source import Skipped

_KEYS = {"run": ("run_id",), "host": ("host_id", "run_id")}


class LakeTables:
    """The tables of a lake, as they were when it was opened."""

    def __init__(self, folder: Path, cache: Path | None) -> None:
        """cache: where it is remembered what was compared with its hash; None compares everything."""
        self._lake = reader.open_lake(Path(folder).absolute())
        self._checked = Checked(self._lake.folder, cache) if cache and not self._lake.is_small else None
        self._read: set[str] = set()
        self._held = contextlib.ExitStack()
        self._files = self._lake.files(self._held.enter_context(reader.plain_folder(self._lake.folder)))
        self.sources: tuple[SourceRow, ...] = tuple(one.source for one in self._lake.manifests)
        self.skipped: tuple[Skipped, ...] = ()
        self.paths = [path for paths in self._files.values() for path in paths]

    def begin(self) -> None:
        """Nothing has to be made."""

    def ready(self, reads: Reads | None) -> bool:
        """Everything is there already."""
        return True

    def attach(self, engine: Engine) -> None:
        """Makes the tables known as their Parquet files."""
        for table in schema().tables:
            if table.name in DERIVED:
                continue
            parts = partial(self._parts, table.name)
            # Every source brings the row of its run and of its host.
            engine.attach(Relation(table.name, table.types, parts, key=_KEYS.get(table.name, ())))
        derive(engine)

    def _parts(self, table: str) -> Sequence[Part]:
        """The files of a table that is read for the first time, once they were compared with their hashes.

        Run and host come from the files, never from folders: a folder above the lake may be called name=foo,
        and must not become a column."""
        if not self._lake.is_small:
            self._lake.verify(contents=True, table=table, checked=self._checked)
        self._read.add(table)
        paths = self._files.get(table)
        return [Files(tuple(paths))] if paths else []

    def doubt(self, error: StepscopeError) -> StepscopeError:
        """LakeError when a file that was read is not what was written."""
        try:
            for table in sorted(self._read):
                self._lake.verify(contents=True, table=table)
        except LakeError as damaged:
            return damaged
        return error

    def mend(self) -> None:
        """Nothing is made from anything here."""

    def close(self) -> None:
        """Lets go of the folder."""
        self._held.close()
