"""Routes of the console: the schema, and SELECTs with their rows."""

import asyncio
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from stepscope.server import parquet, requests, schema
from stepscope.server.open_page import OpenPage
from stepscope.server.replies import Json, Refused, encode, refuse


async def schema_(page: OpenPage, request: Request) -> Response:
    """Tables, views and statements."""
    return Json(await asyncio.to_thread(lambda: encode(schema.tell())))


async def sql(page: OpenPage, request: Request) -> Response:
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


async def download(page: OpenPage, request: Request) -> Response:
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


def _statement(given: Any) -> str:
    if not isinstance(given, str) or not given.strip():
        refuse("no text", "send a query as sql", "There is no SQL to run.")
    return given
