"""Facts in names: the step, the rank, the host, and the run a file belongs to."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

PACKINGS = (".gz", ".gzip", ".bz2", ".xz")
ARCHIVES = (".tar", ".tgz", ".tbz2", ".txz", ".zip")

_STEP = (
    re.compile(r"(?<![a-z])step[-_]?(\d{1,9})(?!\d)", re.IGNORECASE),
    re.compile(r"(?:timeline|run_?meta(?:data)?)[-_.]?(\d{1,9})(?!\d)", re.IGNORECASE),
)
_LAST_NUMBER = re.compile(r"([a-z]+(?:[-_.][a-z]+)*)[-_.](\d{1,7})(?:\.[a-z]+)?", re.IGNORECASE)
"""A name of words and one number, as rm_4.pb; a longer number is a date."""
_PROCESSES = re.compile(
    r"(rank|worker|replica|ps|task|process|proc|pid|host|node|gpu|tpu|device|shard|part|v)$", re.I
)
"""Words whose number counts no steps."""
_RANK = re.compile(r"(?<![a-z])(?:rank|worker|replica)[-_]?(\d{1,6})(?!\d)", re.IGNORECASE)
_EVENTS = re.compile(r"events\.out\.tfevents\.\d+\.(.+?)(?:\.\d+\.\d+)?(?:\.v2|\.profile-empty)?$")
_TORCH = re.compile(r"(.+?)_\d+\.\d+\.pt\.trace\.json$")
_HOST_FILE = re.compile(r"(.+?)\.(?:xplane\.pb|trace\.json)$")
_ASCEND = ("_ascend_pt", "_ascend_ms")
"""What names of folders end in that profilers of Ascend write."""
_ASCEND_RANK = re.compile(r"profiler_info_(\d{1,6})\.json")
_SLUG = re.compile(r"[^a-z0-9._-]+")
_SAID = re.compile(r"(run|host|rank)=(.+)")
_DIGITS = 10
"""Hexadecimal digits that stand for a whole path: 40 bits, so that two of 100,000 runs with the same short
name have the same digits in one of 200 lakes."""


def packless(name: str) -> str:
    """The name without the suffixes of packings: x.json.gz is x.json."""
    while name.lower().endswith(PACKINGS):
        name = name[: name.rindex(".")]
    return name


def claims(name: str) -> str:
    """What a name without packing says that the file is, where only recordings are called so; else empty."""
    return "an XPlane" if name.lower().endswith(".xplane.pb") else ""


def step(name: str) -> int | None:
    """The number of the step: 15 for timeline-15.json, 5 for run_meta_0005.pb, 4 for rm_4.pb."""
    if not _numbered(name):
        return None
    for pattern in _STEP:
        if match := pattern.search(name):
            return int(match[1])
    match = _last_number(packless(name))
    return int(match[2]) if match else None


def _last_number(name: str) -> re.Match[str] | None:
    match = _LAST_NUMBER.fullmatch(name)
    return match if match and not _PROCESSES.search(match[1]) else None


def rank(name: str) -> int | None:
    """The number of the process: 3 for rank-3.json."""
    match = _RANK.search(name) if _numbered(name) else None
    return int(match[1]) if match else None


def host(name: str, in_profile: bool) -> str | None:
    """The host, as event files, TensorBoard's profile folders and torch's handler write it."""
    if _numbered(name) and (match := _EVENTS.match(name) or _TORCH.match(name)):
        return match[1]
    if in_profile or name.endswith(".xplane.pb"):
        match = _HOST_FILE.match(name)
        if match and match[1] != "perfetto_trace":
            return match[1]
    return None


def labels_in(folder: PurePosixPath) -> dict[str, str]:
    """What parts of a path such as run=baseline/host=worker-3 say, by key; the innermost wins."""
    found: dict[str, str] = {}
    for part in folder.parts if "=" in str(folder) else ():
        if match := _SAID.fullmatch(part):
            value = match[2]
            if "%" in value:  # as Hive writes characters that folders should not have
                from urllib.parse import unquote

                value = unquote(value)
            found[match[1]] = value
    return found


def place_of(url: str) -> PurePosixPath:
    """A URL as a path, so that folders above it can be asked for: s3://bucket/run as s3:/bucket/run."""
    return PurePosixPath(url)


def url_of(place: PurePosixPath) -> str:
    """A path from place_of() as a URL again; other paths as they are."""
    scheme, colon, rest = str(place).partition(":/")
    return f"{scheme}://{rest}" if colon and "/" not in scheme else str(place)


def strip_host(folder: PurePosixPath) -> PurePosixPath:
    """The path without the parts that say a host or a rank: what belongs to one run on all hosts."""
    if "=" not in str(folder):
        return folder
    parts = [part for part in folder.parts if not part.startswith(("host=", "rank="))]
    return PurePosixPath(*parts)


def stem(name: str, endings: Iterable[str], sessions: bool = False) -> str:
    """What is left of a file name without packing, the first of the endings that it has, step and rank; may
    be empty. sessions: it holds runs of a session, so that the last number is a step's."""
    name = packless(name)
    ending = next((ending for ending in endings if name.lower().endswith(ending)), "")
    name = name[: len(name) - len(ending)]
    for pattern in (*_STEP, _RANK) if _numbered(name) else ():
        if match := pattern.search(name):
            word = re.sub(r"[-_.]?\d+$", "", match[0])
            keep = "" if pattern in (_STEP[0], _RANK) else word
            name = name[: match.start()] + keep + name[match.end() :]
    if sessions and (last := _last_number(name)):
        name = last[1]
    return name.strip("-_. ")


def _numbered(name: str) -> bool:
    """Whether there is a digit in it, which spares looking for numbers by pattern."""
    return any(letter.isdigit() for letter in name)


def profile_folder(folder: PurePosixPath) -> tuple[PurePosixPath, str] | None:
    """The run's folder and the capture's date of .../plugins/profile/<date>; None for other folders."""
    parts = folder.parts
    for at in range(len(parts) - 2):
        if parts[at] == "plugins" and parts[at + 1] == "profile":
            return PurePosixPath(*parts[:at]), parts[at + 2]
    return None


def recording_folder(folder: PurePosixPath) -> PurePosixPath:
    """The folder itself, or the one above it that a profiler of Ascend names: what it writes lies in folders
    within, some of it twice."""
    if "_ascend_" not in str(folder):
        return folder
    return next((part for part in (folder, *folder.parents) if part.name.endswith(_ASCEND)), folder)


def rank_within(folder: PurePosixPath, name: str) -> int | None:
    """The number of the process whose whole recording a folder holds, where the name of a file within tells
    it, as profilers of Ascend write one: 3 for profiler_info_3.json."""
    match = _ASCEND_RANK.fullmatch(name) if folder.name.endswith(_ASCEND) else None
    return int(match[1]) if match else None


def recorded_rank(folder: PurePosixPath, ranks: Mapping[PurePosixPath, int]) -> int | None:
    """The number of the process whose whole recording a folder holds: 3 for rank3_ascend_pt. ranks: those
    that a file within tells."""
    if not folder.name.endswith(_ASCEND):
        return None
    by_name = rank(folder.name)
    return ranks.get(folder) if by_name is None else by_name


def run_folder(folder: PurePosixPath, ranks: Mapping[PurePosixPath, int]) -> PurePosixPath:
    """The folder itself, the one of the whole recording, or the one above folders of checkpoints, whose graph
    is the run's. ranks: as for recorded_rank."""
    folder = recording_folder(folder)
    if recorded_rank(folder, ranks) is not None:
        folder = folder.parent
    while folder.name.lower().startswith(("ckpt", "checkpoint")):
        folder = folder.parent
    return folder


def slug(name: str, prefix: str) -> str:
    """A name made of [a-z0-9._-] beginning with a letter, as partitions of a lake need it."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    plain = _SLUG.sub("-", plain).strip("-._")
    if not plain:
        plain = _digest(name)
    if not plain[0].isalpha():
        plain = f"{prefix}-{plain}"
    return plain if len(plain) <= 100 else f"{plain[:93]}-{_digest(name)[:6]}"


def lasting_slug(name: str, prefix: str) -> str:
    """A slug that no other name has, whatever other names there are: what `slug` loses, digits keep."""
    plain = slug(name, prefix)
    if plain in (name.lower(), f"{prefix}-{name.lower()}"):
        return plain
    return f"{plain[:80]}-{_digest(name)[:_DIGITS]}"


def slug_of_path(path: PurePosixPath, prefix: str) -> str:
    """The last part of a path, readable, with digits that stand for all of it."""
    return f"{slug(path.name or prefix, prefix)[:80]}-{_digest(str(path))[:_DIGITS]}"


def unique_slugs(keys: Iterable[tuple[str, str]], prefix: str) -> dict[tuple[str, str], tuple[str, str]]:
    """Name and slug for each (name, path), different for different keys whatever their order.

    Names that clash get the folders above them, as many as tell them apart, then a digest of the path.
    """
    todo = sorted(set(keys))
    result: dict[tuple[str, str], tuple[str, str]] = {}
    for extra in range(5):
        names = {key: _longer(*key, extra) for key in todo}
        slugs = {key: slug(name, prefix) for key, name in names.items()}
        taken = list(slugs.values()) + [found[1] for found in result.values()]
        for key in [key for key in todo if taken.count(slugs[key]) == 1]:
            result[key] = (names[key], slugs[key])
            todo.remove(key)
    for key in todo:
        result[key] = (key[0], f"{slug(key[0], prefix)[:90]}-{_digest(repr(key))[:8]}")
    return result


def _longer(name: str, path: str, extra: int) -> str:
    if extra == 0:
        return name
    above = PurePosixPath(path).parts
    depth = len(PurePosixPath(name).parts)
    # The last parts of the path are the name itself where the run is a folder.
    end = len(above) - depth if "/".join(above).endswith(name) else len(above)
    return "/".join((*above[max(0, end - extra) : end], name)).lstrip("/")


def _digest(text: str) -> str:
    import hashlib

    return hashlib.blake2b(text.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
