"""The routes, and the layers around them: headers on every answer, access before routing, errors as JSON."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator, Mapping
from functools import partial

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from stepscope.server import requests
from stepscope.server.access import SESSION, Guarded
from stepscope.server.activity import Doing
from stepscope.server.answer_routes import (
    about_model,
    analysis,
    compare,
    graph_level,
    graph_search,
    graph_way,
    graphs_,
    model_view,
    pipeline_whatif,
    rows,
    sides,
)
from stepscope.server.assets import CACHING, Asset
from stepscope.server.headers import Headers
from stepscope.server.open_page import Endpoint, OpenPage
from stepscope.server.recording_routes import (
    add,
    catalog,
    doing,
    export,
    live,
    news,
    reload,
    report,
    session,
    siblings,
)
from stepscope.server.replies import Refused, error
from stepscope.server.sql_routes import download, schema_, sql
from stepscope.server.timeline_routes import (
    counters,
    longest,
    names,
    range_sums,
    search,
    slice_,
    stack,
    step_parts,
    timeline,
)


class ClientGone(Exception):
    """The client has left."""


API: tuple[tuple[str, str, Endpoint], ...] = (
    ("POST", SESSION, session),
    ("GET", "/api/catalog", catalog),
    ("GET", "/api/news", news),
    ("GET", "/api/live", live),
    ("POST", "/api/reload", reload),
    ("GET", "/api/beside", siblings),
    ("POST", "/api/add", add),
    ("POST", "/api/export", export),
    ("GET", "/api/doing", doing),
    ("GET", "/api/report/first", report),
    ("GET", "/api/report/summary", report),
    ("GET", "/api/report/pipeline", report),
    ("GET", "/api/report/memory", report),
    ("GET", "/api/graphs", graphs_),
    ("POST", "/api/graph", graph_level),
    ("GET", "/api/graph/search", graph_search),
    ("GET", "/api/graph/way", graph_way),
    ("GET", "/api/sides", sides),
    ("GET", "/api/compare", compare),
    ("POST", "/api/pipeline/whatif", pipeline_whatif),
    ("GET", "/api/model", about_model),
    ("POST", "/api/model", model_view),
    ("GET", "/api/names", names),
    ("GET", "/api/ops", rows),
    ("GET", "/api/ops/launching", rows),
    ("GET", "/api/memory/buffers", rows),
    ("GET", "/api/analysis/{id}", analysis),
    ("GET", "/api/timeline", timeline),
    ("GET", "/api/slice/{id}", slice_),
    ("GET", "/api/stack/{id}", stack),
    ("GET", "/api/search", search),
    ("GET", "/api/range", range_sums),
    ("GET", "/api/range/parts", step_parts),
    ("GET", "/api/range/longest", longest),
    ("GET", "/api/counters", counters),
    ("GET", "/api/schema", schema_),
    ("POST", "/api/sql", sql),
    ("POST", "/api/sql/download", download),
)
"""All routes but the files of the page."""


_TIMELESS = frozenset({session, news, live, reload, siblings, add, doing})
"""Paths that show recordings as first opened; whether a path is one of them."""


def build(page: OpenPage, assets: Mapping[str, Asset]) -> ASGIApp:
    """The application."""
    routes = [
        Route(path, partial(answered, page, endpoint), methods=[method]) for method, path, endpoint in API
    ]
    routes += [
        Route(path, partial(_asset, asset, asset.tag), methods=["GET"]) for path, asset in assets.items()
    ]

    @contextlib.asynccontextmanager
    async def lifespan(app: object) -> AsyncIterator[None]:
        yield
        await page.console.close()
        await asyncio.to_thread(page.close)

    router = Router(routes, redirect_slashes=False, default=nothing, lifespan=lifespan)
    return Headers(Errors(Guarded(router, page.access, {SESSION, *assets})))


async def _asset(asset: Asset, tag: str, request: Request) -> Response:
    headers = {"cache-control": CACHING, "etag": tag}
    known = {tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")}
    if tag in known or "*" in known:
        return Response(status_code=304, headers=headers)
    return Response(asset.content, media_type=asset.media_type, headers=headers)


async def answered(page: OpenPage, endpoint: Endpoint, request: Request) -> Response:
    """Runs an endpoint until it answers or the client disconnects, which cancels it."""
    if request.method == "POST":
        # Reads the whole body, so that the next message can only be a disconnect.
        request.state.body = await requests.read(request)
    if endpoint not in _TIMELESS:
        page.need_current(request)
    with _announced(page, request) as doing:
        with doing.is_current():
            work = asyncio.ensure_future(endpoint(page, request))
        leaving = asyncio.ensure_future(_left(request.receive))
        try:
            await asyncio.wait({work, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                raise ClientGone
            return work.result()
        finally:
            for task in (work, leaving):
                task.cancel()
            await asyncio.gather(work, leaving, return_exceptions=True)


@contextlib.contextmanager
def _announced(page: OpenPage, request: Request) -> Iterator[Doing]:
    """Notes the work for a request, so that others can ask about its progress."""
    query = request.scope.get("query_string", b"").decode("latin-1")
    of = f"{request.scope.get('path')}?{query}" if query else str(request.scope.get("path"))
    doing = Doing()
    page.under_way.setdefault(of, []).append(doing)
    try:
        yield doing
    finally:
        page.under_way[of].remove(doing)
        if not page.under_way[of]:
            del page.under_way[of]


async def _left(receive: Receive) -> None:
    """Returns when the client disconnects."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def nothing(scope: Scope, receive: Receive, send: Send) -> None:
    raise HTTPException(404)


class Errors:
    """Turns exceptions into answers."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        begun = False

        async def sending(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        scope["app"] = self  # with it, the router raises HTTPException instead of answering in plain text
        try:
            await self._app(scope, receive, sending)
        except (ClientGone, ClientDisconnect):
            return
        except HTTPException as refused:
            answer = error(_routing_refusal(refused))
        except Exception as problem:  # noqa: BLE001  the last line of defence: an answer, never a traceback
            answer = error(problem)
        else:
            return
        if not begun:
            await answer(scope, receive, send)


def _routing_refusal(refused: HTTPException) -> Refused:
    if refused.status_code == 405:
        allowed = (refused.headers or {}).get("Allow", "another")
        return Refused(
            405,
            "The route takes another method.",
            seen="this method",
            todo=f"use {allowed}",
            slug="request-odd",
        )
    return Refused(
        404, "There is no such route.", seen="a path that is not served", todo="open /", slug="request-odd"
    )
