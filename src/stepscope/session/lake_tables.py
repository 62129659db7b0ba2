"""The tables of a Trace that reads a lake."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.errors import LakeError, StepscopeError
from stepscope.lake import reader
from stepscope.lake.rows import SourceRow
from stepscope.lake.schema import schema
from stepscope.session.derived import DERIVED, derive

if TYPE_CHECKING:
    from stepscope.engines.duckdb import DuckDB, Selects
    from stepscope.engines.reads import Reads
    from stepscope.sources.source import Skipped


class LakeTables:
    """The tables of a lake, as they were when it was opened."""

    def __init__(self, folder: Path) -> None:
        self._lake = reader.open_lake(Path(folder).absolute())
        self._files = self._lake.files()
        self.sources: tuple[SourceRow, ...] = tuple(one.source for one in self._lake.manifests)
        self.skipped: tuple[Skipped, ...] = ()
        self.paths = [path for paths in self._files.values() for path in paths]

    def begin(self) -> None:
        """Nothing has to be made."""

    def ready(self, reads: Reads | None) -> bool:
        """Everything is there already."""
        return True

    def attach(self, engine: DuckDB) -> None:
        """Makes the tables known as views over their Parquet files."""
        for table in schema().tables:
            columns = [(column.name, column.type) for column in table.columns]
            if table.name in DERIVED:
                continue
            paths = self._files.get(table.name, [])
            selects = self._selects([reader.select(table, paths)] if paths else [])
            engine.source(table.name, columns, selects, whole=True)
        derive(engine)

    def _selects(self, statements: list[str]) -> Selects:
        return lambda wanted: statements

    def doubt(self, error: StepscopeError) -> StepscopeError:
        """LakeError when a file is not what was written."""
        try:
            self._lake.verify(contents=True)
        except LakeError as damaged:
            return damaged
        return error

    def mend(self) -> None:
        """Nothing is made from anything here."""

    def close(self) -> None:
        """Nothing is held."""
