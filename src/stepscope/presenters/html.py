"""The report as one HTML file: the page of `stepscope serve` with its answers inside, no network, no server.

The page itself is built from web/src/report.tsx into page/ (make web). Here it gets the report as data: JSON
in an element that no browser executes. Names in a recording may hold anything, so they reach the page as data
only; the file's own policy (Content-Security-Policy) allows the two inline blocks by their hashes and nothing
else, and no text becomes markup or script.
"""

import base64
import hashlib
import json
from collections.abc import Sequence
from functools import cache
from html import escape
from importlib import resources
from typing import Any

import stepscope
from stepscope.presenters import json as as_json
from stepscope.presenters.plain import plain, shorten
from stepscope.report import Report, ReportFinding, Section, Table

EXTENSION = ".html"
SUMMARY, PART = "/api/report/summary", "part"
"""What the data element holds: the answer of a route, or a few things of a report."""
_LONGEST = 2_000
"""Characters of a text; what is longer is cut in the middle and says how long it was."""
_LONGEST_SQL = 100_000


def render(report: Report) -> str:
    """The whole page."""
    return _page(report.title, SUMMARY, report)


def part(title: str, *shown: Table | ReportFinding, sentences: Sequence[str] = (), below: str = "") -> str:
    """A page with a few things of a report and nothing else. sentences: above them; below: one after."""
    tables = [Section("table", "", table=table) for table in shown if isinstance(table, Table)]
    after = [Section("below", "", answer=(below,))] if below else []
    findings = tuple(finding for finding in shown if isinstance(finding, ReportFinding))
    return _page(title, PART, Report(title, tuple(sentences), (*tables, *after), findings))


def _page(title: str, route: str, report: Report) -> str:
    css, js = built("page", "page.css"), built("page", "page.js")
    headline = "".join(f"<p>{escape(plain(line, _LONGEST))}</p>" for line in report.headline[:20])
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy(css, js)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="stepscope {stepscope.__version__}">
<title>{escape(plain(title, 200))}</title>
<style>{css}</style>
</head>
<body><div id="page"></div>
<noscript>{headline}<p>The rest of this report needs JavaScript, which is switched off here.</p></noscript>
<script type="application/json" id="stepscope-data">{_data(route, report)}</script>
<script>{js}</script>
</body>
</html>
{notices("page")}
"""


def policy(css: str, js: str) -> str:
    """The policy of a page with one style and one script, both inline, which reaches nothing."""
    return (
        f"default-src 'none'; style-src {_hash(css)}; script-src {_hash(js)}; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"
    )


def _data(route: str, report: Report) -> str:
    """The report as JSON in which nothing can end the element."""
    answer = {**_short(json.loads(as_json.render(report))), "version": stepscope.__version__}
    text = json.dumps({route: answer}, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\x7f", "\\u007f")


def _short(value: Any, most: int = _LONGEST) -> Any:
    """The same with texts of a length that a page can show, and rows of tables without the names of their
    columns, which would repeat in each."""
    if isinstance(value, str):
        # Before cutting: a name of a megabyte, in each of thousands of rows, would be copied each time.
        return value if len(value) <= most else f"{shorten(value, most)} ({len(value):,} characters)"
    if isinstance(value, list):
        return [_short(item, most) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"columns", "rows", "total"}:
        rows = [[_short(item) for item in row.values()] for row in value["rows"]]
        return {"columns": _short(value["columns"]), "rows": rows, "total": value["total"]}
    return {key: _short(item, _LONGEST_SQL if key == "sql" else most) for key, item in value.items()}


@cache
def built(page: str, name: str) -> str:
    """A file of a page that `make web` built."""
    return resources.files(__package__).joinpath(page, name).read_text(encoding="utf-8").strip()


def notices(page: str) -> str:
    """The licences of the libraries within a page's script, as a comment: they are passed on with it."""
    return f"<!--\n{built(page, 'notices.md').replace('--', '- -')}\n-->"


def _hash(block: str) -> str:
    digest = hashlib.sha256(block.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
