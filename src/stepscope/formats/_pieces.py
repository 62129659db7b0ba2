"""The input of a format: the file that it claimed and the files beside it."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from stepscope import _core
from stepscope._core import Store
from stepscope.errors import LimitReached
from stepscope.sources.damage import DamagedArchive, reason
from stepscope.sources.source import ByteLocation, Piece, Source
from stepscope.sources.spool import Spool


class Unreadable(Exception):
    """A file is gone, or larger than it may be; says so in a sentence."""


class Pieces(NamedTuple):
    """The files of one source, and how its tables are wanted."""

    source: Source
    spool: Spool
    folder: str | None
    """Where the tables go; None keeps them in memory."""
    needs: Sequence[str] | None = None
    """What will be looked at, as `_core.decode` takes it; None is everything."""
    threads: int = 0
    progress: Callable[[int], None] | None = None

    def decode(self, name: str) -> Store:
        """What the native core makes of the file, with the decoder of this name.

        CoreError when it cannot be decoded or the folder cannot be written; Unreadable when it cannot be
        unpacked. Exceptions of `progress` come through.
        """
        with _explained():
            place = self.source.spooled or self.spool.reach(self.source.bytes, self.source.path)
            bytes = place.input()
        return _core.decode(
            name, bytes, self.folder, needs=self.needs, threads=self.threads, progress=self.progress
        )

    def build(self) -> Store:
        """An empty store to be filled with replace() and update_facts()."""
        return _core.build(self.folder)

    def read(self, most_bytes: int) -> bytes:
        """The whole file, unpacked. Unreadable when it is gone or larger."""
        with _explained():
            return self.spool.read(self._place, self.source.path, most_bytes)

    def head(self, least_bytes: int) -> bytes:
        """The unpacked beginning of the file: at least this many bytes, if it has them."""
        return self.spool.read_good(self._place, self.source.path, least_bytes)[0]

    def path(self) -> str | None:
        """The file on the disk when it lies there as it is; None when it is packed or part of an archive."""
        place = self._place
        plain = place is self.source.bytes and not place.unpack and place.codec == "plain"
        return place.path if plain and not place.offset and place.length is None else None

    @contextmanager
    def on_disk(self) -> Iterator[Path]:
        """The file as a file of the disk: where it lies, else unpacked for as long as the context lasts."""
        path = self.path()
        if path is not None:
            yield Path(path)
            return
        with tempfile.TemporaryDirectory(prefix="stepscope-") as folder:
            target = Path(folder) / Path(self.source.path).name
            with _explained():
                self.spool.unpack(self._place, self.source.path, target)
            yield target

    @property
    def beside(self) -> tuple[Piece, ...]:
        """The files that belong to the source."""
        return self.source.pieces

    def read_piece(self, piece: Piece, most_bytes: int) -> bytes:
        """One of the files beside it, unpacked. Unreadable when it is gone or larger."""
        with _explained():
            return self.spool.read(piece.spooled or piece.bytes, piece.name, most_bytes)

    @property
    def _place(self) -> ByteLocation:
        return self.source.spooled or self.source.bytes


@contextmanager
def _explained() -> Iterator[None]:
    """Turns what reading raises into Unreadable."""
    try:
        yield
    except LimitReached as error:
        raise Unreadable(f"{error.happened} {error.seen}") from error
    except DamagedArchive as error:
        raise Unreadable(f"it is damaged: {reason(error)}") from error
    except (OSError, KeyError) as error:
        raise Unreadable(f"it can no longer be read: {error}") from error
