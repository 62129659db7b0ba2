"""Paths that no engine takes for a pattern of file names."""

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

from stepscope.errors import LakeError

_PLAIN = re.compile(r"[^*?\[\]\\\x00-\x1f\ud800-\udfff]+")


@contextlib.contextmanager
def plain_folder(folder: Path) -> Iterator[Path]:
    """A path to the folder that no engine takes for a pattern: its own, or a link that lasts as long as the
    block. LakeError when there is no place for the link."""
    if _PLAIN.fullmatch(str(folder)):
        yield folder
        return
    import tempfile

    with tempfile.TemporaryDirectory(prefix="stepscope-lake-") as place:
        if not _PLAIN.fullmatch(place):
            raise LakeError(
                "The path of the lake cannot be read.",
                seen="characters in it that stand for patterns of file names, or are not UTF-8",
                todo="rename the folder, or set TMPDIR to one with a plain name",
                path=str(folder),
            )
        link = Path(place, "lake")
        link.symlink_to(folder)
        yield link
