"""Answers of profiler servers, where TensorBoard looks: plugins/profile/<time>/<host>.xplane.pb."""

import hashlib
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from stepscope.capture.folder import write_whole
from stepscope.errors import OutputError, StepscopeError
from stepscope.formats import xplane
from stepscope.profilers import client
from stepscope.profilers.client import Address, ServerReply
from stepscope.profilers.messages import Levels

_ENDING = ".xplane.pb"
_HEAD_BYTES = 4096


class HostProfile(NamedTuple):
    """One host's part of a capture: a file, or an error."""

    capture: str
    """The time in UTC that names its folder."""
    address: str
    path: str | None
    bytes: int | None
    sent_unix_ns: int | None
    seconds: float
    error: StepscopeError | None


def capture(
    asked: Sequence[Address],
    folder: Path,
    seconds: float,
    *,
    levels: Levels = Levels(),  # noqa: B008
    timeout: float = 30.0,
) -> list[HostProfile]:
    """Asks all servers at the same moment and writes what they answer below a folder, which may have other
    captures already. A profile for each server, in their order.

    OutputError when the folder cannot be written.
    """
    profiles = folder / "plugins" / "profile"
    place = _new_folder(profiles)
    try:
        answers = client.ask(
            asked,
            seconds,
            session=place.name,
            repository=str(profiles.absolute()),
            levels=levels,
            timeout=timeout,
        )
        return [_host_profile(answer, place) for answer in answers]
    finally:
        if place.is_dir() and not any(place.iterdir()):
            place.rmdir()  # no host answered: nothing is left that looks like a capture


def run_name(asked: Sequence[Address]) -> str:
    """What runs of the same servers are called, before the time: their first host, and digits for all."""
    every = sorted(map(str, asked))
    digits = hashlib.blake2b("\n".join(every).encode("utf-8"), digest_size=5).hexdigest()
    return f"{client.names_of(asked)[0].lower()}-{digits}"


def _new_folder(profiles: Path) -> Path:
    """A folder named after now, as no other capture has it."""
    now = time.strftime("%Y_%m_%d_%H_%M_%S", time.gmtime())
    number = 0
    while True:
        place = profiles / (f"{now}_{number}" if number else now)
        try:
            place.mkdir(parents=True)
        except FileExistsError:
            number += 1
            continue
        except OSError as error:
            raise _cannot_write(place, error) from error
        return place


def _host_profile(answer: ServerReply, place: Path) -> HostProfile:
    path = place / (answer.name + _ENDING)
    error = answer.error
    if error is None:
        error = _saved(answer, path)
    size = None if error is not None else path.stat().st_size
    return HostProfile(
        place.name,
        str(answer.address),
        None if error is not None else str(path),
        size,
        answer.sent_unix_ns,
        round(answer.seconds, 3),
        error,
    )


def _saved(answer: ServerReply, path: Path) -> StepscopeError | None:
    """Writes the XSpace of a reply; an error when there is none."""
    assert answer.reply is not None
    data = answer.reply.xspace or next(
        (held for name, held in answer.reply.tools if name.endswith("xplane.pb")), b""
    )
    if not data and path.is_file():
        return None  # an older server saved it itself, on this machine or a disk that both see
    if answer.reply.empty or (not data and not answer.reply.tools):
        return _none(answer, path)
    if not data or not xplane.sniff(data[:_HEAD_BYTES], path.name):
        other = ", ".join(name[:60] for name, _ in answer.reply.tools[:5])
        return StepscopeError(
            f"The profiler server {answer.address} answered with something else than a profile",
            seen=f"files of other tools: {other}"
            if not data
            else f"{len(data):,} bytes that are not an XSpace",
            todo="check that the port is that of a profiler server, and update the framework where it is old",
            slug="profiler-odd",
        )
    try:
        write_whole(path, data)
    except OSError as error:
        raise _cannot_write(path, error) from error
    return None


def _none(answer: ServerReply, path: Path) -> StepscopeError:
    assert answer.reply is not None
    if answer.reply.empty:
        return StepscopeError(
            f"The profile of {answer.address} is empty",
            seen="the server says that no event was recorded",
            todo="record for longer than a step takes, while the program works",
            slug="profiler-empty",
        )
    return StepscopeError(
        f"The profile of {answer.address} is on its own disk",
        seen=f"a reply without the profile, as older servers give; there, it should be {path.absolute()}",
        todo="copy the file from there, give --out a folder on a disk that both machines see, or update the "
        "framework",
        slug="profiler-saved-elsewhere",
    )


def _cannot_write(path: Path, error: OSError) -> OutputError:
    return OutputError(
        "The profile cannot be written",
        seen=error.strerror or str(error),
        todo="free space, or give --out another folder",
        slug="cannot-write",
        path=str(path),
    )
