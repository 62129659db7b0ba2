"""The magics, in a real notebook that a kernel executes, and what they refuse."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("IPython", reason="the group test has IPython")

from IPython.testing.globalipapp import start_ipython

import stepscope
from stepscope import StepscopeError, notebook

SAMPLES = Path(__file__).parent / "samples"
SLOW = SAMPLES / "capture" / "slow_map"


@pytest.fixture(autouse=True)
def _places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPSCOPE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setattr(notebook, "_tables", {})


# --- a real notebook -----------------------------------------------------------------------------

CELLS = (
    "%load_ext stepscope",
    f"%stepscope {SLOW}",
    f"%%stepscope query {SLOW} --into slow --table long_steps\n"
    "SELECT step, dur_ps FROM step WHERE dur_ps > 40000000000 ORDER BY step",
    "slow",
    f"%%stepscope query {SLOW}\nSELECT count(*) AS n FROM long_steps",
    f"%stepscope query {SLOW} 'SELECT 7 AS seven' --format csv",
    "%%stepscope record --into recorded -o capture --warmup 0 --no-machine\n"
    "import time\n"
    "from stepscope import capture\n"
    "done = 0\n"
    "for i in capture.steps(range(12)):\n"
    "    time.sleep(0.002); done += 1\n",
    "print(done, recorded.query('SELECT count(*) AS n FROM step')[0].n > 5, recorded.query("
    "\"SELECT DISTINCT file FROM frame WHERE file LIKE 'In [%'\")['file'])",
    "%stepscope nowhere.json",
    "import stepscope; stepscope.open('" + str(SLOW) + "').findings",
    "stepscope.open('" + str(SLOW) + "').view('timeline', height=400)",
    f"%stepscope serve {SLOW}",
    "%stepscope sumary " + str(SLOW),
)


FAILING = (8, 12)
"""Cells that end a run of all of them, unless they say that they raise."""


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> list[list[Any]]:
    """What each cell shows."""
    nbclient = pytest.importorskip("nbclient", reason="the group test has nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel", reason="the group test has ipykernel")
    folder = tmp_path_factory.mktemp("notebook")
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS])
    for number in FAILING:
        book.cells[number].metadata["tags"] = ["raises-exception"]
    # This interpreter, whatever kernels the machine has.
    kernel = folder / "kernels" / "python3"
    kernel.mkdir(parents=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    words = ", ".join(f'"{word}"' for word in argv)
    (kernel / "kernel.json").write_text(
        f'{{"argv": [{words}], "display_name": "here", "language": "python"}}'
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", str(folder))
        patch.setenv("IPYTHONDIR", str(folder / "ipython"))
        patch.setenv("STEPSCOPE_CACHE_DIR", str(folder / "cache"))
        client = nbclient.NotebookClient(
            book, kernel_name="python3", timeout=120, resources={"metadata": {"path": str(folder)}}
        )
        client.execute()
    return [cell.outputs for cell in book.cells]


def shown(outputs: list[Any], kind: str) -> str:
    """What a cell shows as one media type."""
    return "".join("".join(one["data"].get(kind, "")) for one in outputs if "data" in one)


def printed(outputs: list[Any], stream: str = "stdout") -> str:
    return "".join(one["text"] for one in outputs if one.get("name") == stream)


def failed(outputs: list[Any]) -> str:
    """How a cell failed, as the notebook shows it."""
    (one,) = (one for one in outputs if one["output_type"] == "error")
    return "\n".join(one["traceback"])


def test_a_path_shows_its_summary(outputs: list[list[Any]]) -> None:
    assert outputs[0] == []
    assert "Waiting for input takes" in shown(outputs[1], "text/html")
    assert len(json.dumps(outputs[1])) < 12_000, "text and HTML together"
    assert "Waiting for input takes" in shown(outputs[1], "text/plain")


def test_rows_go_to_a_variable_and_to_a_table(outputs: list[list[Any]]) -> None:
    assert outputs[2] == []
    assert "70265873000" in shown(outputs[3], "text/plain")
    assert "<table" in shown(outputs[3], "text/html")
    assert shown(outputs[4], "text/plain").splitlines()[2].strip() == "3"


def test_other_verbs_print_what_they_print(outputs: list[list[Any]]) -> None:
    assert printed(outputs[5]).split() == ["seven", "7"]


def test_a_cell_is_recorded(outputs: list[list[Any]]) -> None:
    assert printed(outputs[7]) == "12 True ['In [7]']\n"


def test_an_error_is_told_without_a_traceback(outputs: list[list[Any]]) -> None:
    told = failed(outputs[8])
    assert told.startswith("error: There is no file or folder nowhere.json")
    assert "to do:" in told
    assert "Traceback" not in told


def test_objects_draw_themselves(outputs: list[list[Any]]) -> None:
    assert "python-in-pipeline" not in shown(outputs[9], "text/plain")
    assert "Steps wait for input" in shown(outputs[9], "text/plain")
    assert "Steps wait for input" in shown(outputs[9], "text/html")


def test_the_page_is_a_widget(outputs: list[list[Any]]) -> None:
    for cell in outputs[10:12]:
        (one,) = (one for one in cell if "data" in one)
        assert "application/vnd.jupyter.widget-view+json" in one["data"]


def test_a_verb_with_a_typo_is_guessed(outputs: list[list[Any]]) -> None:
    assert "Did you mean summary?" in failed(outputs[12])


# --- widgets, in this process ----------------------------------------------------------------------


@pytest.fixture
def view() -> Iterator[Any]:
    pytest.importorskip("anywidget", reason="the group test has anywidget")
    made = stepscope.open(SLOW).view("pipeline")
    made.told = []
    made.send = lambda content, buffers=None: made.told.append((content, buffers))
    yield made
    made.close()


def test_a_widget_answers_its_frames(view: Any) -> None:
    assert view.page.startswith("<!doctype html>")
    assert 'data-view="pipeline"' in view.page
    assert "slow_map" in view.title
    asked = {"id": 3, "of": "a frame", "method": "GET", "path": "/api/report/pipeline", "body": None}
    view._heard(view, asked, [])
    ((told, (content,)),) = view.told
    assert told == {"id": 3, "of": "a frame", "status": 200}
    assert json.loads(content)["verdict"] == "input_bound"


@pytest.mark.parametrize(
    "odd",
    [
        None,
        [],
        {},
        {"id": "3"},
        {"path": "/../etc/passwd"},
        {"path": 7},
        {"path": "/api/" + "x" * (1 << 17)},
        {"method": "DELETE"},
        {"body": ["x"]},
        {"of": None},
    ],
)
def test_what_no_frame_sends_is_passed_over(view: Any, odd: Any) -> None:
    good = {"id": 3, "of": "a frame", "method": "GET", "path": "/api/catalog", "body": ""}
    view._heard(view, good | odd if isinstance(odd, dict) and odd else odd, [])
    assert view.told == []


def test_views_that_are_none() -> None:
    with pytest.raises(StepscopeError, match="no view sql"):
        stepscope.open(SLOW).view("sql")


def test_without_anywidget_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.delitem(sys.modules, "stepscope.objects.widget", raising=False)
    with pytest.raises(StepscopeError, match=r"stepscope\[notebook\]"):
        stepscope.open(SLOW).view()


# --- what is refused, in this process ------------------------------------------------------------


@pytest.fixture(scope="module")
def shell() -> Any:
    os.environ.setdefault("IPYTHONDIR", "/nonexistent")
    return start_ipython() or __import__("IPython").get_ipython()


@pytest.mark.parametrize(
    ("line", "cell", "seen"),
    [
        (f"pipeline {SLOW}", "SELECT 1", "takes no cell"),
        (f"query {SLOW}", "SELECT 1; SELECT 2", "2 statements"),
        (f"query {SLOW}", "-- nothing", "0 statements"),
        (f"query {SLOW} --into", "SELECT 1", "needs a name"),
        (f"query {SLOW} --into 1x", "SELECT 1", "--into 1x"),
        (f"query {SLOW} --table slice", "SELECT 1 AS a", "a table slice already"),
        (f"query {SLOW} --table 'a b'", "SELECT 1 AS a", "plain name"),
        (f"query {SLOW} --format csv", "SELECT 1", "--format csv"),
        (f"query {SLOW} -o x.csv", "SELECT 1", "-o x.csv"),
        (f"query {SLOW} --frmat csv", "SELECT 1", "--frmat"),
        (f"query {SLOW}", "DROP TABLE slice", "Queries only read"),
        ("query", "SELECT 1", "no PATH"),
        (f"pipeline {SLOW} --verify", None, "does not verify"),
        (f"memory {SLOW} --half x", None, "--half"),
        (f"{SLOW} --format json --into x", None, "--into with --format"),
        (f"serve {SLOW} --port 8000", None, "--port 8000"),
        ("record -- python x.py", "pass", "program is the cell"),
        ("'", None, "close the quotes"),
    ],
)
def test_what_is_refused(
    shell: Any, line: str, cell: str | None, seen: str, capsys: pytest.CaptureFixture[str]
) -> None:
    notebook.load(shell)
    words = (line,) if cell is None else (line, cell)
    magic = shell.run_line_magic if cell is None else shell.run_cell_magic
    with pytest.raises(StepscopeError) as refused:
        magic("stepscope", *words)
    (shown,) = refused.value._render_traceback_()  # what IPython asks for
    if isinstance(refused.value, notebook.CellFailed):  # by a verb that prints its error itself
        shown = capsys.readouterr().err
    assert shown.startswith("error: ")
    assert seen in shown
    assert "to do:" in shown


def test_a_failing_cell_shows_its_own_error(
    shell: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    notebook.load(shell)
    with (
        pytest.warns(RuntimeWarning, match="nothing was recorded"),
        pytest.raises(notebook.CellFailed, match="the cell ended with exit code 1"),
    ):
        shell.run_cell_magic("stepscope", f"record -o {tmp_path / 'out'}", "1 / 0")
    captured = capsys.readouterr()
    assert "ZeroDivisionError" in captured.out + captured.err


def test_help(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    notebook.load(shell)
    shell.run_line_magic("stepscope", "query --help")
    assert capsys.readouterr().out.startswith("usage: stepscope query")
    shell.run_line_magic("stepscope", "")
    assert capsys.readouterr().out.startswith("usage: stepscope PATH")
