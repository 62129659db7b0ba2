"""The messages of `tensorflow.ProfilerService/Profile`, as far as we write and read them.

Servers of today (TensorFlow 2.21, JAX 0.10) send the XSpace in the reply when `emit_xspace` asks for it.
Older ones do not know that field: they save it as `<repository_root>/<session_id>/<host_name>.xplane.pb` on
their own disk, and the reply only says whether it is empty. Still older ones send files in `tool_data`.
"""

from typing import NamedTuple

from stepscope import protobuf
from stepscope.protobuf import record

METHOD = "/tensorflow.ProfilerService/Profile"

_OPTIONS_VERSION = 1
"""Of ProfileOptions: with 0, servers take their own levels."""


class Levels(NamedTuple):
    """What tracers record: 0 nothing, 1 what users marked, 2 and 3 more. The defaults are TensorBoard's."""

    host: int = 2
    device: int = 1
    python: int = 0


class Reply(NamedTuple):
    """What a server answered. xspace: b"" when it is not in the reply. tools: names and bytes of files.
    empty: the server saw no event."""

    xspace: bytes
    tools: tuple[tuple[str, bytes], ...]
    empty: bool


def request(
    duration_ms: int,
    session: str,
    host: str,
    repository: str,
    levels: Levels = Levels(),  # noqa: B008
) -> bytes:
    """A ProfileRequest. session, host, repository: where a server that saves the profile itself puts it."""
    options = b"".join(
        (
            _number(5, _OPTIONS_VERSION),
            _number(2, levels.host),
            _number(3, levels.device),
            _number(4, levels.python),
            _number(7, 1),  # enable_hlo_proto: compiled programs are in the profile
            _number(9, duration_ms),
        )
    )
    return b"".join(
        (
            _number(1, duration_ms),
            record(4, options),
            record(5, repository.encode("utf-8", "surrogateescape")),
            record(6, session.encode("utf-8")),
            record(7, host.encode("utf-8")),
            _number(9, 1),  # emit_xspace
        )
    )


def reply(data: bytes) -> Reply:
    """A ProfileResponse. ValueError when the bytes are none."""
    xspace, tools, empty = b"", [], False
    for number, wire, body in protobuf.whole(data):
        if number == 8 and wire == 2:
            xspace += bytes(body)  # a message in two parts is their sum
        elif number == 7 and wire == 0:
            empty = any(body)
        elif number == 6 and wire == 2:
            tools.append(_tool(body))
    return Reply(xspace, tuple(tools), empty)


def _tool(data: memoryview) -> tuple[str, bytes]:
    name, held = "", b""
    for number, wire, body in protobuf.whole(data):
        if number == 1 and wire == 2:
            name = protobuf.text(body)
        elif number == 2 and wire == 2:
            held = bytes(body)
    return name, held


def _number(field: int, value: int) -> bytes:
    """A field of a whole number; 0 is the default and takes no bytes."""
    return record(field, value) if value else b""
