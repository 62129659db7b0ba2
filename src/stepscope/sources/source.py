"""A source: which bytes, how they are packed, and what their place and name tell of them.

Named tuples, here and wherever else a file is looked at: a frozen dataclass takes a millisecond to make, and
the module for it ten, all of it before the first byte can be decoded.
"""

from typing import Literal, NamedTuple

from stepscope import _core
from stepscope._core import Input

Codec = Literal["plain", "gzip", "deflate"]


class ByteLocation(NamedTuple):
    """Where bytes are: plain data, so that it can be kept and handed to another process.

    The native core reads a stretch of a file by `path`, `offset`, `length` and `codec`. When `unpack` is
    not empty it cannot: the bytes must be unpacked to the disk first (see spool.py). Its first element
    says how the file itself is packed (plain, gzip, bz2, xz), the second, if any, names a member of the
    archive that it is.
    """

    path: str
    offset: int = 0
    length: int | None = None
    codec: Codec = "plain"
    unpack: tuple[str, ...] = ()
    crc: int | None = None
    """CRC-32 of the unpacked bytes, where an archive states it. It is compared when they are read from the
    first to the last; readers of plain bytes that jump to what they look for do not compare it."""

    def input(self) -> Input:
        """The bytes as the native core takes them; ValueError when they must be unpacked first."""
        if self.unpack:
            raise ValueError(f"{self.path} must be unpacked first")
        checked = {} if self.crc is None else {"crc": self.crc}
        return _core.Input.file(self.path, self.offset, self.length, self.codec, **checked)


class Traits(NamedTuple):
    """What a format says of all its files, and nothing in a file has to tell."""

    kind: str = "trace"
    """As in source.kind."""
    named_by_host: bool = False
    """A file is called after its host, and the folder around it after its run."""
    steps: str = ""
    """What the steps are that a recorder timed beside it: within (it records them), beside (it is a step that
    was traced apart from them), or empty where they say nothing of it."""
    sessions: bool = False
    """Each record in it is a run of a session, which is a step by itself."""
    op_logs: bool = False
    """An op log in the same folder says where in the program its ops were made."""
    lines: bool = False
    """It says itself where in the program its ops were made, as an op log does."""
    no_host: bool = False
    """Neither it nor its name says on which host it was written."""
    endings: tuple[str, ...] = ()
    """What names of its files end in, in small letters, the longest first: a run that is named after a file
    is called as it without."""
    table_names: str = ""
    """What names of its files match, as a regular expression, when one recording has a file for each table:
    files of a folder with the same first group are one recording."""

    @property
    def placeless(self) -> bool:
        """It does not say when and where it was written: the same bytes may belong to several runs."""
        return self.kind in PLACELESS

    @property
    def hostless(self) -> bool:
        """It does not say on which host it was written."""
        return self.placeless or self.no_host


PLACELESS = ("graph", "checkpoint", "dump")
"""Kinds of what a program is, and not of what ran."""


class Piece(NamedTuple):
    """A file that is not a recording of its own but belongs to one."""

    name: str
    """Its path within the capture's folder, with / between the parts."""
    bytes: ByteLocation
    size: int
    """Bytes as stored."""
    spooled: ByteLocation | None = None
    told_elsewhere: bool = False
    """Another source of the capture tells the same, and more exactly."""


class Source(NamedTuple):
    """One file, or one member of an archive, that will be decoded."""

    path: str
    """As shown to people; archive members after a !"""
    name: str
    """Base name without packing suffixes, as sniffers saw it."""
    bytes: ByteLocation
    """Where to read it."""
    size: int
    """Bytes as stored."""
    format: str
    """As in source.format."""
    traits: Traits = Traits()
    """What its format says of it."""
    run_name: str = "run"
    """The run it belongs to, as found."""
    run_id: str = "run"
    """The run as [a-z0-9._-]+."""
    run_path: str = ""
    """Where the run was found; a URL for one that was fetched."""
    run_said: bool = False
    """The user named the run, or a part run=NAME of its path does: its name is its identity."""
    host_name: str = "unknown"
    """The host it speaks of, or rank-3; unknown when its name does not tell."""
    host_said: bool = False
    """The user named the host, or a part host=NAME of its path does."""
    host_id: str = "unknown"
    """The host as [a-z0-9._-]+."""
    capture: str = ""
    """What tells one recording of the run from the others: a date, or empty."""
    step: int | None = None
    """Number of the step, when the name tells one (timeline-15.json, run_meta_0005.pb)."""
    step_counted: bool = False
    """The name tells no number: it is the source's place among the runs of its folder, by when they began."""
    rank: int | None = None
    """Number of the process in a distributed job, when the name tells one."""
    notes: tuple[tuple[str, str], ...] = ()
    """What the search has to say of it: (slug, detail)."""
    identity: tuple[str, int, int, int, int] | None = None
    """Absolute path, size, mtime_ns, ctime_ns and inode of the file on disk: same identity, same bytes."""
    member: str = ""
    """Name within the archive, when the file on disk is one."""
    spooled: ByteLocation | None = None
    """Where the bytes have already been unpacked to, when they had to be."""
    pieces: tuple[Piece, ...] = ()
    """Files beside it that are decoded with it: see capture_folder, dump_folder and recording_tables."""

    @property
    def kind(self) -> str:
        """As in source.kind."""
        return self.traits.kind


class Skipped(NamedTuple):
    """A file that was found but not read, and why (slug of stepscope docs)."""

    path: str
    slug: str
    detail: str
