"""Files that appear whole or not at all, and pipes from the engine to Python."""

import contextlib
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from stepscope.errors import OutputError


class Sink(Protocol):
    """A destination of bytes."""

    def write(self, data: bytes, /) -> object:
        """Takes all of `data`."""


@contextlib.contextmanager
def staged(out: Path, *, force: bool) -> Iterator[Path]:
    """A name beside `out` to write to; renamed to `out` at the end, removed on error. OutputError when `out`
    exists without force, when it is a folder that contains anything but Parquet files, or when the disk
    refuses."""
    folder = out.parent
    try:
        out.lstat()
    except (FileNotFoundError, NotADirectoryError):
        pass
    except (OSError, ValueError) as error:  # too long, or with a NUL
        raise cannot_write(out, error) from error
    if not folder.is_dir():
        raise OutputError(
            f"{out} cannot be written.",
            seen=f"there is no folder {folder}",
            todo="make the folder first, or choose another place",
            slug="no-folder",
            path=str(out),
        )
    _refuse_to_replace(out, force)
    part = folder / f".part-{os.getpid()}-{out.name}"
    try:
        yield part
        _refuse_to_replace(out, force)  # another process may have been faster
        if part.is_dir() and out.is_dir():
            shutil.rmtree(out)
        part.replace(out)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise cannot_write(out, error) from error
    finally:
        remove(part)


@contextlib.contextmanager
def placed(out: Path, *, force: bool) -> Iterator[Path]:
    """`out` itself, for files that must be written in place; removed on error. OutputError as with
    staged()."""
    with staged(out, force=force) as part:
        if out.is_dir():
            shutil.rmtree(out)
        try:
            yield out
        except BaseException:
            remove(out)
            raise
        out.replace(part)


def remove(path: Path) -> None:
    """Removes a file or folder of ours, if it exists. Tried twice, since a failing disk may fail once."""
    for _ in range(2):
        with contextlib.suppress(OSError):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
            return


def _refuse_to_replace(out: Path, force: bool) -> None:
    if not (out.exists() or out.is_symlink()):
        return
    if not force:
        raise OutputError(
            f"{out} is there already.",
            seen="a file or folder of that name",
            todo="choose another name, or say --force to replace it",
            slug="output-exists",
            path=str(out),
        )
    if out.is_dir() and any(path.suffix != ".parquet" for path in out.iterdir()):
        raise OutputError(
            f"{out} is a folder that holds more than Parquet files, so it is not replaced.",
            seen=", ".join(sorted(path.name for path in out.iterdir() if path.suffix != ".parquet")[:5]),
            todo="choose another name, or remove the folder yourself",
            slug="output-exists",
            path=str(out),
        )


def cannot_write(out: Path, error: Exception) -> OutputError:
    """The error for a file that the system did not let us write."""
    return OutputError(
        f"{out} cannot be written.",
        seen=str(error).splitlines()[0],
        todo="free space or choose another place; nothing was left behind",
        slug="cannot-write",
        path=str(out),
    )


@contextlib.contextmanager
def pumped(sink: Sink) -> Iterator[Path]:
    """A named pipe; its contents go to `sink`, from a thread. Errors of the sink are raised here."""
    failed: list[BaseException] = []

    def pump(reader: int) -> None:
        with open(reader, "rb", buffering=0) as source:
            try:
                while piece := source.read(1 << 20):
                    sink.write(piece)
            except BaseException as error:  # noqa: BLE001 - raised again below, in the caller's thread
                failed.append(error)

    with tempfile.TemporaryDirectory(prefix="stepscope-") as folder:
        pipe = Path(folder) / "pipe"
        os.mkfifo(pipe, 0o600)
        # Both ends are opened here, where neither waits for the other: the reading end before anybody
        # writes, and a writing end that keeps the pipe open until the caller has finished.
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        keeper = os.open(pipe, os.O_WRONLY)
        os.set_blocking(reader, True)
        thread = threading.Thread(target=pump, args=(reader,), name="stepscope-pump", daemon=True)
        thread.start()
        try:
            yield pipe
        except Exception as error:
            if failed:  # the writer only saw the pipe break
                raise failed[0] from error
            raise
        finally:
            os.close(keeper)
            thread.join()
        if failed:
            raise failed[0]
