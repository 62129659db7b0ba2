"""One answer whoever asks: command line, page, Python, agents, a lake, and another engine over that lake."""

import asyncio
import itertools
import json
from pathlib import Path
from typing import Any

import pytest

import stepscope
from stepscope.agents.recordings import Recordings
from stepscope.agents.roots import Roots
from stepscope.cli import main
from stepscope.presenters import json as as_json
from tests.corpus import SAMPLES
from tests.server.asking import Served
from tests.tiers import some

ASKED = {
    "dump": "xla_dump",
    "xplane": "xplane/jax.xplane.pb.gz",
    "run_metadata": "run_metadata/input_only_step_stats.pb",
    "kineto": "chrome/kineto.json.gz",
}
"""Recordings that differ most: programs alone, programs with times, graphs with times, a trace of PyTorch."""
_MAY_DIFFER = frozenset({"next_commands", "sql"})
"""A lake keeps tables, so that commands which read files are of no use there; SQL may name a source by its
number, and numbers of rows are those of the whole lake."""

WHY = "answers are made in one place: the two recordings that differ most would show a second one"


def _told(document: Any, names: dict[str, str]) -> Any:
    """An answer in JSON but for what may differ, runs called alike."""
    text = json.dumps(document)
    for name, other in names.items():
        text = text.replace(name, other)

    def kept(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        return {
            key: value
            for key, value in pairs
            if key not in _MAY_DIFFER and not (key.endswith("_id") and isinstance(value, int))
        }

    return json.loads(text, object_pairs_hook=kept)


def _of_python(verb: str, trace: stepscope.Trace) -> Any:
    shown = {"summary": trace.summary, "memory": trace.memory}[verb]()
    return json.loads(as_json.render(shown.report))


def _of_agents(path: Path) -> Any:
    async def ask() -> Any:
        recordings = Recordings(Roots([str(path.parent)]))
        try:
            return await (await recordings.open((str(path),))).summary()
        finally:
            await recordings.close()

    return json.loads(as_json.render(asyncio.run(ask())))


def _of_page(verb: str, path: Path) -> Any:
    page = Served(str(path))
    try:
        return page.get(f"/api/report/{verb}").json
    finally:
        page.close()


def _of_mean_step(document: Any) -> Any:
    """The document with the rows of the mean step alone in `step_parts`: the page's first answer also has
    those of each step, for its chart."""
    for section in document["sections"]:
        if section["name"] == "step_parts":
            table = section["table"]
            table["rows"] = [row for row in table["rows"] if row["what"] == "mean"]
            table["total"] = len(table["rows"])
    return document


def _runs(*traces: stepscope.Trace) -> dict[str, str]:
    """Ids of runs in the second trace, as the first has them."""
    mine, other = (trace.query("SELECT run_id, name FROM run ORDER BY ALL").rows() for trace in traces)
    return {run: own for (own, _), (run, _) in zip(mine, other, strict=True)}


@pytest.mark.parametrize(
    ("sample", "verb"),
    [
        pytest.param(
            *pair,
            marks=() if pair in (("dump", "memory"), ("kineto", "summary")) else pytest.mark.repeats(WHY),
        )
        for pair in itertools.product(ASKED, ("summary", "memory"))
    ],
)
def test_everybody_is_told_the_same(
    sample: str, verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = SAMPLES / ASKED[sample]
    code = main([verb, str(path), "--format", "json", *["--all"] * (verb == "memory")])
    assert code in (0, 2)
    wanted = _told(json.loads(capsys.readouterr().out), {})
    if verb == "summary":
        assert wanted["headline"]
        assert _told(_of_agents(path), {}) == wanted
    page = _told(_of_page("first" if verb == "summary" else verb, path), {})
    assert _of_mean_step(page) == wanted
    stepscope.ingest([path], tmp_path / "lake")
    with stepscope.open(path) as trace, stepscope.open(tmp_path / "lake") as lake:
        names = _runs(trace, lake)
        assert _told(_of_python(verb, trace), {}) == wanted
        assert _told(_of_python(verb, lake), names) == wanted
    capsys.readouterr()
    assert (
        main([verb, "--lake", str(tmp_path / "lake"), "--format", "json", *["--all"] * (verb == "memory")])
        == code
    )
    assert _told(json.loads(capsys.readouterr().out), names) == wanted


@pytest.mark.parametrize("sample", some(ASKED.values(), [ASKED["dump"]], WHY))
def test_another_engine_tells_the_same(sample: str, tmp_path: Path) -> None:
    second = pytest.importorskip("tests.engines.second", reason="DataFusion is not installed")
    stepscope.ingest([SAMPLES / sample], tmp_path / "lake")
    with (
        stepscope.open(tmp_path / "lake") as duckdb,
        stepscope.open(tmp_path / "lake", engine=second.DataFusion) as datafusion,
    ):
        assert _of_python("summary", datafusion) == _of_python("summary", duckdb)
        assert _of_python("memory", datafusion) == _of_python("memory", duckdb)


def test_a_limit_on_findings_holds_for_the_lake_as_well(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sample, lake = str(SAMPLES / "xla_dump"), str(tmp_path / "lake")
    stepscope.ingest([sample], lake)
    limit: list[str] = ["--fail-on", "compiled-for-other-shapes"]
    for given in ([sample], ["--lake", lake]):
        assert main([*given, *limit]) == 1
        assert "compiled-for-other-shapes (medium)" in capsys.readouterr().err
