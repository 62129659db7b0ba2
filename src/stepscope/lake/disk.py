"""Writing so that a crash leaves the old or the new, never half: temporary name, fsync, rename.

It needs locks that die with their process, and folders that files are reached through: Linux and macOS have
both, Windows neither. There, lakes are read but not written, and nothing is cached.
"""

import contextlib
import errno
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from stepscope.errors import LakeError

try:
    import fcntl
except ModuleNotFoundError:  # Windows
    fcntl = None  # type: ignore[assignment]

KEEPS = fcntl is not None and hasattr(os, "O_DIRECTORY")
"""Whether this system supports files that several processes change or remove at once."""
SYNCING = 8
"""Most folders that are synced at once."""
_MOST_DEPTH = 16
"""Most nested folders that are removed; stepscope makes three."""
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_FOLDER = (errno.ENOTDIR, errno.ELOOP, errno.EMLINK)
"""Errors of a system that finds a file or a link instead of a folder."""


def need_keeping(folder: Path) -> None:
    """LakeError on a system where no lake can be written."""
    if not KEEPS:
        raise LakeError(
            "A lake cannot be written on this system.",
            seen="no flock, as on Windows",
            todo="ingest on Linux or macOS, or in WSL; lakes are read everywhere",
            slug="lake-needs-locks",
            path=str(folder),
        )


def sync_file(path: Path) -> None:
    """Forces a file's bytes to the disk. OSError when that fails: then nothing may refer to the file."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


sync_folder = sync_file
"""Forces a folder's names to the disk."""


def write_synced(path: Path, data: bytes) -> None:
    """Writes a new file through to the disk. FileExistsError when there is one."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_whole(path: Path, data: bytes) -> None:
    """Replaces a file that may be lost but never torn: no fsync."""
    part = path.with_name(f".{path.name}.{os.urandom(16).hex()}")
    try:
        part.write_bytes(data)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def sync_folders(folders: Iterable[Path]) -> None:
    """Forces the names in several folders to the disk, which handles many as fast as one. Raises the first
    OSError after trying all: then nothing may refer to any of them."""
    # Imported here: it brings much that only writing a lake needs.
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(SYNCING) as pool:
        done = [pool.submit(sync_folder, folder) for folder in sorted(folders)]
    for synced in done:
        synced.result()


def put_if_absent(source: Path, target: Path) -> bool:
    """Gives a finished file its name unless the name is taken; False when it is."""
    try:
        os.link(source, target)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS):
            raise
        # A file system without links. A writer holds the commit lock here.
        if target.exists():
            return False
        source.rename(target)
        return True
    source.unlink()
    return True


@contextlib.contextmanager
def locked(path: Path, *, wait: bool = True) -> Iterator[bool]:
    """Holds the lock file `path`; yields False, without the lock, when not `wait` and another process has it.
    A lock dies with its process. Its holder may remove the file. A link is not followed: OSError."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                yield False
                return
            if not is_still(path, descriptor):
                continue  # the previous holder removed it: the locked file has no name any more
            yield True
            return
        finally:
            os.close(descriptor)


def open_folder(path: Path) -> int:
    """A descriptor of a folder that is no link. OSError when there is none."""
    return os.open(path, _FOLDER | os.O_NOFOLLOW)


def try_lock(folder: int, *, alone: bool) -> bool:
    """Locks an open folder at once, for this process alone or beside others; False when it is locked
    otherwise. Where the file system has no locks on folders nothing is locked: an entry of the cache that is
    removed while it is read is decoded again."""
    try:
        fcntl.flock(folder, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def written_without_lock(appeared: str, path: Path) -> LakeError:
    """The error where a file appeared that only the holder of the lock may write."""
    return LakeError(
        "Somebody writes to the lake without its lock.",
        seen=f"{appeared} appeared while the lock was held",
        todo="check that the file system of the lake supports locks (flock)",
        path=str(path),
    )


def is_still(path: Path, descriptor: int) -> bool:
    """Whether an open file or folder still has its name."""
    try:
        named = path.stat()
    except FileNotFoundError:
        return False
    held = os.fstat(descriptor)
    return (named.st_dev, named.st_ino) == (held.st_dev, held.st_ino)


@contextlib.contextmanager
def opened_folder(root: Path, inner: Sequence[str] = ()) -> Iterator[int | None]:
    """A descriptor of the folder that the names `inner` lead to from `root`; None where one of them is
    missing, a link or a file. Operations on it happen there, even if a part of the path is replaced in
    between."""
    descriptor: int | None = os.open(root, _FOLDER)
    try:
        for name in inner:
            assert descriptor is not None
            deeper = _enter(descriptor, name)
            os.close(descriptor)
            descriptor = deeper
            if descriptor is None:
                break
        yield descriptor
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _enter(folder: int, name: str) -> int | None:
    try:
        return os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno not in _NO_FOLDER:
            raise
        return None


def names(folder: int) -> list[str]:
    """The names in an open folder, sorted."""
    return sorted(os.listdir(folder))


def remove(path: Path) -> None:
    """Removes a file or a folder with its contents, if it exists. OSError when it cannot. Follows links only
    on the way to the parent folder."""
    with contextlib.suppress(FileNotFoundError), opened_folder(path.parent) as above:
        assert above is not None
        remove_within(above, path.name)


def remove_within(folder: int, name: str, depth: int = 0) -> None:
    """remove() for a name in a folder that is open."""
    inner = _enter(folder, name)
    if inner is None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)
        return
    try:
        if depth == _MOST_DEPTH:
            raise OSError(errno.ENOTEMPTY, "too many folders within each other", name)
        for entry in names(inner):
            remove_within(inner, entry, depth + 1)
    finally:
        os.close(inner)
    os.rmdir(name, dir_fd=folder)
