"""Routes about the open recordings: session, catalog, news, reports, exports."""

import asyncio
import tempfile
from dataclasses import replace
from pathlib import Path

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from stepscope import __version__, exporters
from stepscope.server import requests
from stepscope.server.open_page import OpenPage
from stepscope.server.replies import Json, refuse


async def session(page: OpenPage, request: Request) -> Response:
    """Exchanges the token for a cookie."""
    given = requests.json_object(request, request.state.body, "token")
    value = page.access.exchange(given["token"])
    answer = Json({"format": 1})
    cookie = f"{page.access.cookie}={value}; Path=/; HttpOnly; SameSite=Strict"
    answer.headers.append("set-cookie", cookie)
    return answer


async def catalog(page: OpenPage, request: Request) -> Response:
    """What there is to look at."""
    found = await page.recording.catalog()
    given = found.document["given"]
    members = {"title": ", ".join(given), "version": __version__, "opened": page.opened}
    return Json({**members, **found.document})


async def news(page: OpenPage, request: Request) -> Response:
    """The number of sources added to the lakes since they were opened."""
    return Json({"sources": await asyncio.to_thread(page.news.count), "opened": page.opened})


async def live(page: OpenPage, request: Request) -> Response:
    """The running programs as they are now, and whether the page shows only them."""
    work = {"waits": False, "jobs": []} if page.jobs is None else await asyncio.to_thread(page.jobs.document)
    return Json({"format": 1, **work})


async def reload(page: OpenPage, request: Request) -> Response:
    """Opens the recordings again."""
    requests.json_object(request, request.state.body)
    await page.reopen()
    return Json({"opened": page.opened})


async def siblings(page: OpenPage, request: Request) -> Response:
    """Files beside the recordings that can be opened as well."""
    offered = [] if page.beside is None else await asyncio.to_thread(page.beside.offer)
    return Json({"format": 1, "offered": offered})


async def add(page: OpenPage, request: Request) -> Response:
    """Opens another recording: the number of one that was offered."""
    number = requests.json_object(request, request.state.body, "number")["number"]
    whole = isinstance(number, int) and not isinstance(number, bool)
    try:
        if page.beside is None or not whole or number < 0:
            raise IndexError
        paths = await asyncio.to_thread(page.beside.add, number)
    except IndexError:
        todo = "take a number of those that /api/beside offers"
        refuse(str(number)[:60], todo, "There is no such recording to add.")
    page.console.settings = replace(page.console.settings, paths=paths)
    await page.reopen()
    return Json({"opened": page.opened})


async def export(page: OpenPage, request: Request) -> Response:
    """All slices as a file that Perfetto and chrome://tracing open."""
    requests.json_object(request, request.state.body)
    await page.recording.catalog()
    folder = tempfile.TemporaryDirectory(prefix="stepscope-export-")
    path = Path(folder.name, "stepscope.trace.json.gz")
    await page.recording.long.ask(lambda trace: exporters.write(trace, path))
    return FileResponse(path, media_type="application/gzip", background=BackgroundTask(folder.cleanup))


async def doing(page: OpenPage, request: Request) -> Response:
    """The work for a pending request: the latest one with this path and query."""
    found = page.under_way.get(requests.text(request, "of"))
    return Json({"format": 1, "now": found[-1].members() if found else None})


async def report(page: OpenPage, request: Request) -> Response:
    """A report as `--format json` prints it."""
    return Json(await page.recording.report(request.scope["path"].rpartition("/")[2]))
