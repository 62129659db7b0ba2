"""Routes that answer one question: graphs, comparisons, what-ifs, analyses, ops, memory, models."""

from starlette.requests import Request
from starlette.responses import Response

from stepscope.server import analyses, graphs, model, reports, requests, whatif
from stepscope.server.open_page import OpenPage
from stepscope.server.replies import Json, encode
from stepscope.server.side_work import aside

MOST_SIDES = 100_000


async def graphs_(page: OpenPage, request: Request) -> Response:
    """The graphs."""
    return Json(encode(graphs.members(await page.recording.graphs())))


async def graph_level(page: OpenPage, request: Request) -> Response:
    """The boxes of a graph when some scopes are open."""
    given = requests.json_object(request, request.state.body, *graphs.LEVEL_KEYS)
    found = await page.recording.graph(graphs.asked_number(given["graph"]))
    return Json(await aside(lambda: encode(graphs.level(found, given))))


async def graph_search(page: OpenPage, request: Request) -> Response:
    """Nodes of a graph by name or type."""
    text = requests.text(request, "q")
    found = await page.recording.graph(requests.integer(request, "graph", 0, graphs.MOST_GRAPHS))
    return Json(await aside(lambda: encode(graphs.search(text, found))))


async def graph_way(page: OpenPage, request: Request) -> Response:
    """A path between two nodes of a graph."""
    start, end = requests.text(request, "from"), requests.text(request, "to")
    found = await page.recording.graph(requests.integer(request, "graph", 0, graphs.MOST_GRAPHS))
    return Json(await aside(lambda: encode(graphs.way(start, end, found))))


async def sides(page: OpenPage, request: Request) -> Response:
    """The sides that can be compared."""
    await page.recording.catalog()
    return Json(await page.recording.long.ask(lambda trace: encode(reports.sides(trace))))


async def compare(page: OpenPage, request: Request) -> Response:
    """Two hosts side by side."""
    a, b = (requests.integer(request, name, 0, MOST_SIDES) for name in "ab")
    return Json(await page.recording.compared(a, b))


async def pipeline_whatif(page: OpenPage, request: Request) -> Response:
    """A step with other threads, work or cores."""
    given = requests.json_object(request, request.state.body, *whatif.KEYS)
    found = await page.recording.pipelines()
    return Json(await aside(lambda: encode(whatif.answer(found, given))))


async def analysis(page: OpenPage, request: Request) -> Response:
    """The rows of an analysis of the library; parameters are values of its columns."""
    entry = analyses.find(request.path_params["id"])
    filters = requests.filters(request)
    return Json(await page.recording.long.ask(lambda trace: encode(analyses.answer(trace, entry, filters))))


async def rows(page: OpenPage, request: Request) -> Response:
    """All ops, work on devices by the op that launched it, or blocks of memory."""
    return Json(await page.recording.rows(request.scope["path"].rpartition("/")[2]))


async def about_model(page: OpenPage, request: Request) -> Response:
    """Options and columns of tfprof's views, where there is a model."""
    return Json(encode(await page.recording.ask_model(model.about)))


async def model_view(page: OpenPage, request: Request) -> Response:
    """A view of tfprof."""
    given = requests.json_object(request, request.state.body, *model.KEYS)
    return Json(await page.recording.ask_model(lambda found: encode(model.answer(found, given))))
