"""`stepscope.open()`: what it takes, what the objects say, and what Tab offers."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import stepscope
from stepscope.cli import main
from stepscope.errors import OutputError, UsageError

SAMPLES = Path(__file__).resolve().parents[1] / "samples"
SLOW = SAMPLES / "capture" / "slow_map"


@pytest.fixture(scope="module")
def trace() -> Iterator[stepscope.Trace]:
    """Read by all tests, closed by none."""
    with stepscope.open(SLOW) as opened:
        yield opened


def test_a_path_or_a_list() -> None:
    files = sorted((SAMPLES / "profiler_hook").iterdir())
    assert len(files) == 4
    for given in ([files], [str(files[0]), files[1:]], [tuple(files)], files, [SAMPLES / "profiler_hook"]):
        with stepscope.open(*given) as trace:
            assert len(trace.sources) == 4
    with pytest.raises(UsageError, match="no path to open"):
        stepscope.open([])


def test_public_names_and_no_others() -> None:
    assert set(dir(stepscope)) == set(stepscope.__all__)
    for name in stepscope.__all__:
        assert getattr(stepscope, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'opn'"):
        _ = stepscope.opn  # type: ignore[attr-defined]


def test_every_public_object_says_how_it_is_used() -> None:
    for name in set(stepscope.__all__) - {"__version__"}:
        assert getattr(stepscope, name).__doc__, name
    for name in dir(stepscope.Trace):
        if not name.startswith("_"):
            assert getattr(stepscope.Trace, name).__doc__, name


def test_tab_offers_what_users_ask() -> None:
    trace = stepscope.open(SLOW)
    offered = dir(trace)
    assert {"summary", "answer", "findings", "pipeline", "memory", "steps", "query", "analysis"} <= set(
        offered
    )
    within = ("leave", "begin", "ask", "watch")
    assert not [name for name in offered if name.startswith("_") or name in within]
    # Completion looks at values, so it must neither decode nor fail on a closed trace.
    trace.close()
    assert "closed" in repr(trace)


def test_the_objects_agree_with_the_command_line(
    trace: stepscope.Trace, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(SLOW), "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert trace.summary().data == document
    assert trace.answer.data == document["answer"]
    assert [one.slug for one in trace.findings] == [one["slug"] for one in document["findings"]]
    assert main(["pipeline", str(SLOW), "--format", "json"]) == 0
    assert trace.pipeline().data == json.loads(capsys.readouterr().out)
    assert trace.steps.rows() == trace.query("@step_list").rows()


def test_summary_prints_what_the_command_prints(
    trace: stepscope.Trace, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert main([str(SLOW), "--color", "never"]) == 0
    shown = capsys.readouterr().out.splitlines()
    text = repr(trace.summary()).splitlines()
    assert text[:3] == shown[:3]


def test_what_is_not_there_is_false(tmp_path: Path) -> None:
    with stepscope.open(SAMPLES / "chrome" / "viztracer.json") as trace:
        assert not trace.pipeline()
        assert not trace.memory()
        assert "nothing about" in repr(trace.memory())
        assert repr(trace.findings)
    with stepscope.open(SAMPLES / "run_metadata" / "two_servers.pb") as trace:
        assert trace.memory()
        assert trace.memory()["curve"].columns == ("ts_ps", "bytes")


def test_several_runs_have_no_answer_in_common() -> None:
    with stepscope.open(SAMPLES / "capture") as trace:
        assert trace.answer is None
        assert len(trace.summary().data["answers"]) == 2


def test_sections_by_name(trace: stepscope.Trace) -> None:
    summary = trace.summary()
    assert summary["op_types"].rows()[0][0] == "PyFunc"
    with pytest.raises(UsageError, match="no section nonsense"):
        summary["nonsense"]


@pytest.mark.parametrize("ending", [".html", ".md", ".json"])
def test_saving(trace: stepscope.Trace, tmp_path: Path, ending: str) -> None:
    path, summary = tmp_path / f"r{ending}", trace.summary()
    summary.save(path)
    assert path.stat().st_size > 1000
    with pytest.raises(OutputError):
        summary.save(path)
    summary.save(str(path), force=True)
    with pytest.raises(UsageError, match="what kind"):
        summary.save(tmp_path / "r.xyz")


def test_html_of_everything(trace: stepscope.Trace) -> None:
    for one in (
        trace,
        trace.summary(),
        trace.answer,
        trace.findings,
        trace.findings[0],
        trace.pipeline(),
        trace.memory(),
    ):
        small = one._repr_html_()
        assert len(small) < 3000, "a notebook stays small"
        assert not re.search("<(script|iframe|img|link|a)[ >]|://", small)
        if not hasattr(one, "page"):
            continue
        html = one.page()._repr_html_()
        assert html.startswith('<iframe srcdoc="')
        assert "sandbox=" in html
        assert "http://" not in html.replace("http://www.w3.org", "")
        assert "https://" not in html
