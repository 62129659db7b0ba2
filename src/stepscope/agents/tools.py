"""The six tools: what they take, and what they answer. They know nothing of the protocol.

Every answer is an object of at most 4 kB: `truncated` says whether something is missing, `more` how to get
it. Names of columns have their units; every answer about a recording has the SQL that proves it.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from stepscope import library, reference
from stepscope.agents import answer_limits
from stepscope.errors import NothingFound, StepscopeError, UsageError
from stepscope.instruments.compare import figures, sides
from stepscope.library.statements import statement, text
from stepscope.report import comparing

if TYPE_CHECKING:
    from stepscope import report
    from stepscope.agents.recordings import OpenRecording, Recordings
    from stepscope.instruments.compare.figures import Measured
    from stepscope.instruments.compare.sides import Side
    from stepscope.session.trace import OpenTrace

MOST_ROWS = 200
"""That a tool can be asked for at once; the size of an answer is the other limit."""
_MOST_SQL = 1500
"""Characters of SQL that a list of findings repeats; longer SQL has a page of its own."""

Answer = dict[str, Any]
Call = Callable[["Recordings", Mapping[str, Any]], Awaitable[Answer]]


class Tool(NamedTuple):
    """A tool as agents see it. properties: JSON schemas of its arguments by name."""

    name: str
    about: str
    properties: Mapping[str, Mapping[str, Any]]
    required: tuple[str, ...]
    call: Call

    @property
    def schema(self) -> Answer:
        """The JSON schema of its arguments."""
        return {
            "type": "object",
            "properties": dict(self.properties),
            "required": list(self.required),
            "additionalProperties": False,
        }


async def call(name: str, arguments: Mapping[str, Any], recordings: Recordings) -> tuple[Answer, bool]:
    """The answer of a tool, or an error of ours as an object; True for the second."""
    try:
        tool = next((one for one in TOOLS if one.name == name), None)
        if tool is None:
            raise _odd(f"a tool called {name[:60]!r}", f"call one of {', '.join(one.name for one in TOOLS)}")
        _check(tool, arguments)
        return await tool.call(recordings, arguments), False
    except StepscopeError as error:
        return told(error), True
    except Exception as error:  # noqa: BLE001  the agent gets a sentence, and the server goes on
        seen = f"{type(error).__name__}: {error}"
        odd = StepscopeError(
            "stepscope failed at this call.",
            seen=seen[:500],
            todo="this is a bug of stepscope: report it, with the recording if you can",
            slug="unexpected",
        )
        return told(odd), True


def told(error: StepscopeError) -> Answer:
    """An error as agents read it."""
    found = {
        "error": error.slug,
        "what": error.happened[:500],
        "seen": error.seen[:1000],
        "to_do": error.todo[:1000],
        "explained": f"describe(name={error.slug!r})",
    }
    if error.path is not None:
        found["path"] = error.path[:500]
    return found


async def _open(recordings: Recordings, given: Mapping[str, Any]) -> Answer:
    recording = await recordings.open(tuple(given["paths"]))
    summary = await recording.summary()
    asked = statement("agents_sources")
    sources = await recording.ask(lambda trace: trace.query(asked).rows())
    skipped = await recording.ask(lambda trace: trace.skipped)
    names = ("run_id", "hosts", "sources", "steps", "events_seen", "events_stored", "events_lost")
    answer = {
        "handle": recording.handle,
        "title": summary.title,
        "answer": list(summary.headline),
        "findings": [f"{found.slug} ({found.severity})" for found in summary.findings][:20],
        "weakened_by": [
            {"slug": note.slug, "effect": note.effect, "events": note.events, "detail": note.detail[:200]}
            for note in summary.notes[:5]
        ],
        "notes_in_all": len(summary.notes),
        "not_read": len(skipped),
        "sql": asked.sql,
        "next": f"findings(handle={recording.handle!r})",
    }
    return answer_limits.fitted(
        _within(answer, 3000),
        "runs",
        [dict(zip(names, row, strict=True)) for row in sources],
        total=len(sources),
        more=lambda _: f"query(handle={recording.handle!r}, sql=…) with this sql",
    )


async def _findings(recordings: Recordings, given: Mapping[str, Any]) -> Answer:
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
        found[offset : offset + limit],
        total=len(found),
        offset=offset,
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


async def _analysis(recordings: Recordings, given: Mapping[str, Any]) -> Answer:
    recording = recordings.get(given["handle"])
    entry = library.named(given["name"])
    filters = given.get("filters", {})
    columns = [column.name for column in entry.columns]
    for name, value in filters.items():
        if name not in columns:
            raise _odd(f"a filter on {name[:60]!r}", f"filter on one of {', '.join(columns)}")
        if isinstance(value, (list, dict)):
            raise _odd(f"the filter {name}={value!r}"[:200], "give one value for each column")
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
        rows[offset : offset + limit],
        total=len(rows),
        offset=offset,
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


async def _query(recordings: Recordings, given: Mapping[str, Any]) -> Answer:
    recording = recordings.get(given["handle"])
    offset, limit = given.get("offset", 0), given.get("limit", 50)
    found = await recording.console.run(given["sql"])
    rows = json.loads(found.body)
    total = None if found.header["cut"] else len(rows)
    if offset > 0 and offset >= len(rows):
        raise _odd(f"offset={offset} of {len(rows)} rows", "put LIMIT and OFFSET into the SQL")
    answer = {
        "handle": recording.handle,
        "columns": found.header["columns"],
        "types": found.header["types"],
        "sql": answer_limits.shortened(given["sql"], 1000),
    }
    return answer_limits.fitted(
        _within(answer, 3000),
        "rows",
        rows[offset : offset + limit],
        total=total,
        offset=offset,
        more=lambda end: (
            f"query(handle={recording.handle!r}, sql=the same, limit={limit}, offset={end}), "
            "or LIMIT and OFFSET in the SQL"
        ),
    )


async def _compare(recordings: Recordings, given: Mapping[str, Any]) -> Answer:
    a, b = recordings.get(given["a"]), recordings.get(given["b"])
    first = await _measured(a, given.get("host_a"), 0 if a is b else None)
    later = 1 if "host_a" not in given else 0
    second = await _measured(b, given.get("host_b"), later if a is b else None)
    if a is b and (first[1].run_id, first[1].host_ids) == (second[1].run_id, second[1].host_ids):
        raise _odd("one host of one recording on both sides", "give host_a and host_b, or two handles")
    names = [first[0].name, second[0].name]
    if names[0] == names[1]:
        names = [f"{a.handle} {names[0]}", f"{b.handle} {names[1]}"]
    built = comparing.build(replace(first[0], name=names[0]), replace(second[0], name=names[1]))
    wanted = given.get("section")
    sections = [one.name.removeprefix("compared_") for one in built.sections]
    if wanted is not None and wanted not in sections:
        raise _odd(f"section={wanted[:60]!r}", f"ask for one of {', '.join(sections)}")
    rows = []
    for section in built.sections:
        name = section.name.removeprefix("compared_")
        if section.table is not None and wanted in (None, name) and name != "steps":
            columns = [column.name for column in section.table.columns]
            unit = next((str(c.unit) for c in section.table.columns if c.name == "change"), "")
            every = [dict(zip(columns, row, strict=True)) for row in section.table.rows]
            rows += [{"section": name, "unit": unit, **row} for row in (every if wanted else every[:5])]
    offset = given.get("offset", 0)
    again = ", ".join(f"{key}={value!r}" for key, value in given.items() if key != "offset")
    return answer_limits.fitted(
        {
            "a": names[0],
            "b": names[1],
            "answer": list(built.headline),
            "steps": [{"side": side, **_steps(one[0])} for side, one in (("a", first), ("b", second))],
            "sections": sections,
            "rows_of_a_section": None if wanted else "the 5 largest changes; section=NAME has all",
            "sql": first[2],
            "sql_of_b": f"the same with run_id {second[1].run_id!r} and host_id {second[1].host_ids[0]!r}",
        },
        "changes",
        rows[offset:],
        total=len(rows),
        offset=offset,
        more=lambda end: f"compare({again}, offset={end})",
    )


def _steps(measured: Measured) -> Answer:
    return {"steps": measured.steps, "mean_ps": measured.mean_ps, "median_ps": measured.median_ps}


async def _measured(recording: OpenRecording, host: str | None, at: int | None) -> tuple[Measured, Side, str]:
    """A side of a comparison, and the SQL of the ops of its first host. host: None for the host at a place
    among all, or for the run with all its hosts where there is no place either."""

    def found(trace: OpenTrace) -> tuple[Measured, Side]:
        each = sides.runs(trace.query) if host is None and at is None else sides.each(trace.query)
        if host is not None:
            chosen = [side for side in each if host in (*side.host_ids, side.name)]
        else:
            chosen = each[at or 0 :]
        if not chosen:
            raise NothingFound(
                "There is no such host to compare.",
                seen=f"{host if host is not None else 'a second host'}; there are "
                + ", ".join(side.name for side in each[:20]),
                todo="give two handles, or host_a and host_b of one",
            )
        return figures.measure(chosen[0]), chosen[0]

    measured, side = await recording.ask(found)
    return measured, side, text("ops_of_host", run_id=side.run_id, host_id=side.host_ids[0])


async def _describe(_: Recordings, given: Mapping[str, Any]) -> Answer:
    name, offset = given.get("name"), given.get("offset", 0)
    if name is None:
        entries = reference.entries()
        chapters = {
            chapter: sum(entry.chapter == chapter for entry in entries) for chapter in reference.CHAPTERS
        }
        listed = [
            entry.name for entry in entries if entry.chapter in ("tables", "views", "analyses", "findings")
        ]
        return answer_limits.fitted(
            {"chapters": chapters, "next": "describe(name=…), with a chapter, or a name or table.column"},
            "names",
            listed[offset:],
            total=len(listed),
            offset=offset,
            more=lambda end: f"describe(offset={end})",
        )
    if name in reference.CHAPTERS:
        lines = [f"{entry.name}: {entry.line}" for entry in reference.entries() if entry.chapter == name]
    else:
        lines = reference.look_up(name).splitlines()
    return answer_limits.fitted(
        {"name": name},
        "lines",
        lines[offset:],
        total=len(lines),
        offset=offset,
        more=lambda end: f"describe(name={name!r}, offset={end})",
    )


def _within(answer: Answer, most: int) -> Answer:
    """The answer with shorter texts where its head alone is large."""
    for characters in (400, 200, 80, 30):
        if answer_limits.size(answer) <= most:
            return answer
        answer = {
            key: one if key == "handle" else answer_limits.shortened(one, characters)
            for key, one in answer.items()
        }
        answer["truncated_head"] = True
    return answer


def _check(tool: Tool, arguments: Mapping[str, Any]) -> None:
    """UsageError unless the arguments are those of the schema."""
    for name in tool.required:
        if name not in arguments:
            raise _odd(f"no {name}", f"give {', '.join(tool.required)}")
    for name, value in arguments.items():
        if name not in tool.properties:
            raise _odd(f"an argument {name[:60]!r}", f"{tool.name} takes {', '.join(tool.properties)}")
        wanted = tool.properties[name]
        if not _fits(value, wanted):
            raise _odd(f"{name}={value!r}"[:200], f"give {json.dumps(wanted)}")


def _fits(value: Any, schema: Mapping[str, Any]) -> bool:
    kind = schema["type"]
    if kind == "integer":
        whole = isinstance(value, int) and not isinstance(value, bool)
        return whole and schema["minimum"] <= value <= schema.get("maximum", 1 << 53)
    if kind == "string":
        return isinstance(value, str) and 0 < len(value) <= schema["maxLength"]
    if kind == "array":
        few = (
            isinstance(value, Sequence)
            and not isinstance(value, str)
            and 0 < len(value) <= schema["maxItems"]
        )
        return few and all(_fits(one, schema["items"]) for one in value)
    return isinstance(value, dict) and len(value) <= schema["maxProperties"]


def _odd(seen: str, todo: str) -> UsageError:
    return UsageError("This call does not make sense.", seen=seen, todo=todo)


def _text(about: str, most: int = 4096) -> Answer:
    return {"type": "string", "description": about, "maxLength": most}


def _number(about: str, low: int, high: int | None = None) -> Answer:
    found: Answer = {"type": "integer", "description": about, "minimum": low}
    return found if high is None else {**found, "maximum": high}


_HANDLE = _text("from open", 40)
_LIMIT = _number("items at most; fewer where they do not fit 4 kB", 1, MOST_ROWS)
_OFFSET = _number("items to leave out, as `more` says", 0)

TOOLS = (
    Tool(
        "open",
        "Opens recordings (Chrome traces, XPlane, RunMetadata, event files, graphs; folders of them; a lake) "
        "and says where the time goes. Call it first: the other tools take its handle.",
        {
            "paths": {
                "type": "array",
                "items": _text("a path under one of the roots"),
                "maxItems": 50,
                "description": "files or folders that are read together",
            }
        },
        ("paths",),
        _open,
    ),
    Tool(
        "findings",
        "What is wrong, the worst first: severity, impact, what to change, the first case, and SQL that "
        "lists all cases.",
        {"handle": _HANDLE, "limit": _LIMIT, "offset": _OFFSET},
        ("handle",),
        _findings,
    ),
    Tool(
        "analysis",
        "Rows of a named analysis or finding (describe(name='analyses') lists them), with its SQL.",
        {
            "handle": _HANDLE,
            "name": _text("name of the analysis, or slug of the finding", 100),
            "filters": {
                "type": "object",
                "description": "values that columns must have, by name",
                "maxProperties": 20,
            },
            "limit": _LIMIT,
            "offset": _OFFSET,
        },
        ("handle", "name"),
        _analysis,
    ),
    Tool(
        "query",
        "Rows of one statement of DuckDB's SQL; describe(name='tables') lists what it can read. Times are "
        "integer picoseconds (_ps). It reads nothing but the recording, and is stopped after 20 s.",
        {
            "handle": _HANDLE,
            "sql": _text("one SELECT", 20_000),
            "limit": _LIMIT,
            "offset": _OFFSET,
        },
        ("handle", "sql"),
        _query,
    ),
    Tool(
        "compare",
        "Two recordings, or two hosts of one, side by side: steps, their parts, op types, stages, memory. "
        "It describes: one recording of each cannot say whether a difference means anything.",
        {
            "a": _HANDLE,
            "b": _HANDLE,
            "host_a": _text("host of a, where it has several", 200),
            "host_b": _text("host of b, where it has several", 200),
            "section": _text("all rows of one section, as `sections` names them", 40),
            "offset": _OFFSET,
        },
        ("a", "b"),
        _compare,
    ),
    Tool(
        "describe",
        "What a table, column (table.column), view, analysis, finding or message is; without a name, what "
        "there is.",
        {
            "name": _text("a name, or a chapter: tables, views, analyses, findings, messages", 100),
            "offset": _OFFSET,
        },
        (),
        _describe,
    ),
)
