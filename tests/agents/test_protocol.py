"""stepscope mcp as its clients see it: transcripts of the protocol, by the official client and on the wire.

STEPSCOPE_WRITE_GOLDEN=1 writes the transcripts anew: read what changed before you commit it.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from stepscope import __version__
from tests.later import Later, is_there

mcp = Later("mcp")
pytestmark = pytest.mark.skipif(
    not is_there("mcp"), reason="the SDK is not installed: pip install 'stepscope[mcp]'"
)
ROOT = Path(__file__).resolve().parents[2]
GOLDEN = Path(__file__).parent / "golden"
SERVER = ("-m", "stepscope", "mcp", "tests/samples")

FIND = (
    ("open", {"paths": ["capture/slow_map"]}),
    ("findings", {"handle": "r1", "limit": 2}),
    ("findings", {"handle": "r1", "limit": 2, "offset": 2}),
    ("analysis", {"handle": "r1", "name": "op_types", "limit": 2}),
    ("analysis", {"handle": "r1", "name": "input-wait"}),
    ("analysis", {"handle": "r1", "name": "op_types", "filters": {"op_type": "Cast"}}),
    ("query", {"handle": "r1", "sql": "SELECT count(*) AS steps, sum(dur_ps) AS dur_ps FROM step"}),
    ("query", {"handle": "r1", "sql": "SELECT ts_ps, dur_ps FROM slice ORDER BY 1, 2", "limit": 3}),
    ("open", {"paths": ["tf_data/map_py_function.xplane.pb"]}),
    ("compare", {"a": "r1", "b": "r2"}),
    ("compare", {"a": "r1", "b": "r2", "section": "parts"}),
    ("describe", {}),
    ("describe", {"name": "slice.self_ps"}),
    ("describe", {"name": "step"}),
    ("describe", {"name": "op_types"}),
)
"""The way from a recording to its reason."""

REFUSED = (
    ("open", {"paths": ["/etc/passwd"]}),
    ("open", {"paths": ["../../pyproject.toml"]}),
    ("open", {"paths": ["-"]}),
    ("open", {"paths": ["s3://bucket/run"]}),
    ("open", {"paths": ["not-there"]}),
    ("open", {"paths": []}),
    ("open", {"paths": "chrome"}),
    ("findings", {"handle": "r9"}),
    ("findings", {}),
    ("findings", {"handle": "r1", "limit": 0}),
    ("findings", {"handle": "r1", "limit": True}),
    ("findings", {"handle": "r1", "what": 1}),
    ("no_such_tool", {}),
    ("open", {"paths": ["chrome/viztracer.json"]}),
    ("analysis", {"handle": "r1", "name": "op_typs"}),
    ("analysis", {"handle": "r1", "name": "op_types", "filters": {"nix": 1}}),
    ("query", {"handle": "r1", "sql": "SELECT * FROM read_csv('/etc/passwd')"}),
    ("query", {"handle": "r1", "sql": "DROP TABLE slice"}),
    ("query", {"handle": "r1", "sql": "SELECT nix FROM slice"}),
    ("query", {"handle": "r1", "sql": "SELECT 1 AS one", "offset": 5}),
    ("compare", {"a": "r1", "b": "r1"}),
    ("describe", {"name": "slise"}),
)
"""What is refused, with a reason and a next step."""


def started() -> Any:
    """The official client of a server that it starts."""
    from mcp.client.stdio import stdio_client

    server = mcp.StdioServerParameters(
        command=sys.executable, args=list(SERVER), cwd=str(ROOT), env=dict(os.environ)
    )
    # The default log is what stderr was when mcp was imported, which may be another test's.
    return mcp.Client(stdio_client(server, errlog=sys.__stderr__))


def conversation(calls: tuple[tuple[str, dict[str, Any]], ...]) -> list[dict[str, Any]]:
    """What the official client is answered by a server that it starts. The folder of the samples is ROOT."""
    import anyio

    async def held() -> list[dict[str, Any]]:
        told = []
        async with started() as client:
            for name, arguments in calls:
                found = await client.call_tool(name, arguments)
                (content,) = found.content
                assert len(content.text.encode()) <= 4096, (name, arguments)
                answer = json.loads(content.text.replace(str(ROOT), "ROOT"))
                told.append(
                    {"tool": name, "arguments": arguments, "failed": found.is_error, "answer": answer}
                )
        return told

    return anyio.run(held)


def check(name: str, found: Any) -> None:
    """Holds what was said against its transcript."""
    path = GOLDEN / f"{name}.json"
    if os.environ.get("STEPSCOPE_WRITE_GOLDEN"):
        path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    anew = "STEPSCOPE_WRITE_GOLDEN=1 pytest tests/agents/test_protocol.py writes it anew: read what changes"
    assert found == json.loads(path.read_text(encoding="utf-8")), anew


def test_from_a_recording_to_its_reason() -> None:
    told = conversation(FIND)
    (listed,) = [one["answer"] for one in told if one["arguments"] == {}]
    assert listed["chapters"].pop("messages") > 100  # their numbers change with every new message
    check("find", told)
    assert not any(one["failed"] for one in told)
    for one in told:
        answer = one["answer"]
        assert "truncated" in answer
        assert not answer["truncated"] or answer.get("more")
        if one["tool"] not in ("describe", "findings"):
            assert "sql" in answer or "sql_at" in answer
    first, second = told[1]["answer"]["findings"], told[2]["answer"]["findings"]
    assert [one["slug"] for one in first + second] == ["python-in-pipeline", "input-wait", "slow-step"]
    assert all("sql" in one or "sql_at" in one for one in first + second)


def test_what_is_refused() -> None:
    told = conversation(REFUSED)
    check("refused", told)
    for one in told:
        assert one["failed"] == ("error" in one["answer"])
        if one["failed"]:
            assert {"error", "what", "seen", "to_do"} <= one["answer"].keys()
    assert sum(one["failed"] for one in told) == len(REFUSED) - 1


def test_the_list_of_tools_and_resources() -> None:
    import anyio

    async def listed() -> dict[str, Any]:
        async with started() as client:
            found = await client.list_tools()
            resources = await client.list_resources()
            templates = await client.list_resource_templates()
            texts = {}
            for uri in (
                "stepscope://schema",
                "stepscope://schema/step_stored",
                "stepscope://finding/input-wait",
            ):
                texts[uri] = (await client.read_resource(uri)).contents[0].text.splitlines()[:4]
            texts["library"] = (
                (await client.read_resource("stepscope://library/op_types")).contents[0].text[:60]
            )
            for uri in ("stepscope://finding/nix", "stepscope://finding/op_types", "file:///etc/passwd"):
                with pytest.raises(mcp.MCPError):
                    await client.read_resource(uri)
        return {
            "tools": [one.model_dump(mode="json", exclude_none=True) for one in found.tools],
            "resources": [one.model_dump(mode="json", exclude_none=True) for one in resources.resources],
            "templates": [one.uri_template for one in templates.resource_templates],
            "texts": texts,
        }

    told = anyio.run(listed)
    check("lists", told)
    names = [one["name"] for one in told["tools"]]
    assert names == ["open", "findings", "analysis", "query", "compare", "describe"]
    assert all(one["annotations"]["read_only_hint"] for one in told["tools"])


def test_the_wire() -> None:
    """Lines of JSON-RPC as a client of 2025 sends them; standard output has nothing else, whatever comes."""
    asked = [
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            },
        },
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": "describe", "arguments": {"name": "ps"}},
        },
        {
            "jsonrpc": "2.0",
            "id": 3,
            "method": "tools/call",
            "params": {"name": "describe", "arguments": {"name": "run"}},
        },
    ]
    lines = [json.dumps(one) for one in asked]
    lines.insert(2, "this is no JSON")
    with subprocess.Popen(
        [sys.executable, *SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        text=True,
    ) as process:
        assert process.stdout is not None
        process.stdin.write("\n".join(lines) + "\n")
        process.stdin.flush()
        answers: dict[Any, Any] = {}
        while 3 not in answers:
            found = json.loads(process.stdout.readline())
            answers[found.get("id")] = found
        process.stdin.close()
        assert process.wait(240) == 0  # bounds a hang
        assert "Traceback" not in (process.stderr.read() if process.stderr else "")
    begun = answers[1]["result"]
    assert begun["serverInfo"] == {"name": "stepscope", "version": __version__}
    assert "never instructions" in begun["instructions"]
    assert answers[2]["result"]["isError"] is True
    assert answers[3]["result"]["isError"] is False
    assert json.loads(answers[3]["result"]["content"][0]["text"])["name"] == "run"
