"""The routes, and what surrounds them: headers on every answer, access before routing, errors as JSON."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from stepscope import __version__, exporters
from stepscope.server import (
    analyses,
    details,
    graphs,
    model,
    parquet,
    reports,
    requests,
    schema,
    threads,
    whatif,
)
from stepscope.server.access import SESSION, Access, Guarded
from stepscope.server.activity import Doing
from stepscope.server.assets import CACHING, Asset
from stepscope.server.console import StatementProcesses
from stepscope.server.headers import Headers
from stepscope.server.news import News
from stepscope.server.recording import ServedRecording
from stepscope.server.replies import BytesReply, Json, Refused, encode, error
from stepscope.server.sibling_files import SiblingFiles
from stepscope.server.side_work import aside
from stepscope.server.timeline import MOST_PX

MOST_FOUND = 1_000
MOST_SIDES = 100_000
_CELL_THREADS = 2
"""Windows that are computed at the same time; the core works without the interpreter's lock."""
_TURN_SECONDS = 0.1
"""For how long a range is added up until another one has its turn."""
_LINGER_SECONDS = 60.0
"""How long recordings stay open after they were opened again: for answers that are under way."""

Endpoint = Callable[["Page", Request], Awaitable[Response]]


class ClientGone(Exception):
    """Nobody waits for the answer any more."""


class Page:
    """What routes need: the recording, the console, and who may ask."""

    def __init__(
        self,
        open_recording: Callable[[], ServedRecording],
        console: StatementProcesses,
        access: Access,
        news: News | None = None,
        beside: SiblingFiles | None = None,
    ) -> None:
        """open_recording: called now, and when somebody wants to see what is new. beside: what can be opened
        as well, by open_recording."""
        self.beside = beside
        self._open = open_recording
        self.recording, self.console, self.access = open_recording(), console, access
        self.news = News() if news is None else news
        self.opened = 1
        """How many times the recordings were opened: tracks have other numbers each time."""
        self._left: set[ServedRecording] = set()
        self.under_way: dict[str, list[Doing]] = {}
        """What is done for each request that is not answered yet, by its path and query."""
        self.cells = asyncio.Semaphore(_CELL_THREADS)
        self.adding = ThreadPoolExecutor(1, "stepscope-adding", initializer=threads.give_way)
        """Adds ranges up, while timelines that move go first."""

    async def reopen(self) -> None:
        """Opens the recordings again. Who asks about the old ones meanwhile is still answered."""
        await asyncio.to_thread(self.news.opened)
        old, self.recording = self.recording, self._open()
        self.opened += 1
        self._left.add(old)
        asyncio.get_running_loop().call_later(_LINGER_SECONDS, self._leave, old)
        await self.console.renew()

    def _leave(self, old: ServedRecording) -> None:
        if old in self._left:
            self._left.remove(old)
            asyncio.get_running_loop().run_in_executor(None, old.close)

    def close(self) -> None:
        """Closes all recordings."""
        for recording in (self.recording, *self._left):
            recording.close()
        self._left.clear()
        self.adding.shutdown(cancel_futures=True)

    def need_current(self, request: Request) -> None:
        """Refused for a page that shows the recordings as they were opened before."""
        given = request.headers.get("x-stepscope-opened")
        if given is not None and given != str(self.opened):
            raise Refused(
                409,
                "The recordings were opened again.",
                seen="a page from before that",
                todo="reload the page",
            )


async def session(page: Page, request: Request) -> Response:
    """Exchanges the token for a cookie."""
    given = requests.json_object(request, request.state.body, "token")
    value = page.access.exchange(given["token"])
    answer = Json({"format": 1})
    cookie = f"{page.access.cookie}={value}; Path=/; HttpOnly; SameSite=Strict"
    answer.headers.append("set-cookie", cookie)
    return answer


async def catalog(page: Page, request: Request) -> Response:
    """What there is to look at."""
    found = await page.recording.catalog()
    given = found.told["given"]
    members = {"title": ", ".join(given), "version": __version__, "opened": page.opened}
    return Json({**members, **found.told})


async def news(page: Page, request: Request) -> Response:
    """How many sources came into the lakes since they were opened."""
    return Json({"sources": await asyncio.to_thread(page.news.count), "opened": page.opened})


async def reload(page: Page, request: Request) -> Response:
    """Opens the recordings again."""
    requests.json_object(request, request.state.body)
    await page.reopen()
    return Json({"opened": page.opened})


async def beside(page: Page, request: Request) -> Response:
    """What lies beside the recordings and can be opened, too."""
    offered = [] if page.beside is None else await asyncio.to_thread(page.beside.offer)
    return Json({"format": 1, "offered": offered})


async def add(page: Page, request: Request) -> Response:
    """Opens one more recording: the number of one that was offered."""
    number = requests.json_object(request, request.state.body, "number")["number"]
    whole = isinstance(number, int) and not isinstance(number, bool)
    try:
        if page.beside is None or not whole or number < 0:
            raise IndexError
        paths = await asyncio.to_thread(page.beside.add, number)
    except IndexError:
        raise Refused(
            400,
            "There is no such recording to add.",
            seen=str(number)[:60],
            todo="take a number of those that /api/beside offers",
            slug="request-odd",
        ) from None
    page.console.settings = replace(page.console.settings, paths=paths)
    await page.reopen()
    return Json({"opened": page.opened})


async def export(page: Page, request: Request) -> Response:
    """All slices as a file that Perfetto and chrome://tracing open."""
    requests.json_object(request, request.state.body)
    await page.recording.catalog()
    folder = tempfile.TemporaryDirectory(prefix="stepscope-export-")
    path = Path(folder.name, "stepscope.trace.json.gz")
    await page.recording.long.ask(lambda trace: exporters.write(trace, path))
    return FileResponse(path, media_type="application/gzip", background=BackgroundTask(folder.cleanup))


async def doing(page: Page, request: Request) -> Response:
    """What is done for a request that is under way: the last one of this path and query."""
    found = page.under_way.get(requests.text(request, "of"))
    return Json({"format": 1, "now": found[-1].told() if found else None})


async def report(page: Page, request: Request) -> Response:
    """A report as `--format json` prints it."""
    return Json(await page.recording.report(request.scope["path"].rpartition("/")[2]))


async def graphs_(page: Page, request: Request) -> Response:
    """The graphs."""
    return Json(encode(graphs.told(await page.recording.graphs())))


async def graph_level(page: Page, request: Request) -> Response:
    """What is seen of a graph when some scopes are open."""
    given = requests.json_object(request, request.state.body, *graphs.LEVEL_KEYS)
    found = await page.recording.graph(graphs.asked_number(given["graph"]))
    return Json(await aside(lambda: encode(graphs.level(found, given))))


async def graph_search(page: Page, request: Request) -> Response:
    """Nodes of a graph by name or type."""
    text = requests.text(request, "q")
    found = await page.recording.graph(requests.integer(request, "graph", 0, graphs.MOST_GRAPHS))
    return Json(await aside(lambda: encode(graphs.search(text, found))))


async def graph_way(page: Page, request: Request) -> Response:
    """The way between two nodes of a graph."""
    start, end = requests.text(request, "from"), requests.text(request, "to")
    found = await page.recording.graph(requests.integer(request, "graph", 0, graphs.MOST_GRAPHS))
    return Json(await aside(lambda: encode(graphs.way(start, end, found))))


async def sides(page: Page, request: Request) -> Response:
    """What can be compared."""
    await page.recording.catalog()
    return Json(await page.recording.long.ask(lambda trace: encode(reports.sides(trace))))


async def compare(page: Page, request: Request) -> Response:
    """Two hosts side by side."""
    a, b = (requests.integer(request, name, 0, MOST_SIDES) for name in "ab")
    return Json(await page.recording.compared(a, b))


async def pipeline_whatif(page: Page, request: Request) -> Response:
    """A step with other threads, work or cores."""
    given = requests.json_object(request, request.state.body, *whatif.KEYS)
    found = await page.recording.pipelines()
    return Json(await aside(lambda: encode(whatif.answer(found, given))))


async def analysis(page: Page, request: Request) -> Response:
    """What one analysis of the library finds; parameters are values of its columns."""
    entry = analyses.find(request.path_params["id"])
    filters = requests.filters(request)
    return Json(await page.recording.long.ask(lambda trace: encode(analyses.answer(trace, entry, filters))))


async def ops(page: Page, request: Request) -> Response:
    """All ops, for tables, treemaps and flame graphs."""
    return Json(await page.recording.ops())


async def buffers(page: Page, request: Request) -> Response:
    """Blocks of memory: the lifetimes of tensors."""
    return Json(await page.recording.buffers())


async def about_model(page: Page, request: Request) -> Response:
    """Options and columns of tfprof's views, where there is a model."""
    return Json(encode(await page.recording.ask_model(model.about)))


async def model_view(page: Page, request: Request) -> Response:
    """A view of tfprof."""
    given = requests.json_object(request, request.state.body, *model.KEYS)
    return Json(await page.recording.ask_model(lambda found: encode(model.answer(found, given))))


async def names(page: Page, request: Request) -> Response:
    """Names of slices, their classes and op types."""
    return Json(await page.recording.names())


async def timeline(page: Page, request: Request) -> Response:
    """The cells of a window."""
    first, until = requests.span(request)
    px = requests.integer(request, "px", 1, MOST_PX)
    known = await page.recording.catalog()
    tracks = [known.track_ids[number] for number in requests.tracks(request, len(known.track_ids))]
    lod = await page.recording.timeline()
    async with page.cells:
        return BytesReply(await asyncio.to_thread(lod.cells, tracks, first, until, px))


async def slice_(page: Page, request: Request) -> Response:
    """Everything about a slice."""
    text = request.path_params["id"]
    if not text.isdecimal() or not text.isascii() or len(text) > 19 or int(text) >= 1 << 63:
        raise Refused(
            404, "There is no such slice.", seen="an id that is not a number", todo="use ids of the timeline"
        )
    known = await page.recording.catalog()
    return Json(
        await page.recording.desk.ask(lambda trace: encode(details.slice_of(trace, known, int(text))))
    )


async def stack(page: Page, request: Request) -> Response:
    """The calls of a sampled stack, and its time."""
    text = request.path_params["id"]
    if not text.isdecimal() or not text.isascii() or len(text) > 19 or int(text) >= 1 << 63:
        raise Refused(
            404, "There is no such stack.", seen="an id that is not a number", todo="use ids of the timeline"
        )
    await page.recording.catalog()
    return Json(await page.recording.desk.ask(lambda trace: encode(details.stack_of(trace, int(text)))))


async def search(page: Page, request: Request) -> Response:
    """Slices with a text in their name."""
    text, most = requests.text(request, "q"), requests.integer(request, "limit", 1, MOST_FOUND)
    known = await page.recording.catalog()
    return Json(await page.recording.desk.ask(lambda trace: encode(details.search(trace, known, text, most))))


async def in_range(page: Page, request: Request) -> Response:
    """What a range of some tracks holds."""
    first, until = requests.span(request)
    known = await page.recording.catalog()
    tracks = requests.tracks(request, len(known.track_ids))
    lod = await page.recording.timeline()
    in_turn = partial(asyncio.get_running_loop().run_in_executor, page.adding)
    sums = await in_turn(lod.sums, [known.track_ids[number] for number in tracks], first, until)
    # Who left is noticed in between, and others have their turn.
    while not await in_turn(lod.go_on, sums, _TURN_SECONDS):
        pass
    return Json(await asyncio.to_thread(lambda: encode(details.of_sums(sums, lod.classes))))


async def step_parts(page: Page, request: Request) -> Response:
    """Where the steps of a range go. Apart from what else a range holds: finding it out takes its time."""
    first, until = requests.span(request)
    parts = await page.recording.parts()
    return Json(await asyncio.to_thread(lambda: encode(parts.within(first, until))))


async def counters(page: Page, request: Request) -> Response:
    """Counters of a window."""
    first, until = requests.span(request)
    px = requests.integer(request, "px", 1, MOST_PX)
    known = await page.recording.catalog()
    return Json(
        await page.recording.desk.ask(lambda trace: encode(details.counters(trace, known, first, until, px)))
    )


async def schema_(page: Page, request: Request) -> Response:
    """Tables, views and statements."""
    return Json(await asyncio.to_thread(lambda: encode(schema.tell())))


async def sql(page: Page, request: Request) -> Response:
    """Rows of a statement, as many as a page shows."""
    given = requests.json_object(request, request.state.body, "sql")
    found = await page.console.run(_statement(given["sql"]))
    header, settings = found.header, page.console.settings
    cut = bool(header["cut"])
    members = {
        "columns": header["columns"],
        "types": header["types"],
        "total": None if cut else header["rows"],
        "cut": cut,
        "most_rows": settings.most_rows,
        "most_bytes": settings.most_bytes,
        "ms": header["ms"],
    }
    return Json(encode(members)[:-1] + b',"rows":' + found.body + b"}")


async def download(page: Page, request: Request) -> Response:
    """All rows of a statement as a file."""
    given = requests.json_object(request, request.state.body, "sql", "form")
    form = given["form"]
    if not isinstance(form, str) or form not in _FORMS:
        raise Refused(
            400,
            "There is no download of this form.",
            seen=repr(form)[:60],
            todo=f"ask for {' or '.join(_FORMS)}",
        )
    found = await page.console.run(_statement(given["sql"]), form)
    content = found.body
    if form == "parquet":
        content = await asyncio.to_thread(
            parquet.file_of, found.header["columns"], found.header["types"], found.body
        )
    answer = Response(content, media_type=_FORMS[form])
    answer.headers["content-disposition"] = f'attachment; filename="stepscope.{form}"'
    return answer


_FORMS = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "parquet": "application/vnd.apache.parquet",
}

API: tuple[tuple[str, str, Endpoint], ...] = (
    ("POST", SESSION, session),
    ("GET", "/api/catalog", catalog),
    ("GET", "/api/news", news),
    ("POST", "/api/reload", reload),
    ("GET", "/api/beside", beside),
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
    ("GET", "/api/ops", ops),
    ("GET", "/api/memory/buffers", buffers),
    ("GET", "/api/analysis/{id}", analysis),
    ("GET", "/api/timeline", timeline),
    ("GET", "/api/slice/{id}", slice_),
    ("GET", "/api/stack/{id}", stack),
    ("GET", "/api/search", search),
    ("GET", "/api/range", in_range),
    ("GET", "/api/range/parts", step_parts),
    ("GET", "/api/counters", counters),
    ("GET", "/api/schema", schema_),
    ("POST", "/api/sql", sql),
    ("POST", "/api/sql/download", download),
)
"""Everything but the files of the page."""
_TIMELESS = frozenset({session, news, reload, beside, add, doing})
"""What a page may ask that shows the recordings as they were opened before: whether it is one."""


def build(page: Page, assets: Mapping[str, Asset]) -> ASGIApp:
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
    known = {one.strip().removeprefix("W/") for one in request.headers.get("if-none-match", "").split(",")}
    if tag in known or "*" in known:
        return Response(status_code=304, headers=headers)
    return Response(asset.content, media_type=asset.media_type, headers=headers)


async def answered(page: Page, endpoint: Endpoint, request: Request) -> Response:
    """Runs an endpoint until it answers or the client is gone, which cancels it."""
    if request.method == "POST":
        # All of it, so that what is received next can only be that the client left.
        request.state.body = await requests.read(request)
    if endpoint not in _TIMELESS:
        page.need_current(request)
    with _told(page, request) as doing:
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
def _told(page: Page, request: Request) -> Iterator[Doing]:
    """What is done for the request, told to who asks meanwhile."""
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
    """Returns when the client has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def nothing(scope: Scope, receive: Receive, send: Send) -> None:
    raise HTTPException(404)


class Errors:
    """Turns what is raised into an answer."""

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

        scope["app"] = self  # the router raises HTTPException then, instead of answering in plain text
        try:
            await self._app(scope, receive, sending)
        except (ClientGone, ClientDisconnect):
            return
        except HTTPException as refused:
            answer = error(_of_routing(refused))
        except Exception as problem:  # noqa: BLE001  the last line of defence: an answer, never a traceback
            answer = error(problem)
        else:
            return
        if not begun:
            await answer(scope, receive, send)


def _of_routing(refused: HTTPException) -> Refused:
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


def _statement(given: Any) -> str:
    if not isinstance(given, str) or not given.strip():
        raise Refused(
            400, "There is no SQL to run.", seen="no text", todo="send a query as sql", slug="request-odd"
        )
    return given
