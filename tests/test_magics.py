"""The magics of IPython in this process: what they return, and that what fails stops the cells below it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from stepscope import notebook
from stepscope.errors import StepscopeError, UsageError
from tests.corpus import SAMPLES

pytest.importorskip("IPython", reason="the group test has IPython")
import IPython
from IPython.core.interactiveshell import InteractiveShell

SLOW = SAMPLES / "capture" / "slow_map"


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[InteractiveShell]:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("STEPSCOPE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    made = InteractiveShell()
    notebook.load(made)
    yield made
    made.history_manager.end_session()


def test_an_answer_is_an_object(shell: InteractiveShell) -> None:
    ran = shell.run_cell(f"%stepscope {SLOW}")
    assert ran.success
    assert ran.result.headline[0].startswith("Waiting for input takes 79.8 %")


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ("%stepscope nowhere.json", "There is no file or folder nowhere.json"),
        ("%stepscope sumary x", "Did you mean summary?"),
        ("%stepscope 'x", "The line cannot be read"),
        (f"%%stepscope query {SLOW}\nSELEC 1", 'at or near "SELEC"'),
        (f"%%stepscope summary {SLOW}\nx = 1", "summary takes no cell"),
    ],
)
def test_what_fails_raises_and_shows_no_traceback(
    shell: InteractiveShell, cell: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = shell.run_cell(cell)
    assert not ran.success
    assert isinstance(ran.error_in_exec, StepscopeError)
    shown = capsys.readouterr().out
    assert says in shown
    assert "to do:" in shown
    assert "Traceback" not in shown
    assert "notebook.py" not in shown


def test_a_verb_that_prints_raises_when_it_fails(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = shell.run_cell(f"%stepscope {SLOW} --format json --fail-on high")
    assert isinstance(ran.error_in_exec, notebook.CellFailed)
    assert ran.error_in_exec.code == 1
    shown = capsys.readouterr()
    assert shown.out.rstrip().endswith("--fail-on high ended with exit code 1")
    assert "over the limit of --fail-on" in shown.err


@pytest.mark.filterwarnings("ignore:nothing was recorded")
def test_a_recorded_cell_that_raises_stops_the_next_one(shell: InteractiveShell) -> None:
    ran = shell.run_cell("%%stepscope record -o out\nraise KeyError('x')")
    assert isinstance(ran.error_in_exec, notebook.CellFailed)
    ran = shell.run_cell("%%stepscope record -o r.html\npass")
    assert isinstance(ran.error_in_exec, UsageError)


def test_places_in_a_recorded_cell_are_those_of_the_notebook(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(IPython, "get_ipython", lambda: shell)
    shell.run_cell("pass", store_history=True)
    cell = (
        "%%stepscope record --into found -o out --warmup 0 --no-machine --no-memory --steps 12\n"
        "import time\n"
        "from stepscope import capture\n"
        "for i in capture.steps(range(16)):\n"
        "    time.sleep(0.02)\n"
    )
    ran = shell.run_cell(cell, store_history=True)
    assert ran.success, ran.error_in_exec
    (place,) = shell.user_ns["found"].query(
        "SELECT DISTINCT f.file, f.line FROM stack AS k JOIN frame AS f ON f.id = k.place_id "
        "JOIN stack_sample AS s ON s.stack_id = k.id WHERE f.function = '<module>' AND f.line = 5"
    )
    assert (place.file, place.line) == ("In [2]", 5), "the line of the magic counts"
