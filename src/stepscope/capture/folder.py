"""The capture folder: capture.json, replaced as a whole whenever a piece is complete, and what it lists.

The layout is described in docs/capture-format.md. A program that dies leaves the state of the last
complete piece; lines of .ndjson files go out one by one.
"""

import contextlib
import json
import os
import threading
from pathlib import Path
from typing import Any, BinaryIO, Dict, List

FORMAT = 1


class Folder:
    """Writes a capture folder. facts: what capture.json says, changed in place and written by save()."""

    def __init__(self, path: str, facts: Dict[str, Any]) -> None:
        self.path = Path(path).absolute()
        self.facts: Dict[str, Any] = {"format": FORMAT, **facts}
        self.facts.setdefault("files", [])
        self.facts.setdefault("problems", [])
        self._open: Dict[str, BinaryIO] = {}
        self._lock = threading.RLock()

    def save(self) -> None:
        """Replaces capture.json."""
        with self._lock:
            self.path.mkdir(parents=True, exist_ok=True)
            write_whole(self.path / "capture.json", text(self.facts, indent=1).encode("utf-8") + b"\n")

    def close(self) -> None:
        """Closes the .ndjson files."""
        with self._lock:
            while self._open:
                self._open.popitem()[1].close()

    def start_again(self, facts: Dict[str, Any]) -> None:
        """Takes what was recorded away; what was compiled stays, since it tells of the whole program."""
        kept = "compilations.ndjson"
        with self._lock:
            for name in [name for name in self._open if name != kept]:
                self._open.pop(name).close()
            files: List[Dict[str, Any]] = self.facts["files"]
            for one in files:
                if one["path"] != kept:
                    with contextlib.suppress(FileNotFoundError):
                        (self.path / one["path"]).unlink()
            for folder in sorted(self.path.glob("**/"), key=lambda path: -len(path.parts)):
                if folder != self.path and not any(folder.iterdir()):
                    folder.rmdir()
            problems = self.facts["problems"]
            self.facts.clear()
            self.facts.update({"format": FORMAT, **facts, "problems": problems})
            self.facts["files"] = [one for one in files if one["path"] == kept]

    def add(self, name: str, kind: str, data: bytes, **more: Any) -> None:
        """Writes a file and lists it."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, data)
        self.list(name, kind, **more)

    def add_json(self, name: str, kind: str, value: Any) -> None:
        """Writes a JSON file and lists it."""
        self.add(name, kind, text(value, indent=1).encode("utf-8") + b"\n")

    def line(self, name: str, kind: str, value: Dict[str, Any]) -> None:
        """Adds a line to an .ndjson file, on disk at once."""
        self.lines(name, kind, text(value).encode("utf-8") + b"\n")

    def lines(self, name: str, kind: str, data: bytes) -> None:
        """Adds whole lines to an .ndjson file, on disk at once."""
        with self._lock:
            file = self._open.get(name)
            if file is None:
                path = self.path / name
                path.parent.mkdir(parents=True, exist_ok=True)
                file = self._open[name] = path.open("ab", buffering=0)
                self.list(name, kind)
            file.write(data)

    def list(self, name: str, kind: str, **more: Any) -> None:
        """Lists a file that is there; a file that is listed stays as it was listed."""
        with self._lock:
            files: List[Dict[str, Any]] = self.facts["files"]
            if all(one["path"] != name for one in files):
                files.append({"path": name, "kind": kind, **more})

    def list_profiles(self, suffix: str) -> None:
        """Lists what the profilers have written since; adds a suffix to the name of its folder first."""
        known = {file["path"] for file in self.facts["files"]}
        for path in sorted(self.path.glob("**/plugins/profile/*")):
            inside = [one.relative_to(self.path).as_posix() for one in path.iterdir()]
            if suffix and not known.intersection(inside):
                path.rename(path.with_name(path.name + suffix))
        for path in sorted(self.path.glob("**/plugins/profile/*/*")):
            kind = "xplane" if path.name.endswith(".xplane.pb") else "profiler"
            self.list(path.relative_to(self.path).as_posix(), kind)

    def problem(self, what: str, seen: str, todo: str) -> None:
        """States what is missing and why, once."""
        told = {"what": what, "seen": seen, "todo": todo}
        if told not in self.facts["problems"]:
            self.facts["problems"].append(told)


def write_whole(path: Path, data: bytes) -> None:
    """Writes a file under another name and renames it, so that nobody sees a half of it."""
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
    # Text from the program, such as an argument, may hold halves of characters that UTF-8 cannot say.
    told = json.dumps(value, indent=indent, ensure_ascii=False, default=str)
    return told.encode("utf-8", "backslashreplace").decode("utf-8")
