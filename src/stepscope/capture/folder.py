"""The capture folder: the files of a recording, and capture.json, which lists them.

capture.json is replaced as a whole after each complete piece.

The layout is described in docs/capture-format.md. A program that dies leaves the state after the last
complete piece; lines of .ndjson files are written one by one.
"""

import contextlib
import json
import os
import shutil
import tempfile
import threading
from io import FileIO
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, Optional, Set

from .writable import KEPT, places, probe, write_all

FORMAT = 1
TRACES = "torch"
"""The folder of PyTorch's traces."""
MOVED = "the recording is in another folder than asked for"
MOST_TIMES = 3
"""How often a folder is created again that is removed between two calls."""


class Folder:
    """Writes a capture folder. facts: the content of capture.json, changed in place and written by save().

    When the folder cannot be written any more, the recording moves to another place with everything written
    so far; moved: called with the new place. Only without such a place do its functions raise OSError.
    """

    def __init__(
        self, path: str, facts: Dict[str, Any], moved: Callable[[Path], None] = lambda path: None
    ) -> None:
        self.path = Path(path).absolute()
        self.facts: Dict[str, Any] = {"format": FORMAT, **facts}
        self.facts.setdefault("files", [])
        self.facts.setdefault("problems", [])
        self._moved = moved
        self._tried: Set[str] = set()
        """The original place of a recording that moved."""
        self._open: Dict[str, FileIO] = {}
        self._lengths: Dict[str, int] = {}
        """Bytes of whole lines in the .ndjson files: a full disk cuts the last one."""
        self._lock = threading.RLock()

    def save(self) -> None:
        """Replaces capture.json."""
        with self._lock:
            self._written(self._save)

    def _save(self) -> None:
        self.path.mkdir(parents=True, exist_ok=True)
        if not all((self.path / name).exists() for name in self._open):
            self._take_to(self.path)  # it was removed, and exists again without its files
        write_whole(self.path / "capture.json", text(self.facts, indent=1).encode("utf-8") + b"\n")

    def close(self) -> None:
        """Closes the .ndjson files."""
        with self._lock:
            while self._open:
                self._open.popitem()[1].close()

    def start_again(self, facts: Dict[str, Any]) -> None:
        """Removes the recording; compilations stay, because they concern the whole program."""
        kept = "compilations.ndjson"
        with self._lock:
            for name in [name for name in self._open if name != kept]:
                self._open.pop(name).close()
                self._lengths.pop(name, None)
            files: List[Dict[str, Any]] = self.facts["files"]
            for file in files:
                if file["path"] != kept:
                    with contextlib.suppress(FileNotFoundError):
                        (self.path / file["path"]).unlink()
            for folder in sorted(self.path.glob("**/"), key=lambda path: -len(path.parts)):
                if folder != self.path and not any(folder.iterdir()):
                    folder.rmdir()
            problems = self.facts["problems"]
            self.facts.clear()
            self.facts.update({"format": FORMAT, **facts, "problems": problems})
            self.facts["files"] = [file for file in files if file["path"] == kept]

    def add(self, name: str, kind: str, data: bytes, **more: Any) -> None:
        """Writes a file and lists it."""

        def write() -> None:
            path = self.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, data)

        with self._lock:
            self._written(write)
            self.list(name, kind, **more)

    def add_json(self, name: str, kind: str, value: Any) -> None:
        """Writes a JSON file and lists it."""
        self.add(name, kind, text(value, indent=1).encode("utf-8") + b"\n")

    def line(self, name: str, kind: str, value: Dict[str, Any]) -> None:
        """Adds a line to an .ndjson file, on disk at once."""
        self.lines(name, kind, text(value).encode("utf-8") + b"\n")

    def lines(self, name: str, kind: str, data: bytes) -> None:
        """Adds whole lines to an .ndjson file, on disk at once."""

        def write() -> None:
            file = self._open.get(name)
            if file is None:
                path = self.path / name
                path.parent.mkdir(parents=True, exist_ok=True)
                file = self._open[name] = open(str(path), "a+b", buffering=0)  # noqa: PTH123, SIM115
                self.list(name, kind)
            try:
                write_all(file, data)
            except OSError:
                with contextlib.suppress(OSError):  # the cut line is written again elsewhere
                    file.truncate(self._lengths.get(name, 0))
                raise

        with self._lock:
            self._written(write)
            self._lengths[name] = self._lengths.get(name, 0) + len(data)

    def list(self, name: str, kind: str, **more: Any) -> None:
        """Lists a file that exists; a listed file keeps its entry."""
        with self._lock:
            files: List[Dict[str, Any]] = self.facts["files"]
            if all(file["path"] != name for file in files):
                files.append({"path": name, "kind": kind, **more})

    def list_profiles(self, suffix: str) -> None:
        """Lists the files that the profilers have written since; adds a suffix to the name of their folder
        first."""
        known = {file["path"] for file in self.facts["files"]}
        for path in sorted(self.path.glob("**/plugins/profile/*")):
            inside = [entry.relative_to(self.path).as_posix() for entry in path.iterdir()]
            if suffix and not known.intersection(inside):
                path.rename(path.with_name(path.name + suffix))
        for path in sorted(self.path.glob("**/plugins/profile/*/*")):
            kind = "xplane" if path.name.endswith(".xplane.pb") else "profiler"
            self.list(path.relative_to(self.path).as_posix(), kind)
        for path in sorted(self.path.glob(f"{TRACES}/*.gz")):
            self.list(path.relative_to(self.path).as_posix(), "trace")

    def problem(self, what: str, seen: str, todo: str) -> None:
        """Records once that a piece is missing, and why."""
        record = {"what": what, "seen": seen, "todo": todo}
        if record not in self.facts["problems"]:
            self.facts["problems"].append(record)

    # --- another place -------------------------------------------------------------------------

    def check(self) -> None:
        """Moves the recording when its folder is full. For callers that write into the folder themselves."""

        def write() -> None:
            self.path.mkdir(parents=True, exist_ok=True)
            probe(self.path)

        with self._lock:
            self._written(write)

    def _written(self, write: Callable[[], None]) -> None:
        """Writes here, or in the first place that works."""
        for _ in range(MOST_TIMES):
            try:
                write()
                return
            except (FileNotFoundError, NotADirectoryError) as error:
                gone: OSError = error  # the program is removing the folder: it is made anew
            except OSError as error:
                gone = error
                break
        self._move(gone)
        write()

    def _move(self, error: OSError) -> None:
        """Moves the recording to the first place that can be written; raises the error when there is none."""
        old = self.path
        self._tried.add(str(old))
        for place in places():
            if place in self._tried:
                continue
            self._tried.add(place)
            try:
                new = Path(tempfile.mkdtemp(prefix=KEPT, dir=place))
            except OSError:
                continue
            try:
                self._take_to(new)
                probe(new)
            except OSError:
                self.path = old
                shutil.rmtree(str(new), ignore_errors=True)
                continue
            self._tried.add(str(new))
            self.problem(
                MOVED,
                f"{old}: {error.strerror or error}",
                f"it is in {new}; move it from there before that is cleaned up",
            )
            with contextlib.suppress(OSError):
                self._save()
                self._clear(old)
            self._moved(new)
            return
        raise error

    def _take_to(self, new: Path) -> None:
        """Copies listed files, from their place or from open files, and continues there. If the place is the
        same, the folder was removed: open files are written again."""
        kept = []
        opened: Dict[str, FileIO] = {}
        for fact in self.facts["files"]:
            name = fact["path"]
            data = self._read(name)
            if data is None:
                continue
            (new / name).parent.mkdir(parents=True, exist_ok=True)
            if name in self._open or new != self.path:
                write_whole(new / name, data)
            if name in self._open:
                opened[name] = open(str(new / name), "a+b", buffering=0)  # noqa: PTH123, SIM115
            kept.append(fact)
        for fact in self.facts["files"]:
            if fact not in kept:
                self.problem(
                    f"{fact['path']} is missing",
                    f"it was lost from {self.path} while the program ran",
                    "record into a folder that the program leaves alone",
                )
        self.close()
        self._open, self.path = opened, new
        self.facts["files"][:] = kept

    def _read(self, name: str) -> Optional[bytes]:
        """The content of a listed file; None when it is gone, or unreadable."""
        file = self._open.get(name)
        if file is not None:
            file.seek(0)
            data = b""
            while len(data) < self._lengths.get(name, 0):
                more = file.read(self._lengths[name] - len(data))
                if not more:
                    break  # the program has cut it
                data += more
            return data
        try:
            return (self.path / name).read_bytes()
        except OSError:
            return None

    def _clear(self, old: Path) -> None:
        """Removes moved files from a folder, and the folder if that leaves it empty."""
        for name in [*(fact["path"] for fact in self.facts["files"]), "capture.json"]:
            with contextlib.suppress(OSError):
                (old / name).unlink()
        for folder in sorted(old.glob("**/"), key=lambda path: -len(path.parts)):
            with contextlib.suppress(OSError):  # something else is in it
                folder.rmdir()


def write_whole(path: Path, data: bytes) -> None:
    """Writes a file under another name and renames it, so that no reader sees half of it."""
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        new.write_bytes(data)
        new.replace(path)
    except BaseException:
        if new.exists():
            new.unlink()
        raise


def text(value: Any, indent: Any = None) -> str:
    """A value as JSON."""
    # Text from the program, such as an argument, may hold halves of characters that UTF-8 cannot encode.
    encoded = json.dumps(value, indent=indent, ensure_ascii=False, default=str)
    return encoded.encode("utf-8", "backslashreplace").decode("utf-8")


_ASIDE = ("profiled_ns", "machine_ns", "stacks_ns")
"""Costs of work beside the steps, which takes no time from them."""


def stood_still_ns(cost: Mapping[str, Any]) -> int:
    """How long the program stopped for its recorder, in nanoseconds. cost: nanoseconds by piece, as in
    capture.json; other values than numbers count as 0."""
    return sum(ns for name, ns in cost.items() if name not in _ASIDE and isinstance(ns, int))
