"""Who may ask. The loopback address protects nothing by itself: pages of other sites, other users of
the machine and names that resolve to 127.0.0.1 all reach it.

* Host and Origin are compared whole with short lists, before anything else looks at the request.
* A random token, printed once, is exchanged for a cookie; every route but the page itself asks for it.
* What is not a GET also needs our own header, which a form or another site cannot send, and an Origin.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Collection

from starlette.types import ASGIApp, Receive, Scope, Send

from stepscope.server.replies import Refused

MOST_SESSIONS = 64
"""Most sessions at a time; the oldest browser then needs the token again."""
READING = ("GET", "HEAD")
_SAME_SITE = (b"same-origin", b"none")
_PATH = re.compile(rb"/[A-Za-z0-9._/-]{0,255}")
"""Paths of the API need no escapes, so each has one spelling."""
SESSION = "/api/session"


class Access:
    """The token of this server, the sessions opened with it, and the names of this server."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.token = secrets.token_urlsafe(32)
        self.cookie = f"stepscope_{port}"
        self.hosts = tuple(f"{name}:{port}".encode() for name in ("127.0.0.1", "localhost", "[::1]"))
        self.origins = tuple(b"http://" + host for host in self.hosts)
        self._sessions: list[bytes] = []

    def admit(self, scope: Scope) -> None:
        """Lets a request through to routing, or raises Refused with status 403."""
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        path: bytes = scope.get("raw_path") or b""
        hosts = _all(headers, b"host")
        if len(hosts) != 1 or hosts[0] not in self.hosts:
            raise _refused("The request is for another host.", "its Host header")
        if _PATH.fullmatch(path) is None or path.decode("ascii") != scope["path"]:
            raise _refused("The request is for nothing of ours.", "its target, which is not a path of ours")
        origins = _all(headers, b"origin")
        own_origin = b"http://" + hosts[0]
        if len(origins) > 1 or (origins and origins[0] != own_origin):
            raise _refused("The request comes from another site.", "its Origin header")
        if scope["method"] in READING:
            sites = _all(headers, b"sec-fetch-site")
            if path.startswith(b"/api/") and any(site not in _SAME_SITE for site in sites):
                raise _refused("The request comes from another site.", "its Sec-Fetch-Site header")
            return
        if not origins:
            raise _refused("The request does not say where it comes from.", "no Origin header")
        if _all(headers, b"x-stepscope") != [b"1"]:
            raise _refused("The request was not made by the page.", "no header X-Stepscope: 1")

    def exchange(self, token: object) -> str:
        """Opens a session for the token; returns the value of the cookie. Refused with status 401 for
        anything but the token."""
        given = token.encode("utf-8", "replace") if isinstance(token, str) else b""
        if not hmac.compare_digest(given, self.token.encode()):
            raise Refused(
                401,
                "The token is not the one of this server.",
                seen="another token, or none",
                todo="open the URL that `stepscope serve` printed when it started",
                slug="no-session",
            )
        session = secrets.token_urlsafe(32)
        self._sessions = [*self._sessions[1 - MOST_SESSIONS :], hashlib.sha256(session.encode()).digest()]
        return session

    def need_session(self, scope: Scope) -> None:
        """Refused with status 401 unless the request has exactly one session cookie, and that is valid."""
        given = [
            value.strip()
            for header in _all(scope["headers"], b"cookie")
            for name, _, value in (part.partition(b"=") for part in header.split(b";"))
            if name.strip() == self.cookie.encode()
        ]
        known = False
        if len(given) == 1:
            digest = hashlib.sha256(given[0]).digest()
            for session in self._sessions:  # compares all of them, so that the time tells nothing
                known |= hmac.compare_digest(session, digest)
        if not known:
            raise Refused(
                401,
                "This browser has no session.",
                seen="no cookie of this server, or one from before it was started again",
                todo="open the URL that `stepscope serve` printed when it started",
                slug="no-session",
            )


class Guarded:
    """An application behind Access: only admitted requests reach routing."""

    def __init__(self, app: ASGIApp, access: Access, public: Collection[str]) -> None:
        """public: paths that need no session; the page itself contains no secret."""
        self._app, self._access, self._public = app, access, frozenset(public)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on, or raises Refused."""
        if scope["type"] == "http":
            self._access.admit(scope)
            if scope["path"] not in self._public:
                self._access.need_session(scope)
        await self._app(scope, receive, send)


def _all(headers: list[tuple[bytes, bytes]], name: bytes) -> list[bytes]:
    return [value for key, value in headers if key.lower() == name]


def _refused(happened: str, seen: str) -> Refused:
    todo = "open the URL that `stepscope serve` printed; other sites and names are not served"
    return Refused(403, happened, seen=seen, todo=todo, slug="request-refused")
