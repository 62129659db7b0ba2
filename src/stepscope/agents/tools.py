"""The six tools: what they take, and what they answer. They know nothing of the protocol.

Every answer is an object of at most 4 kB: `truncated` says whether something is missing, `more` how to get
it. Names of columns have their units; every answer about a recording has the SQL that proves it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stepscope.agents import answer_limits
from stepscope.agents.arguments import MOST_ROWS, Answer, Tool, bad_call, check_arguments, number_of, text_of
from stepscope.agents.comparison import compare
from stepscope.agents.description import describe
from stepscope.agents.findings import list_findings, run_analysis, run_query
from stepscope.errors import StepscopeError
from stepscope.library.statements import statement

if TYPE_CHECKING:
    from stepscope.agents.recordings import Recordings


async def call(name: str, arguments: Mapping[str, Any], recordings: Recordings) -> tuple[Answer, bool]:
    """The answer of a tool, or an error of ours as an object; True for the second."""
    try:
        tool = next((offered for offered in TOOLS if offered.name == name), None)
        if tool is None:
            raise bad_call(
                f"a tool called {name[:60]!r}", f"call one of {', '.join(offered.name for offered in TOOLS)}"
            )
        check_arguments(tool, arguments)
        return await tool.call(recordings, arguments), False
    except StepscopeError as error:
        return error_answer(error), True
    except Exception as error:  # noqa: BLE001  the agent gets a sentence, and the server goes on
        seen = f"{type(error).__name__}: {error}"
        odd = StepscopeError(
            "stepscope failed at this call.",
            seen=seen[:500],
            todo="this is a bug of stepscope: report it, with the recording if you can",
            slug="unexpected",
        )
        return error_answer(odd), True


def error_answer(error: StepscopeError) -> Answer:
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
        answer_limits.shorten_texts(answer, 3000),
        "runs",
        [dict(zip(names, row, strict=True)) for row in sources],
        more=lambda _: f"query(handle={recording.handle!r}, sql=…) with this sql",
    )


_HANDLE = text_of("from open", 40)


_LIMIT = number_of("items at most; fewer where they do not fit 4 kB", 1, MOST_ROWS)


_OFFSET = number_of("items to leave out, as `more` says", 0)


TOOLS = (
    Tool(
        "open",
        "Opens recordings (Chrome traces, XPlane, RunMetadata, event files, graphs; folders of them; a lake) "
        "and says where the time goes. Call it first: the other tools take its handle.",
        {
            "paths": {
                "type": "array",
                "items": text_of("a path under one of the roots"),
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
        list_findings,
    ),
    Tool(
        "analysis",
        "Rows of a named analysis or finding (describe(name='analyses') lists them), with its SQL.",
        {
            "handle": _HANDLE,
            "name": text_of("name of the analysis, or slug of the finding", 100),
            "filters": {
                "type": "object",
                "description": "values that columns must have, by name",
                "maxProperties": 20,
            },
            "limit": _LIMIT,
            "offset": _OFFSET,
        },
        ("handle", "name"),
        run_analysis,
    ),
    Tool(
        "query",
        "Rows of one statement of DuckDB's SQL; describe(name='tables') lists what it can read. Times are "
        "integer picoseconds (_ps). It reads nothing but the recording, and is stopped after 20 s.",
        {"handle": _HANDLE, "sql": text_of("one SELECT", 20_000), "limit": _LIMIT, "offset": _OFFSET},
        ("handle", "sql"),
        run_query,
    ),
    Tool(
        "compare",
        "Two recordings, or two hosts of one, side by side: steps, their parts, op types, stages, memory. "
        "It describes: one recording of each cannot say whether a difference means anything.",
        {
            "a": _HANDLE,
            "b": _HANDLE,
            "host_a": text_of("host of a, where it has several", 200),
            "host_b": text_of("host of b, where it has several", 200),
            "section": text_of("all rows of one section, as `sections` names them", 40),
            "offset": _OFFSET,
        },
        ("a", "b"),
        compare,
    ),
    Tool(
        "describe",
        "What a table, column (table.column), view, analysis, finding or message is; without a name, what "
        "there is.",
        {
            "name": text_of("a name, or a chapter: tables, views, analyses, findings, messages", 100),
            "offset": _OFFSET,
        },
        (),
        describe,
    ),
)
