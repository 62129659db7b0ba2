"""Answers of routes: JSON, and errors with the three parts that all errors have."""

import json
import os
import traceback
from typing import Any, NoReturn

from starlette.responses import Response

from stepscope.errors import LimitReached, NothingFound, QueryError, StepscopeError, UsageError

STATUS: tuple[tuple[type[StepscopeError], int], ...] = (
    (UsageError, 400),
    (QueryError, 400),
    (NothingFound, 404),
    (LimitReached, 413),
    (StepscopeError, 409),  # a file or the lake changed while it was served, or cannot be read
)


class Refused(StepscopeError):
    """A refused request, with its HTTP status."""

    slug = "request-refused"

    def __init__(self, status: int, happened: str, *, seen: str, todo: str, slug: str | None = None) -> None:
        super().__init__(happened, seen=seen, todo=todo, slug=slug)
        self.status = status


_ODD = "The request makes no sense."


def refuse(seen: str, todo: str, happened: str = _ODD, status: int = 400) -> NoReturn:
    """Raises the refusal of a request that says something odd."""
    raise Refused(status, happened, seen=seen, todo=todo, slug="request-odd")


class BytesReply(Response):
    """An answer from bytes."""

    media_type = "application/octet-stream"


class Json(Response):
    """JSON in ASCII: a name may contain half of a surrogate pair, which UTF-8 cannot encode."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """The value as text; bytes are JSON already."""
        return content if isinstance(content, bytes) else encode(content)


def encode(value: Any) -> bytes:
    """A value as JSON. ValueError for NaN and infinities, which JSON lacks."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode("ascii")


def error(problem: Exception) -> Json:
    """The answer for a problem: what happened, what was seen, what to do. Never a traceback."""
    if isinstance(problem, Refused):
        return _problem_reply(problem, problem.status)
    if isinstance(problem, StepscopeError):
        return _problem_reply(problem, next(status for kind, status in STATUS if isinstance(problem, kind)))
    if os.environ.get("STEPSCOPE_TRACEBACK"):
        traceback.print_exception(problem)
    unexpected = StepscopeError(
        "stepscope itself failed.",
        seen=f"{type(problem).__name__} while a request was answered",
        todo="start it again with STEPSCOPE_TRACEBACK=1, repeat what you did, and report what it prints",
        slug="unexpected",
    )
    return _problem_reply(unexpected, 500)


def _problem_reply(problem: StepscopeError, status: int) -> Json:
    members = {"slug": problem.slug, "what": problem.happened, "seen": problem.seen, "to_do": problem.todo}
    if problem.path is not None:
        members["file"] = problem.path
    return Json({"error": members}, status_code=status)
