"""A source: which bytes, how they are packed, and what their place and name tell of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from stepscope._core import Input

Codec = Literal["plain", "gzip", "deflate"]


@dataclass(frozen=True)
class Bytes:
    """Where the bytes of a source are. Plain data, so that it can be handed to another process.

    A stretch of a file that the core unpacks by itself is `path`, `offset`, `length` and `codec`. What it
    cannot unpack (bzip2, xz, a member of a packed tar) is opened in Python: `unpack` names the layers from
    the outside in, such as ("xz",) or ("tar", "a/b.json", "gzip").
    """

    path: str
    offset: int = 0
    length: int | None = None
    codec: Codec = "plain"
    unpack: tuple[str, ...] = ()

    def input(self) -> Input:
        """The bytes as the native core takes them."""
        from stepscope import _core

        if not self.unpack:
            return _core.Input.file(self.path, self.offset, self.length, self.codec)
        from stepscope.sources.unpack import open_layers

        return _core.Input.reader(open_layers(self))


@dataclass(frozen=True)
class Source:
    """One file, or one member of an archive, that will be decoded.

    path       as shown to people; archive members after a !
    name       base name without packing suffixes, as sniffers saw it
    bytes      where to read it
    size       bytes as stored
    decoder    what the native core decodes it as
    format     as in source.format
    run_name, run_id, run_path   the run it belongs to: as found, as [a-z0-9._-]+, and where
    host_name, host_id           the host it speaks of; unknown when its name does not tell
    capture    what tells one recording of the run from the others: a date, or empty
    step       number of the step, when the name tells one (timeline-15.json, run_meta_0005.pb)
    rank       number of the process in a distributed job, when the name tells one
    notes      what the search has to say of it: (slug, detail)
    """

    path: str
    name: str
    bytes: Bytes
    size: int
    decoder: str
    format: str
    run_name: str = "run"
    run_id: str = "run"
    run_path: str = ""
    host_name: str = "unknown"
    host_id: str = "unknown"
    capture: str = ""
    step: int | None = None
    rank: int | None = None
    notes: tuple[tuple[str, str], ...] = field(default=())
    identity: tuple[str, int, int, int] | None = None
    """Absolute path, size, mtime_ns and inode of the outer file: unchanged identity, unchanged bytes."""
    content_hash: str | None = None
    """Hash of the bytes as stored, when the cache already knows it."""

    @property
    def outer(self) -> Path:
        """The file on disk that holds the bytes."""
        return Path(self.bytes.path)


@dataclass(frozen=True)
class Skipped:
    """A file that was found but not read, and why (slug of stepscope docs)."""

    path: str
    slug: str
    detail: str
