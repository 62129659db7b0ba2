"""A folder that `stepscope record` wrote: its files are one capture of one run on one host.

The folder is known by its `capture.json`. What is in it and not a recording of its own (models of the
input pipeline, the chain of datasets, samples of the machine and of stacks, times of steps) is handed to the
decoder together with `capture.json`; recordings in it (XPlane, run metadata, graphs) stay sources, of that
run.
"""

import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from stepscope import strict_json
from stepscope.sources.source import ByteLocation, Piece, Source

MARK = "capture.json"
KIND = "capture"
TRACES = "torch"
"""The folder of the traces of PyTorch's profiler."""
STEPS, STACKS = "steps.ndjson", "stacks.ndjson"
RING = "ring"
"""The folder within a capture's of those that the recorder kept of single moments."""
_MOST_BYTES = 16 << 20
"""Of a capture.json; they have a few KB."""

_PIECE = (
    r"(?:op_log\.pb|(?:machine|garbage|steps|phases|stacks|memory|compilations)\.ndjson"
    r"|live\.json|stacks-on-signal\.txt|hang-\d+\.txt|ring/[^/]+/(?:capture\.json|[^/]*\.ndjson)"
    r"|pipeline/(?:models\.ndjson|datasets\.json|[^/]*\.pb))"
)
_PIECES = re.compile(_PIECE)
_ENDS = re.compile(rf"(?:^|/){_PIECE}$")


def outer(homes: Sequence[str]) -> list[str]:
    """The folders of captures, without those that another one kept of single moments: these are read by
    themselves, since they are about what was out of the ordinary."""
    places = {PurePosixPath(home) for home in homes}
    return [
        home
        for home in homes
        if (place := PurePosixPath(home)).parent.name != RING or place.parent.parent not in places
    ]


def home_of(folder: str, homes: Sequence[str]) -> str | None:
    """The innermost of some captures' folders that a folder is, or lies in."""
    place = PurePosixPath(folder)
    inside = [home for home in homes if place.is_relative_to(home)]
    return max(inside, key=len, default=None)


def piece_name(folder: str, name: str, home: str) -> str | None:
    """The name of a file within the capture at `home` if it is a piece of it, else None."""
    relative = str((PurePosixPath(folder) / name).relative_to(home))
    return relative if _PIECES.fullmatch(relative) else None


def may_be_piece(path: str) -> bool:
    """Whether a path ends as those of pieces do: only the capture's folder can tell for sure."""
    return _ENDS.search(path) is not None


def joined(
    placed: Sequence[tuple[Source, str]], pieces: dict[str, list[Piece]], homes: Sequence[str]
) -> list[tuple[Source, str]]:
    """Sources with their folders, those of one capture made to belong together, with their pieces.

    The times of the steps go to the capture's XPlane, which may have no marks of steps; PyTorch's trace has
    marks. Where there is neither they stay with the capture. They go to runs of a session that were traced in
    full, too, which count for less beside steps that an XPlane or samples of stacks tell of.
    """
    leaders = {folder: source for source, folder in placed if source.traits.kind == KIND}
    hosts: dict[str, str] = {}
    traced: set[str] = set()
    for source, folder in placed:
        home = home_of(folder, homes)
        if home is not None and (source.traits.steps == "within" or _is_of_pytorch(folder, home)):
            traced.add(home)
            hosts.setdefault(home, source.host_name)
    result = []
    for source, folder in placed:
        home = home_of(folder, homes)
        if home is not None:
            leader = leaders[home]
            if home not in hosts:
                known = leader.host_name
                hosts[home] = host_in(leader.spooled or leader.bytes) if known == "unknown" else known
            host = hosts[home]
            source = source._replace(
                run_name=leader.run_name,
                run_path=leader.run_path,
                run_said=leader.run_said,
                host_name=host if source.host_name == "unknown" else source.host_name,
                pieces=_share(source, pieces.get(home, []), home in traced),
            )
        result.append((source, folder))
    return result


def _is_of_pytorch(folder: str, home: str) -> bool:
    """Whether a folder is that of the traces of PyTorch's profiler in the capture at `home`."""
    return PurePosixPath(folder) == PurePosixPath(home) / TRACES


def host_in(place: ByteLocation) -> str:
    """The host that a capture.json names; unknown when it cannot be told without unpacking.

    Without it, recordings that name no host would be taken for those of another machine.
    """
    if place.unpack or place.codec != "plain":
        return "unknown"
    try:
        with Path(place.path).open("rb") as file:
            file.seek(place.offset)
            size = _MOST_BYTES if place.length is None else min(place.length, _MOST_BYTES)
            record = strict_json.parse(file.read(size), lenient=True)
    except (OSError, strict_json.OddJson):
        return "unknown"  # decoding it says what is wrong
    host = record.get("host") if isinstance(record, dict) else None
    return host if isinstance(host, str) and host else "unknown"


def _share(source: Source, pieces: Sequence[Piece], traced: bool) -> tuple[Piece, ...]:
    if source.traits.kind == KIND:
        return tuple(piece._replace(told_elsewhere=traced and piece.name == STEPS) for piece in pieces)
    sampled = any(piece.name == STACKS for piece in pieces)
    if source.traits.steps == "within" or (source.traits.steps == "beside" and (traced or sampled)):
        return tuple(piece for piece in pieces if piece.name == STEPS)
    return ()
