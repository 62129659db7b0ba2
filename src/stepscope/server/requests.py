"""The content of requests: query parameters and bodies, checked before any query runs."""

import asyncio
import re
from typing import Any

from starlette.requests import Request

from stepscope import strict_json
from stepscope.server.replies import Refused, refuse

MOST_BODY = 1 << 20
"""Bytes of a body."""
BODY_SECONDS = 20.0
"""Time for a body to arrive."""
MOST_TEXT = 4096
"""Characters of a text to search for."""
_INTEGER = re.compile(r"-?[0-9]{1,19}")
_INT64 = 1 << 63


def integer(request: Request, name: str, low: int = -_INT64, high: int = _INT64 - 1) -> int:
    """A whole number of the query string, between low and high. Refused with status 400."""
    text = _single(request, name)
    if _INTEGER.fullmatch(text) is None or not low <= int(text) <= high:
        refuse(f"{name}={_short(text)}", f"give {name} a whole number from {low} to {high}")
    return int(text)


def span(request: Request) -> tuple[int, int]:
    """The window from, to in picoseconds, which begins before it ends."""
    first, until = integer(request, "from"), integer(request, "to")
    if first >= until:
        refuse(f"from={first} and to={until}", "end the window after its start")
    return first, until


def tracks(request: Request, known: int) -> list[int]:
    """The requested track numbers: each less than `known`, none twice."""
    words = _single(request, "tracks").split(",")
    good = [int(word) for word in words if re.fullmatch("[0-9]{1,9}", word)]
    if len(good) != len(words) or any(number >= known for number in good) or len(set(good)) != len(good):
        todo = f"give numbers of the catalogue, below {known}, each once"
        refuse(f"tracks={_short(','.join(words))}", todo)
    return good


def text(request: Request, name: str) -> str:
    """A text parameter of the query string."""
    found = _single(request, name)
    if not found or len(found) > MOST_TEXT or "\0" in found:
        refuse(f"{name}={_short(found)}", f"give 1 to {MOST_TEXT} characters, and no NUL")
    return found.encode("utf-8", "replace").decode("utf-8")


def filters(request: Request) -> dict[str, str]:
    """The whole query string: names, each once, with their values."""
    return {name: text(request, name) if value else "" for name, value in request.query_params.multi_items()}


def identity(request: Request, what: str) -> int:
    """The id in the path. Refused with status 404 when none of this kind can have it."""
    text = request.path_params["id"]
    if not text.isdecimal() or not text.isascii() or len(text) > 19 or int(text) >= _INT64:
        seen = "an id that is not a number"
        raise Refused(404, f"There is no such {what}.", seen=seen, todo="use ids of the timeline")
    return int(text)


async def read(request: Request) -> bytes:
    """The body of a request. Refused with status 408 or 413 when it is late or large."""
    try:
        return await asyncio.wait_for(_read(request), BODY_SECONDS)
    except asyncio.TimeoutError:
        refuse(f"no whole body after {BODY_SECONDS:.0f} s", "send it again", status=408)


def json_object(request: Request, data: bytes, *names: str) -> dict[str, Any]:
    """The JSON object in a body, which has exactly these keys. Refused with status 400 or 415."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        refuse("its content type", "send application/json", status=415)
    try:
        found = strict_json.parse(data)
    except strict_json.OddJson as error:
        refuse(str(error), "send one JSON object")
    if not isinstance(found, dict) or set(found) != set(names):
        refuse("other keys, or no object", f"send an object with {', '.join(names)}")
    return found


async def _read(request: Request) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > MOST_BODY:
            refuse(f"more than {MOST_BODY:,} bytes", "send less", status=413)
        parts.append(part)
    return b"".join(parts)


def _single(request: Request, name: str) -> str:
    found = request.query_params.getlist(name)
    if len(found) != 1:
        refuse(f"{name} {len(found)} times", f"give {name} once")
    return found[0]


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:60]}…")
