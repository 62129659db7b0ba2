"""A file of a model: where its bytes are, in whatever it is packed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from stepscope import _core
from stepscope._core import Input
from stepscope.errors import UnreadableSource
from stepscope.sources.source import ByteLocation
from stepscope.sources.spool import Spool


@dataclass(frozen=True)
class ModelPlace:
    """A file, a member of an archive, or a message within an event file."""

    shown: str
    """As told to people."""
    file: str
    """The file on disk that it is or lies in."""
    where: ByteLocation | bytes
    """Where the native core finds it, or its bytes themselves. For a checkpoint: one of its files."""
    spool: Spool | None = None
    """What was unpacked for it lasts as long as this."""

    @property
    def path(self) -> str:
        """The file to be opened, which for bytes that were unpacked is another one than `file`."""
        return self.where.path if isinstance(self.where, ByteLocation) else self.file

    def input(self) -> Input:
        """The bytes as the native core takes them."""
        return _core.Input.bytes(self.where) if isinstance(self.where, bytes) else self.where.input()

    @classmethod
    def of_checkpoint(cls, path: str) -> ModelPlace:
        """A checkpoint that was named: its prefix, one of its files or its folder. The core opens it."""
        return cls(path, path, ByteLocation(path))

    @classmethod
    def of_file(cls, path: str) -> ModelPlace:
        """A file that was named. UnreadableSource when it cannot be read."""
        try:
            with Path(path).open("rb") as file:
                packed = file.read(2) == b"\x1f\x8b"
        except OSError as error:
            raise UnreadableSource(
                "The file cannot be read.",
                seen=error.strerror or str(error),
                todo="check the path and who may read it",
                path=path,
            ) from error
        return cls(path, path, ByteLocation(path, codec="gzip" if packed else "plain"))
