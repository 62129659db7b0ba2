"""Answers of installed libraries, kept in the cache: asking one takes a child process and seconds.

An answer holds as long as the files that it was read from are the same builds: an ELF file has the same size
and build id, another file the same size and time.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stepscope import config, strict_json
from stepscope.errors import UnreadableSource
from stepscope.formats._elf import Elf

_VERSION = 1
"""Of what is kept; to be raised when answers change their form."""


def recall(what: str) -> Any | None:
    """The answer that was kept as `what`; None without one, or when a file has changed since."""
    try:
        found = strict_json.parse(_path(what).read_bytes())
        if found["what"] == what and all(known == _build(Path(known[0])) for known in found["files"]):
            return found["answer"]
    except (OSError, strict_json.OddJson, TypeError, KeyError, IndexError):
        return None  # not kept, not whole, or of files that are gone: it is asked again
    return None


def remember(what: str, files: Sequence[Path], answer: Any) -> None:
    """Keeps an answer that was read from these files. Where nothing can be written, it is asked again."""
    path = _path(what)
    with contextlib.suppress(OSError):
        kept = {"what": what, "files": [_build(file) for file in files], "answer": answer}
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}")
        part.write_text(json.dumps(kept), encoding="utf-8")
        part.replace(path)


def _path(what: str) -> Path:
    name = hashlib.sha256(f"{_VERSION} {what}".encode("utf-8", "surrogateescape")).hexdigest()[:32]
    return config.cache_dir() / "libraries" / f"{name}.json"


def _build(file: Path) -> list[Any]:
    """Path, size and build id of a file; without a build id, its time."""
    status = file.stat()
    try:
        with Elf(file) as elf:
            build = elf.build_id
    except UnreadableSource:
        build = None
    return [str(file), status.st_size, build or status.st_mtime_ns]
