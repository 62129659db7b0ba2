"""The file stepscope-lake.json: it makes a folder a lake, and says of which version its tables are.

    {"schema_version": 1, "made_by": "stepscope 0.1.0"}

Versions count from the first release. The mark of a lake from before it lacks `made_by`, so its number,
whatever it is, is not taken for one of ours.
"""

import json
import re
from pathlib import Path
from typing import NamedTuple

from stepscope import __version__, strict_json
from stepscope.errors import LakeError
from stepscope.lake.schema import schema
from stepscope.sources.user_paths import LAKE_MARK

MADE_BY = f"stepscope {__version__}"
_MADE_BY = re.compile(r"stepscope [0-9][0-9A-Za-z.+-]{0,40}")
INGEST_ANEW = "make a new lake of its recordings: stepscope ingest PATH --lake DIR"


class _Mark(NamedTuple):
    """The content of the file."""

    schema_version: int
    made_by: str


class _OldMark(NamedTuple):
    """The content before the first release."""

    schema_version: int


def written() -> bytes:
    """The mark of a new lake."""
    return json.dumps(_Mark(schema().version, MADE_BY)._asdict()).encode()


def other_contents(place: str, what: str) -> LakeError:
    """The error for a folder or a store that holds what is not a lake's."""
    return LakeError(
        f"{place} is not a lake, and it is not empty.",
        seen=f"{what} that stepscope did not write",
        todo="name a new folder for the lake",
        path=place,
    )


def check(folder: Path) -> None:
    """LakeError unless the folder is a lake of this version's schema."""
    path = folder / LAKE_MARK
    try:
        found = strict_json.read(path)
        if isinstance(found, dict) and found.keys() == {"schema_version"}:
            old = strict_json.record(_OldMark, found)
            raise unreleased_version("lake was written", old.schema_version, INGEST_ANEW, str(folder))
        mark = strict_json.record(_Mark, found)
        if not _MADE_BY.fullmatch(mark.made_by):
            raise strict_json.OddJson(f"'made_by' is {mark.made_by[:60]!r}")
    except FileNotFoundError:
        raise LakeError(
            f"{folder} is not a lake.",
            seen=f"no {LAKE_MARK} in it",
            todo="stepscope ingest PATH --lake DIR makes one",
            path=str(folder),
        ) from None
    except (OSError, strict_json.OddJson) as error:
        raise LakeError(
            "The mark of the lake cannot be read.",
            seen=str(error),
            todo=f"write {written().decode()} into it if the lake is of this version",
            path=str(path),
        ) from None
    if mark.schema_version != schema().version:
        version, made_by = mark
        raise other_version("lake was written", version, made_by, INGEST_ANEW, str(folder))


def unreleased_version(what: str, version: int, todo: str, path: str) -> LakeError:
    """The error for tables whose version is counted as before the first release. what: such as "lake was
    written"; todo: what to do instead of reading them."""
    return LakeError(
        f"The {what} by a stepscope from before its first release.",
        seen=f"schema version {version}, counted as before 0.1.0; this stepscope reads those of releases",
        todo=todo,
        path=path,
    )


def other_version(what: str, version: int, made_by: str, todo: str, path: str) -> LakeError:
    """The error for tables of another version. todo: what to do when it is an older one."""
    newer = version > schema().version
    return LakeError(
        f"The {what} by {'a newer' if newer else 'an older'} stepscope.",
        seen=f"schema version {version}, by {made_by}; this stepscope knows {schema().version}",
        todo="pip install --upgrade stepscope" if newer else todo,
        path=path,
    )
