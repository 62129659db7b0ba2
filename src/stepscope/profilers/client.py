"""Many profiler servers asked at the same moment, and what became of each.

All are connected to first, so that the requests leave together: hosts record the same steps. A host that is
down, slow, busy or answers nonsense costs its own profile only.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from stepscope.errors import StepscopeError, UsageError
from stepscope.profilers import messages
from stepscope.profilers.messages import Levels, Reply

if TYPE_CHECKING:
    import grpc

CONNECT_SECONDS = 5.0
"""To connect to all servers; those that take longer are left out."""
MOST_REPLY_BYTES = 1 << 30
"""Of one server's reply. It is held in memory."""
_ADDRESS = re.compile(r"(?:\[([0-9A-Fa-f:.%]+)\]|([^\s:/\[\]]+)):([0-9]{1,5})")


class Address(NamedTuple):
    """Where a profiler server listens."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class ServerReply(NamedTuple):
    """What became of one server: its reply, or an error."""

    address: Address
    name: str
    """Unique among the servers asked together; names its file."""
    reply: Reply | None
    error: StepscopeError | None
    sent_unix_ns: int | None
    """When the request left; None without a connection."""
    seconds: float
    """From then to the end of the reply."""


def addresses(words: Sequence[str]) -> list[Address]:
    """HOST:PORT, or [IPv6]:PORT, each once. UsageError for anything else."""
    found: list[Address] = []
    for word in words:
        match = _ADDRESS.fullmatch(word)
        if match is None or not 1 <= int(match[3]) <= 65535:
            raise UsageError(
                "This is not the address of a profiler server",
                seen=repr(word[:100]),
                todo="give HOST:PORT, with the port that the program passed to start_server()",
            )
        address = Address(match[1] or match[2], int(match[3]))
        if address not in found:
            found.append(address)
    return found


def names_of(asked: Sequence[Address]) -> list[str]:
    """A name for each server, fit for a file: its host, with the port where a host has several."""
    hosts = [re.sub(r"[^A-Za-z0-9._-]", "-", address.host).lstrip(".") or "host" for address in asked]
    return [
        host if hosts.count(host) == 1 else f"{host}_{address.port}"
        for host, address in zip(hosts, asked, strict=True)
    ]


def ask(
    asked: Sequence[Address],
    seconds: float,
    *,
    session: str,
    repository: str,
    levels: Levels = Levels(),  # noqa: B008
    timeout: float = 30.0,
) -> list[ServerReply]:
    """Asks all servers for a profile of so many seconds. timeout: seconds beyond these for a reply to arrive.

    session, repository: see messages.request(). UsageError when grpcio is not installed.
    """
    rpc = _grpc()
    names = names_of(asked)
    channels = [_channel(rpc, address) for address in asked]
    try:
        ready = [rpc.channel_ready_future(channel) for channel in channels]
        until = time.monotonic() + min(CONNECT_SECONDS, timeout)
        connected = [_is_ready(rpc, future, until) for future in ready]
        calls: list[Any] = []
        for name, channel, is_there in zip(names, channels, connected, strict=True):
            if not is_there:
                calls.append(None)
                continue
            call = channel.unary_unary(messages.METHOD)
            wanted = messages.request(round(seconds * 1000), session, name, repository, levels)
            calls.append((time.time_ns(), call.future(wanted, timeout=seconds + timeout)))
        begun = time.monotonic()
        waits = min(CONNECT_SECONDS, timeout)
        return [
            _answer(rpc, address, name, call, begun, waits if call is None else seconds + timeout)
            for address, name, call in zip(asked, names, calls, strict=True)
        ]
    finally:
        for channel in channels:
            channel.close()  # ends the requests that still run


def _grpc() -> Any:
    try:
        import grpc
    except ModuleNotFoundError as missing:
        raise UsageError(
            "Asking profiler servers needs one more package.",
            seen=f"no module {missing.name}",
            todo="pip install 'stepscope[grpc]'",
            slug="no-grpc",
        ) from missing
    return grpc


def _channel(rpc: Any, address: Address) -> grpc.Channel:
    return rpc.insecure_channel(
        str(address),
        options=(
            ("grpc.max_receive_message_length", MOST_REPLY_BYTES),
            # Hosts of a job are on its network; proxies of the environment lead elsewhere.
            ("grpc.enable_http_proxy", 0),
            # One connection for each capture: nothing of a server that was started again is remembered.
            ("grpc.use_local_subchannel_pool", 1),
        ),
    )


def _is_ready(rpc: Any, future: Any, until: float) -> bool:
    try:
        future.result(timeout=max(0.0, until - time.monotonic()))
    except rpc.FutureTimeoutError:
        future.cancel()
        return False
    return True


def _answer(rpc: Any, address: Address, name: str, call: Any, begun: float, waited: float) -> ServerReply:
    """Waits for a reply and reads it."""
    if call is None:
        return ServerReply(
            address, name, None, _unreachable(address, f"no connection within {waited:g} s"), None, 0.0
        )
    sent_unix_ns, future = call
    error: StepscopeError | None = None
    reply: Reply | None = None
    try:
        data = future.result()
        reply = messages.reply(data)
    except rpc.RpcError as failed:
        error = _failed(rpc, address, failed, waited)
    except ValueError as odd:
        error = _no_profile(address, str(odd))
    return ServerReply(address, name, reply, error, sent_unix_ns, time.monotonic() - begun)


def _failed(rpc: Any, address: Address, failed: Any, waited: float) -> StepscopeError:
    code, details = failed.code(), str(failed.details() or "no reason given")[:500]
    if code == rpc.StatusCode.DEADLINE_EXCEEDED:
        return StepscopeError(
            f"The profiler server {address} did not answer in time",
            seen=f"nothing within {waited:g} s",
            todo="raise --timeout, for many events take long to collect; or record for less time",
            slug="profiler-late",
        )
    if code == rpc.StatusCode.UNAVAILABLE and "active" not in details.lower():
        return _unreachable(address, details)
    if code == rpc.StatusCode.RESOURCE_EXHAUSTED:
        return _no_profile(address, details)
    return StepscopeError(
        f"The profiler server {address} refused",
        seen=f"{code.name}: {details}",
        todo="wait while another profile is recorded, for a process records one at a time; check that "
        "the port is that of a profiler server",
        slug="profiler-refused",
    )


def _unreachable(address: Address, seen: str) -> StepscopeError:
    return StepscopeError(
        f"The profiler server {address} cannot be reached",
        seen=seen,
        todo="check host and port, and that the program runs and has started its server; from another "
        "network, forward the port with ssh",
        slug="profiler-unreachable",
    )


def _no_profile(address: Address, seen: str) -> StepscopeError:
    return StepscopeError(
        f"The profiler server {address} answered with something else than a profile",
        seen=seen,
        todo="check that the port is that of a profiler server; record for less time where the reply is too "
        "large",
        slug="profiler-odd",
    )
