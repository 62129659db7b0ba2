"""What users give as a path, before it is searched: a URL, a checkpoint's prefix, a lake, or nonsense."""

import re
from collections.abc import Sequence
from pathlib import Path

from stepscope.errors import UsageError
from stepscope.sources.inspection import is_regular

LAKE_MARK = "stepscope-lake.json"
"""A folder with this file is a lake; it is opened as one and never searched."""

CHECKPOINT_VALUES = re.compile(r"(.+)\.data-\d{5}-of-\d{5}")
"""Names of the files that hold the values of a checkpoint, behind its prefix."""

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")


def is_lake(folder: Path) -> bool:
    """True for a folder that stepscope made a lake of."""
    try:
        return (folder / LAKE_MARK).is_file()
    except PermissionError:  # whoever reads it says so
        return False


def is_url(given: str) -> bool:
    """True for what is fetched, such as s3://bucket/run."""
    return "://" in given and re.match(r"[a-z][a-z0-9+.-]+://", given) is not None


def local_lake(given: str) -> Path:
    """The folder of a lake. UsageError for a URL, also for one that lost a slash: it must not become a folder
    called s3: either."""
    if _URL.match(given):
        raise remote_lake(given)
    return Path(given)


def remote_lake(given: str) -> UsageError:
    """The error for a lake that is neither on this machine nor in a store that has lakes."""
    return UsageError(
        "A lake must be a local folder, or lie in an object store.",
        seen=f"{given} is a URL",
        todo="give a folder, or a URL that begins with s3://, gs:// or az://, for which "
        "pip install 'stepscope[stores]' brings what is needed",
        path=given,
    )


def checkpoint_index(path: Path) -> Path | None:
    """The index of the checkpoint that a prefix (model.ckpt-14) or a file of values stands for."""
    values = CHECKPOINT_VALUES.fullmatch(path.name) if ".data-" in path.name else None
    index = path.with_name(f"{values[1] if values else path.name}.index")
    return index if (values or not is_regular(path)) and is_regular(index) else None


def look_up(paths: Sequence[str]) -> None:
    """UsageError for a path that the system refuses to look up: too long, with a NUL, or in a closed folder.

    A name that is not there may be the prefix of a checkpoint: `find` says so of the others.
    """
    for given in paths:
        if not given:
            raise UsageError(
                "An empty path names nothing.",
                seen="a path without a character, as of a variable of the shell that is not set",
                todo="give a file or a folder; . is the folder where you are",
            )
        try:
            if given != "-" and not (is_url(given) and "\x00" not in given):
                Path(given).stat()
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError) as error:
            raise UsageError(
                "A path cannot be looked up.",
                seen=getattr(error, "strerror", None) or str(error),
                todo="check the spelling, and that you may read the folders that it names",
                path=given,
            ) from error
