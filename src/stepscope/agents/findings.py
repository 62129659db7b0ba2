"""The tools that answer about one recording: findings, analyses, and SQL."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stepscope import library
from stepscope.agents import answer_limits
from stepscope.agents.arguments import Answer, bad_call

if TYPE_CHECKING:
    from stepscope import report
    from stepscope.agents.recordings import Recordings

_MOST_SQL = 1500
"""Characters of SQL that a list of findings repeats; longer SQL has a page of its own."""


async def list_findings(recordings: Recordings, given: Mapping[str, Any]) -> Answer:
    """The findings, the worst first."""
    recording = recordings.get(given["handle"])
    summary = await recording.summary()
    offset, limit = given.get("offset", 0), given.get("limit", 5)
    found = [_finding(each) for each in summary.findings]
    wanted = f"handle={recording.handle!r}, limit={limit}"
    return answer_limits.fitted(
        {
            "handle": recording.handle,
            "answer": [answer_limits.shortened(line, 300) for line in summary.headline[:3]],
        },
        "findings",
        found,
        offset=offset,
        limit=limit,
        more=lambda end: f"findings({wanted}, offset={end})",
    )


def _finding(found: report.ReportFinding) -> Answer:
    names = [column.name for column in found.evidence.columns]
    document: Answer = {
        "slug": found.slug,
        "severity": found.severity,
        "title": found.title,
        "impact": found.impact,
        "action": found.action,
        "weakened_by": list(found.weakened_by),
        "cases": found.evidence.total,
        "first_case": dict(zip(names, found.evidence.rows[0], strict=True)) if found.evidence.rows else None,
    }
    if len(found.sql) <= _MOST_SQL:
        return {**document, "sql": found.sql}
    return {**document, "sql_at": f"describe(name={found.slug!r})"}


async def run_analysis(recordings: Recordings, given: Mapping[str, Any]) -> Answer:
    """Rows of an analysis or a finding."""
    recording = recordings.get(given["handle"])
    entry = library.named(given["name"])
    filters = given.get("filters", {})
    columns = [column.name for column in entry.columns]
    for name, value in filters.items():
        if name not in columns:
            raise bad_call(f"a filter on {name[:60]!r}", f"filter on one of {', '.join(columns)}")
        if isinstance(value, (list, dict)):
            raise bad_call(f"the filter {name}={value!r}"[:200], "give one value for each column")
    every = await recording.ask(lambda trace: trace.ask(entry).rows())
    places = [(columns.index(name), value) for name, value in filters.items()]
    rows = [row for row in every if all(_same(row[at], value) for at, value in places)]
    offset, limit = given.get("offset", 0), given.get("limit", 20)
    wanted = f"handle={recording.handle!r}, name={entry.name!r}"
    wanted += f", filters={json.dumps(filters)}" if filters else ""
    return answer_limits.fitted(
        {
            "handle": recording.handle,
            "name": entry.name,
            "question": entry.question,
            "columns": columns,
            "units": [column.unit for column in entry.columns],
            "filters": filters,
            "rows_before_filters": len(every),
            **_sql_of(entry),
        },
        "rows",
        rows,
        offset=offset,
        limit=limit,
        more=lambda end: f"analysis({wanted}, limit={limit}, offset={end})",
    )


def _sql_of(entry: library.Entry) -> Answer:
    if len(entry.sql) <= _MOST_SQL:
        return {"sql": entry.sql}
    name = entry.slug if entry.kind == "finding" else entry.name
    return {"sql_at": f"describe(name={name!r})"}


def _same(value: Any, wanted: Any) -> bool:
    """Whether a value is what a filter says; whole numbers may be given as text, as they are answered."""
    if isinstance(value, bool) or isinstance(wanted, bool) or value is None or wanted is None:
        return value is wanted
    return bool(value == wanted) or (not isinstance(value, float) and str(value) == str(wanted))


async def run_query(recordings: Recordings, given: Mapping[str, Any]) -> Answer:
    """Rows of a SELECT of the agent."""
    recording = recordings.get(given["handle"])
    offset, limit = given.get("offset", 0), given.get("limit", 50)
    found = await recording.console.run(given["sql"])
    rows = json.loads(found.body)
    if offset > 0 and offset >= len(rows):
        raise bad_call(f"offset={offset} of {len(rows)} rows", "put LIMIT and OFFSET into the SQL")
    answer = {
        "handle": recording.handle,
        "columns": found.header["columns"],
        "types": found.header["types"],
        "sql": answer_limits.shortened(given["sql"], 1000),
    }
    return answer_limits.fitted(
        answer_limits.shorten_texts(answer, 3000),
        "rows",
        rows,
        offset=offset,
        limit=limit,
        complete=not found.header["cut"],
        more=lambda end: (
            f"query(handle={recording.handle!r}, sql=the same, limit={limit}, offset={end}), "
            "or LIMIT and OFFSET in the SQL"
        ),
    )
