"""Routes of the timeline: its pixels, slices, stacks, ranges and counters."""

import asyncio
from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from stepscope._core import MOST_PX
from stepscope.server import details, requests
from stepscope.server.open_page import OpenPage
from stepscope.server.replies import BytesReply, Json, encode

MOST_FOUND = 1_000


_TURN_SECONDS = 0.1
"""How long a range is added up before another one has its turn."""


async def names(page: OpenPage, request: Request) -> Response:
    """Names of slices, their classes and op types."""
    return Json(await page.recording.names())


async def timeline(page: OpenPage, request: Request) -> Response:
    """The cells of a window."""
    first, until = requests.span(request)
    px = requests.integer(request, "px", 1, MOST_PX)
    known = await page.recording.catalog()
    tracks = [known.track_ids[number] for number in requests.tracks(request, len(known.track_ids))]
    lod = await page.recording.timeline()
    async with page.cells:
        return BytesReply(await asyncio.to_thread(lod.cells, tracks, first, until, px))


async def slice_(page: OpenPage, request: Request) -> Response:
    """Everything about a slice."""
    slice_id = requests.identity(request, "slice")
    known = await page.recording.catalog()
    return Json(await page.recording.desk.ask(lambda trace: encode(details.slice_of(trace, known, slice_id))))


async def stack(page: OpenPage, request: Request) -> Response:
    """The calls of a sampled stack, and its time."""
    stack_id = requests.identity(request, "stack")
    await page.recording.catalog()
    return Json(await page.recording.desk.ask(lambda trace: encode(details.stack_of(trace, stack_id))))


async def search(page: OpenPage, request: Request) -> Response:
    """Slices with a text in their name."""
    text, most = requests.text(request, "q"), requests.integer(request, "limit", 1, MOST_FOUND)
    known = await page.recording.catalog()
    return Json(await page.recording.desk.ask(lambda trace: encode(details.search(trace, known, text, most))))


async def range_sums(page: OpenPage, request: Request) -> Response:
    """What a range of some tracks holds."""
    first, until = requests.span(request)
    known = await page.recording.catalog()
    tracks = requests.tracks(request, len(known.track_ids))
    lod = await page.recording.timeline()
    in_turn = partial(asyncio.get_running_loop().run_in_executor, page.adding)
    sums = await in_turn(lod.sums, [known.track_ids[number] for number in tracks], first, until)
    # Between turns, disconnected clients are noticed and others go first.
    while not await in_turn(lod.go_on, sums, _TURN_SECONDS):
        pass
    return Json(await asyncio.to_thread(lambda: encode(details.sums_document(sums, lod.classes))))


async def step_parts(page: OpenPage, request: Request) -> Response:
    """The parts of the steps in a range; a request of its own, because it takes longer."""
    first, until = requests.span(request)
    parts = await page.recording.parts()
    return Json(await asyncio.to_thread(lambda: encode(parts.sums_within(first, until))))


async def longest(page: OpenPage, request: Request) -> Response:
    """The longest ops and waits of a range."""
    first, until = requests.span(request)
    return Json(await page.recording.desk.ask(lambda trace: encode(details.longest(trace, first, until))))


async def counters(page: OpenPage, request: Request) -> Response:
    """Counters of a window."""
    first, until = requests.span(request)
    px = requests.integer(request, "px", 1, MOST_PX)
    known = await page.recording.catalog()
    return Json(
        await page.recording.desk.ask(lambda trace: encode(details.counters(trace, known, first, until, px)))
    )
