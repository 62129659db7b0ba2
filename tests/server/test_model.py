"""The model's views against the command line's, and requests that make no sense."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from stepscope.instruments import tfprof
from stepscope.session import trace
from tests.corpus import SAMPLES
from tests.server.asking import Served

STEPS = SAMPLES / "run_metadata" / "two_servers.pb"
SELECT = {"select": "micros,bytes,occurrence", "order_by": "micros"}


def printed(*words: str) -> Any:
    """What the verb prints as JSON."""
    command = [sys.executable, "-m", "stepscope", "tfprof", *words, "-format", "json"]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)


@pytest.fixture(scope="module")
def steps() -> Iterator[Served]:
    with closing(Served(str(STEPS))) as found:
        yield found


@pytest.mark.repeats("the verbs are tested in instruments")
@pytest.mark.parametrize("view", ["scope", "graph", "op"])
def test_a_view_is_the_verbs(steps: Served, view: str) -> None:
    answer = steps.post("/api/model", {"view": view, "options": SELECT})
    assert answer.status == 200
    words = [f"-{name}={value}" for name, value in SELECT.items()]
    wanted = printed(view, str(STEPS), *words)
    assert answer.json["report"]["sections"][0]["tree"] == wanted["sections"][0]["tree"]
    assert answer.json["lines"] == len(wanted["sections"][0]["tree"]["nodes"])
    assert answer.json["text_left_out"] == 0


def test_code_needs_lines(steps: Served) -> None:
    """The verb refuses as well: nothing says which line made these ops."""
    answer = steps.post("/api/model", {"view": "code", "options": {}})
    assert answer.status == 409
    assert answer.slug == "unreadable-source"


def test_the_text_is_tfprofs(steps: Served) -> None:
    answer = steps.post("/api/model", {"view": "op", "options": {"max_depth": "3"}})
    command = [sys.executable, "-m", "stepscope", "tfprof", "op", str(STEPS), "-max_depth=3"]
    text = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    assert answer.json["text"] in text
    assert answer.json["text"].strip()


def test_options_and_columns_are_named(steps: Served) -> None:
    about = steps.get("/api/model").json
    assert about["views"] == list(tfprof.VIEWS)
    assert "output" not in [one["name"] for one in about["options"]]
    assert about["columns"] == tfprof.columns()


def test_a_trace_has_a_model_too(served: Served) -> None:
    answer = served.post("/api/model", {"view": "op", "options": {"select": "micros"}})
    assert answer.status == 200
    assert answer.json["lines"] > 5


def test_without_ops_there_is_none(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text("[]")
    with closing(Served(str(tmp_path / "t.json"))) as found:
        answer = found.get("/api/model")
        assert answer.status in (404, 409)
        assert answer.slug


@pytest.mark.parametrize("odd", [
    {"view": "scopes", "options": {}},
    {"view": None, "options": {}},
    {"view": ["scope"], "options": {}},
    {"view": "scope", "options": []},
    {"view": "scope", "options": {"max_depth": 5}},
    {"view": "scope", "options": {"max_depth": "deep"}},
    {"view": "scope", "options": {"nonsense": "1"}},
    {"view": "scope", "options": {"output": "file:outfile=/tmp/planted"}},
    {"view": "scope", "options": {"start_name_regexes": "("}},
    {"view": "scope", "options": {"x" * 100_000: "1"}},
    {"view": "scope"},
    {"view": "scope", "options": {}, "more": 1},
], ids=lambda odd: str(odd)[:60])  # fmt: skip
def test_what_makes_no_sense_is_refused(steps: Served, odd: dict[str, Any]) -> None:
    answer = steps.post("/api/model", odd)
    assert answer.status in (200, 400)
    if "start_name_regexes" not in str(odd):
        assert answer.status == 400
        assert answer.slug
    assert not Path("/tmp/planted").exists()


def test_the_model_reads_what_is_given() -> None:
    with trace.open(STEPS, cache=False) as opened:
        from stepscope.server import model

        assert model.read(opened).of_trace is False
